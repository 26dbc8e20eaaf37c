/** Moving units of a simulated table: picked up, carried, turned, put down, taken back. */
import * as api from "../shared/api.js";
import { playing } from "../game/state.js";
import { nameOf } from "../live/lifting.js";
import { HANDLE_PX, handlePlace } from "./board.js";
import { carry, dropGhost, letGo, lift, wheeled } from "./carrying.js";
import { thingAt, toleranceOf } from "./picking.js";
import { isPoint, movableOf, unitOf } from "./things.js";
import { toScreen, toTable } from "./view.js";

/** @typedef {import("./state.js").State} State */
/** @typedef {import("./state.js").Unit} Unit */
/** @typedef {import("../shared/gestures.js").Touch} Touch */
/** @typedef {import("../shared/gestures.js").Drag} Drag */
/** @typedef {ReturnType<typeof setTimeout> | undefined} Timer */
/** @typedef {{x_mm: number, y_mm: number, heading_deg: number, width_mm: number, depth_mm: number}} Lying */

const GRIP_PX = 16;
const SNAP_DEG = 15;
const FIND_WITHIN_MS = 6000;
const KEY_PAUSE_MS = 350;
const NOTICE_MS = 5000;
/** 15 px aside: what an elbow does to a camera's arm. */
const BUMP_PX = [12, -9];
/** The share of its light that a dimmed lamp has left. */
const DIM = 0.6;

/** What a player may do to the units of one page. */
export class Moves {
  /** @param {State} state @param {() => void} changed */
  constructor(state, changed) {
    this.state = state;
    this.changed = changed;
    /** @type {Timer} runs while keys turn a unit: several strokes are one move */
    this.keyPause = undefined;
    /** @type {Lying | undefined} where keys began to turn it */
    this.keyedFrom = undefined;
    this.bumps = 0;
  }

  /** What a drag from a point carries: a unit's handle, a unit, a commander, or nothing. @param {Touch} at @returns {Drag | null} */
  grab(at) {
    const state = this.state;
    if (!state.moving) return null;
    const handle = this.isOnHandle(at) ? handlePlace(state) : null;
    if (handle) return this.turning(handle.unit);
    const thing = thingAt(state, at.x, at.y, { ...at, bases: false });
    const unit = thing && !isPoint(thing) ? movableOf(state, thing) : undefined;
    return unit ? this.carrying(unit, at) : null;
  }

  /** Whether a hand is on the handle that turns a unit. @param {Touch} at */
  isOnHandle(at) {
    const handle = handlePlace(this.state);
    return handle !== null && isOnGrip(this.state, handle, at);
  }

  /** @param {Unit} unit @param {Touch} from @returns {Drag} */
  carrying(unit, from) {
    lift(this.state, unit);
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

  /** Turn the unit in hand from where it was picked up: in a game as rows of bases are, by a wheel. @param {Lying} from @param {number} heading_deg */
  face(from, heading_deg) {
    const wheels = playing(this.state) !== null && (this.state.ghost?.from.bases.length ?? 0) > 1;
    carry(this.state, wheels ? wheeled(from, heading_deg) : { heading_deg });
  }

  /** @param {(at: Touch) => void} follow @returns {Drag} */
  dragging(follow) {
    return {
      move: (at) => { follow(at); this.changed(); },
      end: () => void this.putDown(),
      cancel: () => this.cancel(),
    };
  }

  /** Turn the unit in hand, or the one that is chosen. @param {number} by_deg */
  turn(by_deg) {
    const state = this.state;
    const inHand = state.ghost !== null && !state.ghost.sent;
    if (!inHand && !this.liftChosen()) return;
    const heading_deg = (state.ghost?.heading_deg ?? 0) + by_deg;
    if (inHand && this.keyPause === undefined) carry(state, { heading_deg });
    else if (this.keyedFrom) this.face(this.keyedFrom, heading_deg);
    if (!inHand || this.keyPause !== undefined) {
      clearTimeout(this.keyPause);
      this.keyPause = setTimeout(() => { this.keyPause = undefined; void this.putDown(); }, KEY_PAUSE_MS);
    }
    this.changed();
  }

  /** Pick up the one chosen unit, from where it is being put if it is on its way. @returns {boolean} */
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

  /** Send the unit in hand to where it was let go, and wait for the camera to find it. */
  async putDown() {
    letGo(this.state);
    const ghost = this.state.ghost;
    if (!ghost) return;
    this.changed();
    try {
      await api.moveUnit(ghost);
      if (this.state.ghost === ghost) this.say(`${ghost.unit} moved`, true);
      setTimeout(() => this.giveUp(ghost), FIND_WITHIN_MS);
    } catch (error) {
      this.state.undo = this.state.undo.slice(0, -1);
      dropGhost(this.state);
      this.complain(error);
    }
  }

  /** @param {import("./state.js").Ghost} ghost */
  giveUp(ghost) {
    if (this.state.ghost !== ghost) return;
    dropGhost(this.state);
    this.say(`${ghost.unit} was put there, but the camera has not found it yet`, true);
  }

  /** Put the unit that was moved last back to where it was. */
  async undo() {
    const place = this.state.undo[this.state.undo.length - 1];
    if (!place) return;
    this.state.undo = this.state.undo.slice(0, -1);
    dropGhost(this.state);
    if ("lifted" in place) return this.putBack(place.lifted);
    try {
      await api.moveUnit(place);
      this.say(`${place.unit} put back`);
    } catch (error) {
      this.complain(error);
    }
  }

  /** Take a thing off the table. @param {import("../live/lifting.js").Lifted} lifted */
  async lift(lifted) {
    try {
      await api.liftOff(lifted);
      this.state.undo = [...this.state.undo, { lifted }];
      this.say(`${nameOf(lifted)} taken off the table`, true);
    } catch (error) {
      this.complain(error);
    }
  }

  /** Put a thing back that was taken off. @param {import("../live/lifting.js").Lifted} lifted */
  async putBack(lifted) {
    try {
      await api.putBack(lifted);
      this.state.undo = this.state.undo.filter((each) => !("lifted" in each) || nameOf(each.lifted) !== nameOf(lifted));
      this.say(`${nameOf(lifted)} put back`);
    } catch (error) {
      this.complain(error);
    }
  }

  /** Let the unit in hand stay where it was. */
  cancel() {
    clearTimeout(this.keyPause);
    this.keyPause = undefined;
    dropGhost(this.state);
    this.changed();
  }

  /** @param {"pause" | "resume" | "restart"} deed */
  async play(deed) {
    try {
      await api.play(deed);
      if (deed === "restart") this.state.undo = [];
      this.changed();
    } catch (error) {
      this.complain(error);
    }
  }

  /** Knock the camera by the hand-breadth of 15 px, the next time back again. */
  async bump() {
    this.bumps += 1;
    const way = this.bumps % 2 ? 1 : -1;
    await this.tried(() => api.bumpCamera(way * BUMP_PX[0], way * BUMP_PX[1]));
  }

  /** Dim the lamp, or let it shine again. */
  async dim() {
    const isDim = (this.state.now?.simulated?.light ?? 1) < 1;
    await this.tried(() => api.dimLamp(isDim ? 1 : DIM));
  }

  /** @param {() => Promise<void>} deed */
  async tried(deed) {
    try {
      await deed();
    } catch (error) {
      this.complain(error);
    }
  }

  /** @param {string} text @param {boolean} undo */
  say(text, undo = false) {
    const notice = { text, undo };
    this.state.notice = notice;
    setTimeout(() => {
      if (this.state.notice !== notice) return;
      this.state.notice = null;
      this.changed();
    }, NOTICE_MS);
    this.changed();
  }

  /** @param {unknown} error */
  complain(error) {
    this.say(error instanceof Error ? error.message : String(error));
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
