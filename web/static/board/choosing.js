/** Chooses things on the table, and lays the tape between two of them. */
import { stacksOf } from "./hexes.js";
import { commanderOf, isPoint, pointThing, unitOf } from "./things.js";

/** @typedef {import("./state.js").State} State */
/** @typedef {import("./state.js").Tape} Tape */

/** Chooses a thing: the first, the second, or the first of a new pair. @type {(state: State, thing: string) => void} */
export function choose(state, thing) {
  if (state.chosen.includes(thing)) {
    state.chosen = state.chosen.filter((other) => other !== thing);
  } else if (state.chosen.length === 1 && !isOfOne(state, state.chosen[0], thing)) {
    state.chosen = [state.chosen[0], thing];
  } else {
    state.chosen = [thing];
  }
  chosenChanged(state);
}

/** Whether one thing is a base of the other: there is nothing to measure. @type {(state: State, first: string, second: string) => boolean} */
function isOfOne(state, first, second) {
  const unit = unitOf(state, first);
  return [first, second].includes(`unit:${unit?.id}`) && unitOf(state, second) === unit;
}

/** Chooses one thing alone. @type {(state: State, thing: string) => void} */
export function chooseAlone(state, thing) {
  state.chosen = [thing];
  chosenChanged(state);
}

/** Chooses nothing. @type {(state: State) => void} */
export function clear(state) {
  state.chosen = [];
  state.hover = null;
  chosenChanged(state);
}

/** Drops chosen things that have left the table. @type {(state: State) => void} */
export function dropGone(state) {
  const isThere = (/** @type {string} */ thing) =>
    isPoint(thing) || Boolean(unitOf(state, thing) ?? commanderOf(state, thing) ?? stacksOf(state, thing)[0]);
  if (state.chosen.every(isThere)) return;
  state.chosen = state.chosen.filter(isThere);
  chosenChanged(state);
}

/** Keeps the tape between the two chosen things, so that another pair can be chosen. @type {(state: State) => void} */
export function keep(state) {
  const tape = state.tape;
  if (!tape || state.chosen.length < 2) return;
  // Others see it when the server has told all pages of it.
  state.keptTapes = [...state.keptTapes, { ...tape, kept: true }];
  state.chosen = [];
  chosenChanged(state);
}

/** Updates the tapes that seats have kept. @type {(state: State, tapes: import("./state.js").TableState["tapes"]) => void} */
export function shareTapes(state, tapes) {
  const isOf = (/** @type {{a: string, b: string}} */ { a, b }, /** @type {Tape} */ tape) =>
    tape.a === a && tape.b === b;
  const local = state.keptTapes.filter((tape) => tape.by === undefined && !tapes.some((shared) => isOf(shared, tape)));
  const shared = tapes.map(({ a, b, by }) => {
    const { measured = null, error = null } = state.keptTapes.find((tape) => isOf({ a, b }, tape)) ?? {};
    return { a, b, by, kept: true, measured, error };
  });
  state.keptTapes = [...shared, ...local];
}

/** @type {(state: State) => void} */
function chosenChanged(state) {
  forgetAnswers(state);
  layTape(state);
}

/** Drops the answers about the chosen things. @type {(state: State) => void} */
export function forgetAnswers(state) {
  [state.about, state.aboutError] = [null, null];
  for (const forget of state.forgetting) forget();
}

/** The ends of the tape: from a carried unit, or the two chosen things. @type {(state: State) => {a: string, b: string} | null} */
export function tapeEnds(state) {
  const ghost = state.ghost;
  if (ghost && !ghost.sent) {
    return { a: pointThing(ghost.from.x_mm, ghost.from.y_mm), b: pointThing(ghost.x_mm, ghost.y_mm) };
  }
  const [a, b = state.hover] = state.chosen;
  return a && b && a !== b ? { a, b } : null;
}

/** Lays the tape between its ends; a reading between other ends is dropped. @type {(state: State) => void} */
export function layTape(state) {
  const ends = tapeEnds(state);
  const old = state.tape;
  if (!ends) {
    state.tape = null;
  } else if (!old || old.a !== ends.a || old.b !== ends.b) {
    // While only an end moves, the last reading stays until the next one arrives.
    const same = old !== null && old.a === ends.a && isPoint(old.b) && isPoint(ends.b);
    state.tape = { ...ends, kept: false, measured: same ? old.measured : null, error: null };
  }
}
