/** Taking units of a simulated table off it, and putting them back. */
import { byId, disable, each, element, put, write } from "../shared/dom.js";
import { commanderOf, split, unitOf } from "../board/things.js";

/** @typedef {import("../board/state.js").State} State */
/** @typedef {{unit: string, tag?: number}} Lifted  a unit or a commander, or one base of a unit */

/** Bring the buttons for taking off and putting back up to date. @type {(state: State) => void} */
export function renderLifting(state) {
  if (!state.facts.simulated) return;
  const thing = liftable(state);
  write(byId("lift"), thing ? `Take ${nameOf(thing)} off the table` : "Take off the table");
  put(byId("lift"), "title", thing ? "As a hand would: the camera will not find it any more" : "Choose a unit first");
  disable(byId("lift"), thing === null);
  each(byId("lifted"), liftedOf(state), nameOf, () => element("button"), (button, each) => {
    put(button, "type", "button");
    put(button, "data-put-back", each.unit);
    put(button, "data-tag", each.tag === undefined ? null : String(each.tag));
    write(button, `Put ${nameOf(each)} back`);
  });
}

/** The chosen thing that a hand could take off. @type {(state: State) => Lifted | null} */
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

/** All that was taken off: whole units, and single bases of others. @type {(state: State) => Lifted[]} */
function liftedOf(state) {
  const off = new Set(state.now?.simulated?.off ?? []);
  const all = [...state.facts.units, ...state.facts.commanders].map(({ id }) => id);
  return all.flatMap((unit) => {
    const tags = tagsOf(state, unit);
    if (tags.length && tags.every((tag) => off.has(tag))) return [{ unit }];
    return tags.filter((tag) => off.has(tag)).map((tag) => ({ unit, tag }));
  });
}

/** @type {(state: State, id: string) => number[]} */
function tagsOf({ facts }, id) {
  const leader = facts.commanders.find((each) => each.id === id);
  return leader ? [leader.tag] : (facts.units.find((each) => each.id === id)?.tags ?? []);
}

/** @type {(lifted: Lifted) => string} */
export function nameOf({ unit, tag }) {
  return tag === undefined ? unit : `base ${tag} of ${unit}`;
}

/** Listen to the buttons. @type {(state: State, moves: import("../board/moves.js").Moves) => void} */
export function listenToLifting(state, moves) {
  if (!state.facts.simulated) return;
  byId("lift").addEventListener("click", () => {
    const thing = liftable(state);
    if (thing) void moves.lift(thing);
  });
  for (const id of ["lifted", "game-due"]) {
    byId(id).addEventListener("click", (event) => {
      const button = event.target instanceof Element ? event.target.closest("[data-put-back], [data-lift]") : null;
      const unit = button?.getAttribute("data-lift");
      const back = button?.getAttribute("data-put-back");
      const tag = button?.getAttribute("data-tag");
      if (unit) void moves.lift({ unit });
      if (back) void moves.putBack(tag ? { unit: back, tag: Number(tag) } : { unit: back });
    });
  }
}
