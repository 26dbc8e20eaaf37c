/** Controls the simulated table: its units, script, camera and lamp. */
import { byId, disable, makeButton, PHONE, setAttr, setText, updateChildren } from "../shared/dom.js";
import { onClick } from "../shared/events.js";
import { errorText } from "../shared/http.js";
import { dropGhost, letGo, Moves, placings } from "../board/moves.js";
import { commanderOf, placeTitle, split, unitOf } from "../board/things.js";
import { controlScript, lay } from "../game/api.js";
import { cardOf, outOfStep, playing, unconfirmed } from "../game/state.js";
import * as api from "./api.js";

/** @typedef {import("../game/state.js").State} State */
/** @typedef {import("../board/state.js").Lifted} Lifted */

const FIND_WITHIN_MS = 6000;
const NOTICE_MS = 5000;
/** A move that changes nothing in the game gets no answer. */
const JUDGE_WITHIN_MS = 15000;
/** A bump of 15 px, as by an elbow. */
const BUMP_PX = [12, -9];
/** The buttons that stand in for hands. */
const ON_TABLE = "[data-put-back], [data-lift], [data-lay], [data-lay-back]";
/** Where a tab keeps its moves. */
const UNDO = "tablecam undo";
/** The share of its full light that a dimmed lamp gives. */
const DIM = 0.6;

/** Moves of the units of a simulated table. */
export class SimulatedMoves extends Moves {
  /** @param {State} state @param {() => void} changed */
  constructor(state, changed) {
    super(state, changed);
    this.state = state;
    this.bumps = 0;
    /** The last request to the table. @type {Promise<unknown>} */
    this.latest = Promise.resolve();
    /** Things being taken off: a second press would request it again. @type {Set<string>} */
    this.lifting = new Set();
  }

  /** Sends a request after all earlier ones: an undo never overtakes what it undoes. @template Answer @param {() => Promise<Answer>} send */
  inTurn(send) {
    const answered = this.latest.then(send);
    this.latest = answered.catch(() => {});
    return answered;
  }

  /** Formations wheel while a game is played. */
  get wheels() {
    return playing(this.state) !== null;
  }

  /** Moves the unit in hand on the table, and waits for the camera to find it. */
  async putDown() {
    letGo(this.state);
    const ghost = this.state.ghost;
    if (!ghost) return;
    this.awaitJudgement(namesOf(placings(ghost)));
    this.changed();
    try {
      const slid = await this.inTurn(() => api.moveUnits(placings(ghost)));
      // It will be found in another place than the hand let go.
      if (slid.length) {
        dropGhost(this.state);
        this.say(`${slid.join(". ")}.`, true);
      } else if (this.state.ghost === ghost) this.say(`${namesOf(placings(ghost))} moved`, true);
      setTimeout(() => this.giveUp(ghost), FIND_WITHIN_MS);
    } catch (error) {
      this.state.undo = this.state.undo.slice(0, -1);
      this.state.game.judging = "";
      dropGhost(this.state);
      this.complain(error);
    }
  }

  /** Shows that the referee has yet to judge a move by hand. @param {string} names */
  awaitJudgement(names) {
    const { game } = this.state;
    if (!playing(this.state)) return;
    game.judging = names;
    setTimeout(() => {
      if (game.judging !== names) return;
      game.judging = "";
      this.changed();
    }, JUDGE_WITHIN_MS);
  }

  /** @param {import("../board/state.js").Ghost} ghost */
  giveUp(ghost) {
    if (this.state.ghost !== ghost) return;
    dropGhost(this.state);
    const words = ghost.mates.length
      ? "were put there, but the camera has not found them yet"
      : "was put there, but the camera has not found it yet";
    this.say(`${namesOf(placings(ghost))} ${words}`, true);
  }

  /** Undoes the last move. */
  async undo() {
    const place = this.state.undo[this.state.undo.length - 1];
    const waiting = unconfirmed(this.state);
    if (!place && waiting) return this.lay(waiting, true);
    if (!place) return;
    this.state.undo = this.state.undo.slice(0, -1);
    dropGhost(this.state);
    if ("lifted" in place) return this.putBack(place.lifted);
    try {
      await this.inTurn(() => api.moveUnits(place.placings));
      this.say(`${namesOf(place.placings)} put back`);
    } catch (error) {
      this.complain(error);
    }
  }

  /** Takes a thing off the table. @param {Lifted} lifted */
  async lift(lifted) {
    const off = this.state.now?.simulated?.off ?? [];
    const tags = lifted.tag === undefined ? tagsOf(this.state, lifted.unit) : [lifted.tag];
    if (this.lifting.has(keyOf(lifted)) || tags.every((tag) => off.includes(tag))) return;
    this.lifting.add(keyOf(lifted));
    const move = { lifted };
    this.state.undo = [...this.state.undo, move];
    try {
      await this.inTurn(() => api.liftOff(lifted));
      this.say(`${nameOf(this.state, lifted)} taken off the table`, true);
    } catch (error) {
      this.state.undo = this.state.undo.filter((other) => other !== move);
      this.complain(error);
    }
    this.lifting.delete(keyOf(lifted));
  }

  /** Puts a thing back that was taken off. @param {Lifted} lifted */
  async putBack(lifted) {
    try {
      await this.inTurn(() => api.putBack(lifted));
      this.state.undo = this.state.undo.filter((move) => !("lifted" in move) || keyOf(move.lifted) !== keyOf(lifted));
      this.say(`${nameOf(this.state, lifted)} put back`);
    } catch (error) {
      this.complain(error);
    }
  }

  /** Puts a unit, or for an empty id everything, where the game has it. A legal move stays, unless `back`. @param {string} unit @param {boolean} back */
  async lay(unit, back = false) {
    const { game } = this.state;
    const card = cardOf(game.view, unit);
    dropGhost(this.state);
    // An undo would restore its place with other bases, or a place where it may not lie.
    this.state.undo = this.state.undo.filter(
      (move) => unit && "placings" in move && move.placings.every((placing) => placing.unit !== unit),
    );
    if (card) game.laid = [...game.laid, card];
    this.changed();
    try {
      await this.inTurn(() => lay(unit, back));
    } catch (error) {
      game.laid = game.laid.filter((other) => other !== card);
      this.complain(error);
    }
  }

  /** Puts the units that are out of step where the game has them; legal moves stay. */
  async layOutOfStep() {
    const view = playing(this.state);
    const units = outOfStep(view).map(({ unit }) => unit);
    for (const unit of units.length === view?.moved.length ? [""] : units) await this.lay(unit);
  }

  /** @param {"stand-still" | "resume" | "restart"} command */
  async play(command) {
    try {
      await controlScript(command);
      if (command === "restart") this.state.undo = [];
      this.changed();
    } catch (error) {
      this.complain(error);
    }
  }

  /** Bumps the camera, and back again the next time. */
  async bump() {
    this.bumps += 1;
    const way = this.bumps % 2 ? 1 : -1;
    await this.tried(() => api.bumpCamera(way * BUMP_PX[0], way * BUMP_PX[1]));
  }

  /** Dims the lamp, or turns it up again. */
  async dim() {
    const isDim = (this.state.now?.simulated?.light ?? 1) < 1;
    await this.tried(() => api.dimLamp(isDim ? 1 : DIM));
  }

  /** @param {() => Promise<void>} act */
  async tried(act) {
    try {
      await act();
    } catch (error) {
      this.complain(error);
    }
  }

  /** @param {string} text @param {boolean} undo @param {number} for_ms @param {string[]} found */
  say(text, undo = false, for_ms = NOTICE_MS, found = []) {
    const notice = { text, undo, found };
    this.state.notice = notice;
    setTimeout(() => {
      if (this.state.notice !== notice) return;
      this.state.notice = null;
      this.changed();
    }, for_ms);
    this.changed();
  }

  /** @param {unknown} error */
  complain(error) {
    this.say(errorText(error));
  }
}

/** @type {(moved: {unit: string}[]) => string} */
function namesOf(moved) {
  return moved.map(({ unit }) => unit).join(", ");
}

/** Lets players put units into a group, which is dragged as one. @type {(state: State, rectangles: import("./rectangle.js").RectangleHand, moves: SimulatedMoves) => () => void} */
export function listenToGrouping(state, rectangles, moves) {
  const group = () => {
    if (!state.facts.simulated) return;
    state.group = [];
    const isDue = rectangles.ask("group", (outline_mm) => {
      state.group = unitsWithin(state, outline_mm);
      moves.say(
        state.group.length
          ? `${state.group.join(", ")}: drag one, and all move. Esc parts them.`
          : "No unit lies in that rectangle.",
      );
    });
    if (isDue) moves.say("Drag a rectangle around the units to move together. Esc cancels.");
  };
  if (state.facts.simulated) onClick("group", group);
  return group;
}

/** The units whose middle lies in a rectangle. @type {(state: State, outline_mm: import("../board/state.js").Point[]) => string[]} */
function unitsWithin(state, outline_mm) {
  const [xs, ys] = [0, 1].map((axis) => outline_mm.map((corner) => corner[axis]));
  const isWithin = (/** @type {number} */ place_mm, /** @type {number[]} */ places_mm) =>
    place_mm >= Math.min(...places_mm) && place_mm <= Math.max(...places_mm);
  const units = state.now?.units ?? [];
  return units.filter(({ x_mm, y_mm }) => isWithin(x_mm, xs) && isWithin(y_mm, ys)).map(({ id }) => id);
}

/** The run of the table to which the moves that can be undone belong; empty before the first state. */
let undoRun = "";

/** Keeps undoable moves while the page looks back, and forgets them when any page restarts the table. @type {(state: State) => void} */
export function keepUndo(state) {
  const run = state.now?.simulated?.run;
  if (!run) return;
  if (undoRun !== run) {
    const { of = "", moves = [] } = JSON.parse(sessionStorage.getItem(UNDO) ?? "{}");
    state.undo = !undoRun && of === run ? moves : [];
    undoRun = run;
  }
  const written = JSON.stringify({ of: run, moves: state.undo });
  if (sessionStorage.getItem(UNDO) !== written) sessionStorage.setItem(UNDO, written);
}

/** Updates the buttons that take things off and put them back. @type {(state: State) => void} */
export function renderLifting(state) {
  if (!state.facts.simulated) return;
  const thing = liftable(state);
  const how = thing && `Take ${nameOf(state, thing)} off the table as if by hand: the camera no longer sees it`;
  setAttr(byId("lift"), "title", how ?? "Choose a unit first");
  disable(byId("lift"), thing === null);
  const off = liftedOf(state);
  updateChildren(byId("lifted"), off, keyOf, makeButton, (button, lifted) => {
    setAttr(button, "data-put-back", lifted.unit);
    setAttr(button, "data-tag", lifted.tag === undefined ? null : String(lifted.tag));
    const name = nameOf(state, lifted);
    setAttr(button, "aria-label", `Put ${name} back`);
    // The row has room for the words of one of them, or of a move to put back.
    const isOne = off.length === 1 && !("placings" in (state.undo.at(-1) ?? {}));
    setText(button, isOne ? `Put ${name} back` : `↩ ${name}`);
  });
}

/** The chosen thing, if it can be taken off. @type {(state: State) => Lifted | null} */
export function liftable(state) {
  const [thing, second] = state.chosen;
  if (!thing || second) return null;
  const [kind, name] = split(thing);
  const isOff = (/** @type {number} */ tag) => state.now?.simulated?.off.includes(tag);
  if (kind === "base") {
    const unit = unitOf(state, thing);
    return unit && !isOff(Number(name)) ? { unit: unit.id, tag: Number(name) } : null;
  }
  const tags = tagsOf(state, name);
  const isThere = kind === "unit" || commanderOf(state, thing) !== undefined;
  return isThere && tags.some((tag) => !isOff(tag)) ? { unit: name } : null;
}

/** The things taken off: whole units, and single bases of others that the game has not lost. @type {(state: State) => Lifted[]} */
function liftedOf(state) {
  const off = new Set(state.now?.simulated?.off ?? []);
  const all = [...state.facts.units, ...state.facts.commanders].map(({ id }) => id);
  const { units = [], health } = state.now ?? {};
  const hidden = units.flatMap(({ bases }) => bases.map(({ name }) => Number(name)));
  const known = new Set([...hidden, ...(health?.missing ?? []).map(({ tag }) => tag)]);
  return all.flatMap((unit) => {
    const tags = tagsOf(state, unit);
    if (tags.length && tags.every((tag) => off.has(tag))) return [{ unit }];
    return tags.filter((tag) => off.has(tag) && known.has(tag)).map((tag) => ({ unit, tag }));
  });
}

/** @type {(state: State, id: string) => number[]} */
function tagsOf({ facts }, id) {
  const leader = facts.commanders.find((commander) => commander.id === id);
  return leader ? [leader.tag] : (facts.units.find((unit) => unit.id === id)?.tags ?? []);
}

/** @type {(lifted: Lifted) => string} */
function keyOf({ unit, tag }) {
  return tag === undefined ? unit : `${unit} ${tag}`;
}

/** A thing in words; a base by its place in the table file, as it may not be on the table. @type {(state: State, lifted: Lifted) => string} */
export function nameOf(state, { unit, tag }) {
  if (tag === undefined) return unit;
  const tags = tagsOf(state, unit);
  return placeTitle(unit, tags.indexOf(tag), tags.length);
}

/** Listens to the buttons. @type {(state: State, moves: SimulatedMoves) => void} */
export function listenToLifting(state, moves) {
  if (!state.facts.simulated) return;
  const phone = matchMedia(PHONE);
  // A phone's table needs the height that the bar below it would take.
  const placeBar = () => (phone.matches ? byId("panel") : document.body).append(byId("simulated"));
  phone.addEventListener("change", placeBar);
  placeBar();
  byId("lift").addEventListener("click", () => {
    const thing = liftable(state);
    if (thing) void moves.lift(thing);
  });
  document.getElementById("astray-lay")?.addEventListener("click", () => void moves.layOutOfStep());
  for (const id of ["lifted", "in-place", "game-due", "game-moved", "game-astray"]) {
    // A table without a rulebook has no game.
    document.getElementById(id)?.addEventListener("click", (event) => {
      const button = event.target instanceof Element ? event.target.closest(ON_TABLE) : null;
      const unit = button?.getAttribute("data-lift");
      const back = button?.getAttribute("data-put-back");
      const lain = button?.getAttribute("data-lay");
      const returned = button?.getAttribute("data-lay-back");
      if (lain !== undefined && lain !== null) void moves.lay(lain);
      if (returned) void moves.lay(returned, true);
      const tag = button?.getAttribute("data-tag");
      if (unit) void moves.lift({ unit });
      if (back) void moves.putBack(tag ? { unit: back, tag: Number(tag) } : { unit: back });
    });
  }
}
