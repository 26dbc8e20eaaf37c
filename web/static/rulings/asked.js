/** For whom rulings are asked, and what they hang on: asked again when that has changed. */
import { unitOf } from "../board/things.js";

/** @typedef {import("../board/state.js").State} State */

/** A base that moves by less has not moved: the camera's noise is well below it. */
const STILL_MM = 0.5;
const STILL_DEG = 0.5;

/** The one or two units that rulings are asked for. @type {(state: State) => string[]} */
export function unitsAsked(state) {
  if (!state.facts.rules) return [];
  const ids = state.chosen.map((thing) => unitOf(state, thing)?.id).filter((id) => id !== undefined);
  return [...new Set(ids)];
}

/** What a sheet hangs on, as a text that changes with it: who is asked for, whose round, how all stand. @type {(state: State) => string} */
export function sheetText(state) {
  return [...unitsAsked(state), state.rulings.active, ...standing(state)].join(" ");
}

/** How all bases and commanders stand; one that has not moved for a player's eyes is where it was. @type {(state: State) => string[]} */
function standing(state) {
  const { stood } = state.rulings;
  const bases = (state.now?.units ?? []).flatMap((unit) => unit.bases.map((base) => ({ key: `${unit.id}/${base.name}`, ...base })));
  const leaders = (state.now?.commanders ?? []).map((each) => ({ key: each.id, heading_deg: 0, x_mm: each.x_mm, y_mm: each.y_mm }));
  return [...bases, ...leaders].map(({ key, x_mm, y_mm, heading_deg }) => {
    const before = stood.get(key);
    if (!before || hasMoved(before, [x_mm, y_mm, heading_deg])) stood.set(key, [x_mm, y_mm, heading_deg]);
    return `${key}:${stood.get(key)}`;
  });
}

/** @type {(before: [number, number, number], now: [number, number, number]) => boolean} */
function hasMoved(before, now) {
  const turned_deg = Math.abs(((now[2] - before[2] + 540) % 360) - 180);
  return Math.hypot(now[0] - before[0], now[1] - before[1]) > STILL_MM || turned_deg > STILL_DEG;
}

/** Whether what is shown was said of the table as it was before. @type {(state: State) => boolean} */
export function isStale(state) {
  const { sheet, sheetOf } = state.rulings;
  return sheet !== null && (state.connection === "lost" || sheetOf !== sheetText(state));
}
