/** Keeps the answers of a branch up to date: asks again when its units have moved. */
import { settled } from "../shared/http.js";
import { createQuestion } from "../shared/question.js";
import { cornersOf } from "../board/shapes.js";
import { placeOf, split } from "../board/things.js";
import { chosenUnits, sheetKey, takeSheet } from "../rulings/state.js";
import { branchRequest } from "./branch.js";

/** @typedef {import("../game/state.js").State} State */
/** @typedef {import("./state.js").Replay} Replay */
/** @typedef {import("./source.js").Source} Source */
/** @typedef {import("./branch.js").Branch} Branch */
/** @typedef {import("../board/state.js").Point} Point */

/** Returns a function that repeats the questions whose answers may have changed. @type {(state: State, replay: Replay, source: Source, changed: () => void) => () => void} */
export function createBranchQueries(state, replay, source, changed) {
  const slots = {
    tape: createQuestion(() => refresh()),
    about: createQuestion(() => refresh()),
    sheet: createQuestion(() => refresh()),
  };
  const asked = (/** @type {Promise<void>} */ answer) => answer.then(changed);
  const refresh = () => {
    const { branch } = replay;
    if (!branch) return;
    if (source.offline) return measureHere(state, branch) ? changed() : undefined;
    const how = JSON.stringify(branchRequest(branch));
    const { tape, chosen } = state;
    if (tape) slots.tape(`${tape.a} ${tape.b} ${how}`, () => asked(askTape(state, branch, source)));
    if (chosen[0]) slots.about(`${chosen[0]} ${how}`, () => asked(askAbout(state, branch, source)));
    if (state.facts.rules && chosenUnits(state).length)
      slots.sheet(`${chosen} ${how}`, () => asked(askSheet(state, branch, source)));
  };
  return refresh;
}

/** @type {(state: State, branch: Branch, source: Source) => Promise<void>} */
async function askTape(state, branch, source) {
  const { tape } = state;
  if (!tape) return;
  const [measured, error] = await settled(source.ask("measure", { ...branchRequest(branch), a: tape.a, b: tape.b }));
  if (state.tape?.a === tape.a && state.tape.b === tape.b)
    state.tape = { ...state.tape, measured: measured ?? state.tape.measured, error };
}

/** @type {(state: State, branch: Branch, source: Source) => Promise<void>} */
async function askAbout(state, branch, source) {
  const [thing] = state.chosen;
  const [about] = await settled(source.ask("about", { ...branchRequest(branch), thing }));
  if (state.chosen[0] === thing) state.about = about ?? state.about;
}

/** @type {(state: State, branch: Branch, source: Source) => Promise<void>} */
async function askSheet(state, branch, source) {
  const units = chosenUnits(state);
  const [a, b = null] = units;
  const text = sheetKey(state);
  const { active } = state.rulings;
  takeSheet(state, units, text, await settled(source.ask("sheet", { ...branchRequest(branch), a, b, active })));
}

/** Asks for the odds. @type {(branch: Branch, source: Source, wanted: object) => Promise<void>} */
export async function askOdds(branch, source, wanted) {
  const [odds, error] = await settled(source.ask("odds", { ...branchRequest(branch), wanted }));
  // Drops the document and the key from an error: the page does not show them.
  [branch.odds, branch.error] = [odds, (error ?? "").replace(/^odds: (\w+: )?/, "")];
}

/** Measures without a server, and so without rules; true if the reading has changed. @type {(state: State, branch: Branch) => boolean} */
function measureHere(state, branch) {
  const measured = state.tape && distanceBetween(branch, state.tape.a, state.tape.b);
  if (!state.tape || !measured || isSame(state.tape.measured, measured)) return false;
  state.tape = { ...state.tape, measured: { ...measured, sigma_mm: 0, because: "" } };
  return true;
}

/** @type {(before: import("../board/state.js").Measured | null, now: Distance) => boolean} */
function isSame(before, now) {
  return before !== null && `${before.from_mm} ${before.to_mm}` === `${now.from_mm} ${now.to_mm}`;
}

/** @typedef {{distance_mm: number, from_mm: Point, to_mm: Point}} Distance */

/** The shortest distance between two things; null if one is not on the table. @type {(branch: Branch, a: string, b: string) => Distance | null} */
export function distanceBetween(branch, a, b) {
  const [as, bs] = [outlinesOf(branch, a), outlinesOf(branch, b)];
  const all = as.flatMap((one) => bs.map((other) => between(one, other)));
  return all.length ? all.reduce(nearer) : null;
}

/** @type {(one: Distance, other: Distance) => Distance} */
function nearer(one, other) {
  return other.distance_mm < one.distance_mm ? other : one;
}

/** The outlines of a thing's bases; a point is one corner. @type {(branch: Branch, thing: string) => Point[][]} */
function outlinesOf({ units, commanders }, thing) {
  const place = placeOf(thing);
  if (place) return [[place]];
  const [kind, name] = split(thing);
  if (kind === "commander") return commanders.filter(({ id }) => id === name).map(({ x_mm, y_mm }) => [[x_mm, y_mm]]);
  return units.filter(({ id }) => id === name).flatMap(({ bases }) => bases.map(cornersOf));
}

/** @type {(one: Point[], other: Point[]) => Distance} */
function between(one, other) {
  const inside = one.find((corner) => contains(other, corner)) ?? other.find((corner) => contains(one, corner));
  if (inside) return { distance_mm: 0, from_mm: inside, to_mm: inside };
  const there = one.flatMap((corner) => edgesOf(other).map((edge) => fromCorner(corner, edge)));
  const back = other.flatMap((corner) => edgesOf(one).map((edge) => reversed(fromCorner(corner, edge))));
  return [...there, ...back].reduce(nearer);
}

/** @type {(outline: Point[]) => [Point, Point][]} */
function edgesOf(outline) {
  return outline.map((corner, index) => [corner, outline[(index + 1) % outline.length]]);
}

/** @type {(from_mm: Point, edge: [Point, Point]) => Distance} */
function fromCorner(from_mm, [a, b]) {
  const [dx, dy] = [b[0] - a[0], b[1] - a[1]];
  const along = ((from_mm[0] - a[0]) * dx + (from_mm[1] - a[1]) * dy) / (dx * dx + dy * dy || 1);
  const share = Math.min(1, Math.max(0, along));
  const to_mm = /** @type {Point} */ ([a[0] + share * dx, a[1] + share * dy]);
  return { distance_mm: Math.hypot(from_mm[0] - to_mm[0], from_mm[1] - to_mm[1]), from_mm, to_mm };
}

/** @type {(distance: Distance) => Distance} */
function reversed({ distance_mm, from_mm, to_mm }) {
  return { distance_mm, from_mm: to_mm, to_mm: from_mm };
}

/** Whether a point lies in a base, that is, on the same side of all its edges. @type {(outline: Point[], point: Point) => boolean} */
function contains(outline, [x, y]) {
  if (outline.length < 3) return false;
  const sides = edgesOf(outline).map(([a, b]) => Math.sign((b[0] - a[0]) * (y - a[1]) - (b[1] - a[1]) * (x - a[0])));
  return sides.every((side) => side >= 0) || sides.every((side) => side <= 0);
}
