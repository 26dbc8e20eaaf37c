/** Keeps what is told of a branch true: asked again when its units are laid elsewhere. */
import { createQuestion, told } from "../live/queries.js";
import { sheetText, unitsAsked } from "../rulings/asked.js";
import { asAsked } from "./branch.js";
import { distanceBetween } from "./distance.js";

/** @typedef {import("../board/state.js").State} State */
/** @typedef {import("./state.js").Replay} Replay */
/** @typedef {import("./source.js").Source} Source */
/** @typedef {import("./branch.js").Branch} Branch */

/** Answers for a branch; the function that sees to them. @type {(state: State, replay: Replay, source: Source, changed: () => void) => () => void} */
export function createBranchAsking(state, replay, source, changed) {
  const slots = { tape: createQuestion(() => refresh()), about: createQuestion(() => refresh()), sheet: createQuestion(() => refresh()) };
  const asked = (/** @type {Promise<void>} */ answer) => answer.then(changed);
  const refresh = () => {
    const { branch } = replay;
    if (!branch) return;
    if (source.offline) return measureHere(state, branch) ? changed() : undefined;
    const how = JSON.stringify(asAsked(branch));
    const { tape, chosen } = state;
    if (tape) slots.tape(`${tape.a} ${tape.b} ${how}`, () => asked(askTape(state, branch, source)));
    if (chosen[0]) slots.about(`${chosen[0]} ${how}`, () => asked(askAbout(state, branch, source)));
    if (state.facts.rules && unitsAsked(state).length) slots.sheet(`${chosen} ${how}`, () => asked(askSheet(state, branch, source)));
  };
  return refresh;
}

/** @type {(state: State, branch: Branch, source: Source) => Promise<void>} */
async function askTape(state, branch, source) {
  const { tape } = state;
  if (!tape) return;
  const [measured, error] = await told(source.ask("measure", { ...asAsked(branch), a: tape.a, b: tape.b }));
  if (state.tape?.a === tape.a && state.tape.b === tape.b) state.tape = { ...state.tape, measured: measured ?? state.tape.measured, error };
}

/** @type {(state: State, branch: Branch, source: Source) => Promise<void>} */
async function askAbout(state, branch, source) {
  const [thing] = state.chosen;
  const [about] = await told(source.ask("about", { ...asAsked(branch), thing }));
  if (state.chosen[0] === thing) state.about = about ?? state.about;
}

/** @type {(state: State, branch: Branch, source: Source) => Promise<void>} */
async function askSheet(state, branch, source) {
  const { rulings } = state;
  const [a, b] = unitsAsked(state);
  const text = sheetText(state);
  const [sheet, error] = await told(source.ask("sheet", { ...asAsked(branch), a, b: b ?? null, active: rulings.active }));
  if (unitsAsked(state).join() !== [a, b].filter((id) => id !== undefined).join()) return;
  rulings.error = error;
  if (sheet) [rulings.sheet, rulings.sheetOf] = [sheet, text];
}

/** Have the odds told. @type {(branch: Branch, source: Source, wanted: object) => Promise<void>} */
export async function askOdds(branch, source, wanted) {
  const [odds, error] = await told(source.ask("odds", { ...asAsked(branch), wanted }));
  [branch.odds, branch.error] = [odds, error ?? ""];
}

/** Without a server a page measures by itself, and says nothing of rules; whether it reads anew. @type {(state: State, branch: Branch) => boolean} */
function measureHere(state, branch) {
  const measured = state.tape && distanceBetween(branch, state.tape.a, state.tape.b);
  if (!state.tape || !measured || isSame(state.tape.measured, measured)) return false;
  const distance_bw = measured.distance_mm / state.facts.base_width_mm;
  state.tape = { ...state.tape, measured: { ...measured, distance_bw, sigma_mm: 0, because: "" } };
  return true;
}

/** @type {(before: import("../board/state.js").Measured | null, now: import("./distance.js").Distance) => boolean} */
function isSame(before, now) {
  return before !== null && `${before.from_mm} ${before.to_mm}` === `${now.from_mm} ${now.to_mm}`;
}
