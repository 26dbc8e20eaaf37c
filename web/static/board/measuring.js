/** What may be measured now: nothing undeclared, if players agreed to declare first. */
import { sentence } from "../shared/text.js";
import { forgetAnswers } from "./choosing.js";
import { commanderOf, isPoint, unitOf } from "./things.js";

/** @typedef {import("./state.js").State} State */

/** A length as the game measures it. @type {(facts: import("./state.js").TableFacts, mm: number) => string} */
export function written({ about: { unit } }, mm) {
  return inUnit({ about: { unit } }, (mm / unit.size_mm).toFixed(unit.places));
}

/** A distance as the game measures it: between counters on hexes, their count. @type {(facts: import("./state.js").TableFacts, measured: import("./state.js").Measured) => string} */
export function distanceWords(facts, { distance_mm, hexes }) {
  return hexes === undefined ? written(facts, distance_mm) : inUnit(facts, hexes);
}

/** A number with the game's unit of length. @type {(facts: Pick<import("./state.js").TableFacts, "about"> | {about: {unit: {symbol: string, plural?: string}}}, number: number | string) => string} */
export function inUnit({ about: { unit } }, number) {
  return `${number} ${(Number(number) !== 1 && unit.plural) || unit.symbol}`;
}

/** The true sizes of units that tables are scaled by. @type {Record<string, number>} */
const RULE_MM = { in: 25.4, cm: 10 };

/** The length of the game's unit on a scaled-down table; empty at true size. @type {(facts: Pick<import("./state.js").TableFacts, "about">) => string} */
export function scaleWords({ about: { unit } }) {
  const rule_mm = RULE_MM[unit.symbol] ?? unit.size_mm;
  return Math.abs(unit.size_mm - rule_mm) < 0.05 ? "" : `1 ${unit.symbol} is ${unit.size_mm} mm here`;
}

/** Why measuring is closed, as a sentence; empty if it is open. @type {(state: State) => string} */
export function closedWords(state) {
  const { closed } = state;
  return closed ? `${sentence(closed.because)}.` : "";
}

/** Whether anything may be measured. @type {(state: State) => boolean} */
export function isAnyOpen(state) {
  return (state.closed?.declared.length ?? 1) > 0;
}

/** Whether questions about these things, and between them, are allowed; the server enforces it. @type {(state: State, ...things: string[]) => boolean} */
export function isOpen(state, ...things) {
  const { closed } = state;
  if (!closed) return true;
  const named = things.filter((thing) => !isPoint(thing));
  const isDeclared = (/** @type {string} */ thing) =>
    closed.declared.includes((unitOf(state, thing) ?? commanderOf(state, thing))?.id ?? "");
  return things.length > 1 && named.length > 0 && named.every(isDeclared);
}

/** Drops answers about things that nobody may measure any more. @type {(state: State) => void} */
export function dropClosedAnswers(state) {
  if (!state.closed) return;
  const emptied = (/** @type {import("./state.js").Tape} */ tape) =>
    isOpen(state, tape.a, tape.b) ? tape : { ...tape, measured: null, error: null };
  state.tape = state.tape && emptied(state.tape);
  state.keptTapes = state.keptTapes.map(emptied);
  [state.about, state.aboutError] = [null, null];
  if (!isOpen(state, ...state.chosen)) forgetAnswers(state);
}

/** A length and its standard deviation, to significant digits; empty if hexes count. @type {(measured: import("./state.js").Measured) => string} */
export function lengthWords({ distance_mm, sigma_mm, hexes }) {
  const isTold = hexes !== undefined || distance_mm < 0.05; // no distance is none in every unit
  return isTold ? "" : `${distance_mm.toFixed(1)}${deviation(sigma_mm)} mm`;
}

/** A margin in the game's unit, or in mm if that would be tiny. @type {(facts: import("./state.js").TableFacts, margin_mm: number, sigma_mm?: number) => string} */
export function amount(facts, margin_mm, sigma_mm = 0) {
  const mm = Math.abs(margin_mm);
  if (mm >= facts.about.unit.size_mm / 10) return written(facts, mm);
  return `${mm.toFixed(1)}${deviation(sigma_mm)} mm`;
}

/** Below a tenth of a millimetre no deviation matters to players. @type {(sigma_mm: number) => string} */
function deviation(sigma_mm) {
  return sigma_mm < 0.05 ? "" : ` ± ${sigma_mm.toFixed(1)}`;
}
