/** Moves units on the page: picks them up, carries, turns and drops them. */
import { layTape } from "./choosing.js";
import { stacksOf } from "./hexes.js";
import { thingAt, toleranceOf } from "./picking.js";
import { isPoint, markerOf, movableOf, unitOf } from "./things.js";
import { toScreen, toTable } from "./view.js";

/** @typedef {import("./state.js").State} State */
/** @typedef {import("./state.js").TableState} TableState */
/** @typedef {import("./state.js").Unit} Unit */
/** @typedef {import("./state.js").Ghost} Ghost */
/** @typedef {import("../shared/gestures.js").Touch} Touch */
/** @typedef {import("../shared/gestures.js").Drag} Drag */

/** @typedef {{x_mm: number, y_mm: number, heading_deg: number, width_mm: number, depth_mm: number}} Lying */

/** Distance on the screen from a unit's middle to its turning handle. */
export const HANDLE_PX = 64;
/** How far a key or a notch of the wheel turns a unit; Shift makes it fine. */
export const TURN_DEG = { coarse: 5, fine: 1 };
const GRIP_PX = 16;
/** How far beside a unit a drag still grabs it: a finger's width on the smallest table. @type {Record<string, number>} */
const GRAB_PX = { mouse: 14, pen: 18, touch: 22 };
const SNAP_DEG = 15;
const KEY_PAUSE_MS = 350;

/** The unit that has a turning handle: the one in hand, or the only chosen one. @type {(state: State) => {unit: string, x_mm: number, y_mm: number, heading_deg: number} | null} */
export function handlePlace(state) {
  if (!state.moving) return null;
  if (state.ghost) return state.ghost.sent ? null : state.ghost;
  // In some games a counter's facing means nothing.
  if (!state.isByHand || !state.facts.about.faces) return null;
  const unit = state.chosen.length === 1 ? unitOf(state, state.chosen[0]) : undefined;
  return unit ? { unit: unit.id, x_mm: unit.x_mm, y_mm: unit.y_mm, heading_deg: unit.heading_deg } : null;
}

/** Picks a unit up, with others that move along. @type {(state: State, unit: Unit, mates?: Unit[]) => void} */
export function lift(state, unit, mates = []) {
  const { id, x_mm, y_mm, heading_deg } = unit;
  state.ghost = { unit: id, x_mm, y_mm, heading_deg, from: unit, mates, sent: false };
  state.hover = null;
  state.notice = null;
  layTape(state);
}

/** Moves the unit in hand to another place or heading. @type {(state: State, place: {x_mm?: number, y_mm?: number, heading_deg?: number}) => void} */
export function carry(state, place) {
  if (!state.ghost) return;
  state.ghost = { ...state.ghost, ...place };
  state.ghost.heading_deg = (state.ghost.heading_deg + 360) % 360;
  layTape(state);
}

/** The place of a unit after it wheels to a heading about the front corner on the inside of the turn. @type {(unit: {x_mm: number, y_mm: number, heading_deg: number, width_mm: number, depth_mm: number}, to_deg: number) => {x_mm: number, y_mm: number, heading_deg: number}} */
export function wheeled({ x_mm, y_mm, heading_deg, width_mm, depth_mm }, to_deg) {
  const turned_deg = ((((to_deg - heading_deg + 180) % 360) + 360) % 360) - 180;
  const [rad, turned_rad] = [heading_deg, turned_deg].map((deg) => (deg * Math.PI) / 180);
  const [ahead, left] = [depth_mm / 2, (Math.sign(turned_deg) * width_mm) / 2];
  const [to_x, to_y] = [ahead * Math.cos(rad) - left * Math.sin(rad), ahead * Math.sin(rad) + left * Math.cos(rad)];
  const [cos, sin] = [Math.cos(turned_rad), Math.sin(turned_rad)];
  return {
    x_mm: x_mm + to_x - cos * to_x + sin * to_y,
    y_mm: y_mm + to_y - sin * to_x - cos * to_y,
    heading_deg: to_deg,
  };
}

/** Drops the unit in hand, and remembers where it was, for undo. @type {(state: State) => void} */
export function letGo(state) {
  if (!state.ghost) return;
  const { from, mates } = state.ghost;
  const placings = [from, ...mates].map(({ id, x_mm, y_mm, heading_deg }) => ({ unit: id, x_mm, y_mm, heading_deg }));
  state.undo = [...state.undo, { placings }];
  state.ghost = { ...state.ghost, sent: true };
  state.foreseen = null;
  layTape(state);
}

/** The place to which a hand has carried something along with its unit. @type {(ghost: Ghost, lying: {x_mm: number, y_mm: number, heading_deg: number}) => {x_mm: number, y_mm: number, heading_deg: number}} */
function carried({ from, x_mm, y_mm, heading_deg }, lying) {
  const turned_deg = heading_deg - from.heading_deg;
  const [cos, sin] = [Math.cos, Math.sin].map((of) => of((turned_deg * Math.PI) / 180));
  const [dx_mm, dy_mm] = [lying.x_mm - from.x_mm, lying.y_mm - from.y_mm];
  return {
    x_mm: x_mm + cos * dx_mm - sin * dy_mm,
    y_mm: y_mm + sin * dx_mm + cos * dy_mm,
    heading_deg: lying.heading_deg + turned_deg,
  };
}

/** The poses of the bases of the unit in hand, in mm and degrees. @type {(ghost: Ghost) => number[][]} */
export function posesInHand(ghost) {
  return ghost.from.bases.map((base) => {
    const { x_mm, y_mm, heading_deg } = carried(ghost, base);
    return [x_mm, y_mm, heading_deg];
  });
}

/** The place of the unit in hand, to the millimetre: a ruling holds only there. @type {(ghost: Ghost) => string} */
export function keyInHand(ghost) {
  const poses = posesInHand(ghost).map((pose) => pose.map(Math.round).join());
  return `${ghost.unit} ${poses.join(";")}`;
}

/** The ruling on putting the unit in hand down where it is; null until there is one. @type {(state: State) => State["foreseen"]} */
export function foreseenHere({ ghost, foreseen }) {
  return ghost && !ghost.sent && foreseen?.of === keyInHand(ghost) ? foreseen : null;
}

/** The places of the unit in hand and of those that move along. @type {(ghost: Ghost) => import("./state.js").Placing[]} */
export function placings(ghost) {
  return [ghost.from, ...ghost.mates].map((unit) => ({ unit: unit.id, ...carried(ghost, unit) }));
}

/** Forgets the unit in hand. @type {(state: State) => void} */
export function dropGhost(state) {
  state.ghost = state.foreseen = null;
  layTape(state);
}

/** Whether the camera sees everything that was carried at its new place; only the ghost depends on it. @type {(now: TableState, ghost: Ghost) => boolean} */
export function isAtNewPlace(now, ghost) {
  return placings(ghost).every((place) => {
    const leader = now.commanders.find(({ id }) => id === place.unit);
    const unit = leader ? markerOf(leader) : now.units.find(({ id }) => id === place.unit);
    if (!unit || unit.bases.some((base) => base.seen === "held")) return false;
    const turned_deg = Math.abs(((unit.heading_deg - place.heading_deg + 540) % 360) - 180);
    return Math.hypot(unit.x_mm - place.x_mm, unit.y_mm - place.y_mm) < 5 && turned_deg < 5;
  });
}

/** Moves the units of one page by pointer and keys; subclasses implement putting down. */
export class Moves {
  /** @param {State} state @param {() => void} changed */
  constructor(state, changed) {
    this.state = state;
    this.changed = changed;
    /** @type {ReturnType<typeof setTimeout> | undefined} runs while keys turn a unit: several strokes are one move */
    this.keyPause = undefined;
    /** @type {Lying | undefined} where keys began to turn it */
    this.keyedFrom = undefined;
  }

  /** Whether rows of bases turn about a front corner, as formations wheel. @returns {boolean} */
  get wheels() {
    return true;
  }

  /** Puts the unit in hand down. @returns {Promise<void>} */
  async putDown() {
    throw new Error("a page says itself what comes of a move");
  }

  /** Starts a drag at a point: of a unit's handle, a unit, a commander, or nothing. @param {Touch} at @returns {Drag | null} */
  grab(at) {
    const state = this.state;
    if (!state.moving) return null;
    const handle = this.isOnHandle(at) ? handlePlace(state) : null;
    const on = this.movableAt(at, 0, "mouse");
    if (handle && (!on || on.id === handle.unit)) return this.turning(handle.unit);
    const unit = on ?? this.movableAt(at, GRAB_PX[at.pointer] ?? GRAB_PX.mouse);
    return unit ? this.carrying(unit, at) : null;
  }

  /** The unit or commander to carry at a point, or within reach of it. @param {Touch} at @param {number} reach_px */
  movableAt(at, reach_px, pointer = at.pointer) {
    const thing = thingAt(this.state, at.x, at.y, { pointer, bases: false, reach_px });
    if (!thing || isPoint(thing)) return undefined;
    // Carries the chosen counter of a stack, whatever lies on it.
    const [chosen] = this.state.chosen;
    const isOfStack = stacksOf(this.state, thing).some(({ things }) => things.includes(chosen));
    return movableOf(this.state, isOfStack ? chosen : thing);
  }

  /** Whether a point lies on the turning handle. @param {Touch} at */
  isOnHandle(at) {
    const handle = handlePlace(this.state);
    return handle !== null && isOnGrip(this.state, handle, at);
  }

  /** @param {Unit} unit @param {Touch} from @returns {Drag} */
  carrying(unit, from) {
    const { group, now } = this.state;
    const mates = group.includes(unit.id)
      ? (now?.units ?? []).filter(({ id }) => id !== unit.id && group.includes(id))
      : [];
    lift(this.state, unit, mates);
    const [x_mm, y_mm] = this.placeOf(from);
    return this.dragging((at) => {
      const [to_x_mm, to_y_mm] = this.placeOf(at);
      carry(this.state, { x_mm: unit.x_mm + to_x_mm - x_mm, y_mm: unit.y_mm + to_y_mm - y_mm });
    });
  }

  /** @param {string} id @returns {Drag | null} */
  turning(id) {
    const unit = unitOf(this.state, `unit:${id}`);
    if (!unit) return null;
    lift(this.state, unit);
    return this.dragging((at) => {
      const [x_mm, y_mm] = this.placeOf(at);
      const heading_deg = (Math.atan2(y_mm - unit.y_mm, x_mm - unit.x_mm) * 180) / Math.PI;
      this.face(unit, at.shift ? Math.round(heading_deg / SNAP_DEG) * SNAP_DEG : heading_deg);
    });
  }

  /** Turns the unit in hand from where it was picked up; formations wheel. @param {Lying} from @param {number} heading_deg */
  face(from, heading_deg) {
    const wheels = this.wheels && (this.state.ghost?.from.bases.length ?? 0) > 1;
    carry(this.state, wheels ? wheeled(from, heading_deg) : { heading_deg });
  }

  /** @param {(at: Touch) => void} follow @returns {Drag} */
  dragging(follow) {
    return {
      move: (at) => {
        follow(at);
        this.changed();
      },
      end: () => void this.putDown(),
      cancel: () => this.cancel(),
    };
  }

  /** Turns the unit in hand, or the chosen one. @param {number} by_deg */
  turn(by_deg) {
    const state = this.state;
    const inHand = state.ghost !== null && !state.ghost.sent;
    if (!inHand && !this.liftChosen()) return;
    const heading_deg = (state.ghost?.heading_deg ?? 0) + by_deg;
    if (inHand && this.keyPause === undefined) carry(state, { heading_deg });
    else if (this.keyedFrom) this.face(this.keyedFrom, heading_deg);
    if (!inHand || this.keyPause !== undefined) {
      clearTimeout(this.keyPause);
      this.keyPause = setTimeout(() => {
        this.keyPause = undefined;
        void this.putDown();
      }, KEY_PAUSE_MS);
    }
    this.changed();
  }

  /** Picks up the only chosen unit, from its new place if it is being moved there. @returns {boolean} */
  liftChosen() {
    const { ghost, chosen, moving } = this.state;
    const unit = moving && chosen.length === 1 ? unitOf(this.state, chosen[0]) : undefined;
    if (!unit) return false;
    lift(this.state, unit);
    const place = ghost?.unit === unit.id ? { x_mm: ghost.x_mm, y_mm: ghost.y_mm, heading_deg: ghost.heading_deg } : {};
    carry(this.state, place);
    this.keyedFrom = { ...unit, ...place };
    return true;
  }

  /** Cancels the move of the unit in hand. */
  cancel() {
    clearTimeout(this.keyPause);
    this.keyPause = undefined;
    dropGhost(this.state);
    this.changed();
  }

  /** @param {Touch} at @returns {[number, number]} */
  placeOf(at) {
    return toTable(this.state.view, this.state.facts, at.x, at.y);
  }
}

/** @type {(state: State, handle: {x_mm: number, y_mm: number, heading_deg: number}, at: Touch) => boolean} */
function isOnGrip(state, { x_mm, y_mm, heading_deg }, at) {
  const reach_mm = HANDLE_PX / state.view.px_per_mm;
  const heading_rad = (heading_deg * Math.PI) / 180;
  const tip_mm = [x_mm + reach_mm * Math.cos(heading_rad), y_mm + reach_mm * Math.sin(heading_rad)];
  const [x_px, y_px] = toScreen(state.view, state.facts, tip_mm[0], tip_mm[1]);
  return Math.hypot(at.x - x_px, at.y - y_px) <= GRIP_PX + toleranceOf(at.pointer) / 2;
}
