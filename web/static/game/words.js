/** Puts the game into words: whose turn it is, groups of actions, markers. */
import { sentence } from "../shared/text.js";
import { sideName } from "../board/things.js";

/** @typedef {import("./state.js").GameView} GameView */
/** @typedef {import("./state.js").State} State */

/** The title of a group of actions, by default the question. @type {(state: State, group: string) => string} */
export function groupTitle({ facts, game }, group) {
  const title = facts.about.groups[group]?.title ?? sentence(group.replaceAll("-", " "));
  return title || sentence(game.view?.question ?? "");
}

/** Whose turn it is, as this seat reads it. @type {(view: GameView, nameOf: (side: string) => string) => string} */
export function turnWords(view, nameOf) {
  const asked = view.asked === null ? null : nameOf(view.asked);
  if (view.is_over) return "the game is over";
  if (view.seat.kind === "spectator") return asked ? `${asked} to decide` : "any player";
  if (view.is_yours && asked === null) return "any player";
  if (view.is_yours && view.seat.kind === "player") return "your turn";
  return view.is_yours ? `${asked} to decide` : `waiting for ${asked ? `the ${asked}` : "dice"}`;
}

/** A seat's display name. @type {(state: State, name: string) => string} */
export function seatName(state, name) {
  if (name === "both") return "Both sides";
  return sentence(name === "spectator" ? "spectator" : sideName(state, name));
}

/** Says which of a game's files are the house sample's. @type {(kinds: string[]) => string} */
export function houseWords(kinds) {
  return `House sample: the numbers in the ${kinds.join(", ")} are invented; the rules are the book's.`;
}

/** A unit's markers in words; empty if it has none. @type {(marks: import("./state.js").Mark[] | undefined) => string} */
export function markerWords(marks = []) {
  return marks.map(({ text, words }) => words || text).join(", ");
}
