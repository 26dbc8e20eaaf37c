/** Fills the board's state with a moment of a recording: the board draws it as it draws any table. */
import { linesAt } from "./moment.js";
import { slid } from "./state.js";
import { trailShapes } from "./trails.js";

/** @typedef {import("../board/state.js").State} State */
/** @typedef {import("../board/state.js").Unit} Unit */
/** @typedef {import("./state.js").Replay} Replay */

/** Show on the board what is shown of the recording. @type {(state: State, replay: Replay) => void} */
export function showMoment(state, replay) {
  const { film, at, branch } = replay;
  const share = slid(replay);
  const table = branch ?? film.tableAt(at);
  const units = share === null || branch ? table.units : sliding(film.tableAt(replay.slide?.from ?? at).units, table.units, share);
  const now = { version: film.entries[at]?.n ?? 0, frame: -1, units, commanders: table.commanders, disputes: 0, game: 0, notices: [], simulated: null };
  state.now = /** @type {any} */ (now);
  showGame(state, replay);
  if (!branch) state.about = { title: "", lines: [], shapes: trailShapes(state, replay) };
}

/** What the game knows of the units, and the drawing of what is looked at. @type {(state: State, replay: Replay) => void} */
function showGame(state, replay) {
  const { film, at, branch } = replay;
  const { markers = {}, round = {}, sides = [] } = film.standings[at] ?? {};
  const evidence = branch ? [] : linesAt(replay).flatMap((line) => line.evidence);
  const told = { version: at, has_begun: true, markers, to_place: [], moved: [], intents: [], actions: [], log: [{ evidence }], state: { round, sides } };
  state.game.told = /** @type {any} */ (told);
  state.game.looked = "log 0";
  if (!branch && round.active) state.rulings.active = round.active;
}

/** Units on their way from where they lay to where they lie. @type {(from: Unit[], to: Unit[], share: number) => Unit[]} */
function sliding(from, to, share) {
  const before = new Map(from.map((unit) => [unit.id, unit]));
  const eased = share * share * (3 - 2 * share);
  return to.map((unit) => {
    const old = before.get(unit.id);
    if (!old || old === unit || old.bases.length !== unit.bases.length) return unit;
    const bases = unit.bases.map((base, index) => ({ ...base, ...between(old.bases[index], base, eased) }));
    return { ...unit, ...between(old, unit, eased), bases };
  });
}

/** @typedef {{x_mm: number, y_mm: number, heading_deg: number}} Place */

/** @type {(a: Place, b: Place, share: number) => Place} */
function between(a, b, share) {
  const turned_deg = ((b.heading_deg - a.heading_deg + 540) % 360) - 180;
  return {
    x_mm: a.x_mm + share * (b.x_mm - a.x_mm),
    y_mm: a.y_mm + share * (b.y_mm - a.y_mm),
    heading_deg: a.heading_deg + share * turned_deg,
  };
}
