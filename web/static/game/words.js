/** Puts the game into words: turns, groups of actions, markers, cards. */
import { sentence } from "../shared/text.js";
import { sideName } from "../board/things.js";

/** @typedef {import("./state.js").GameView} GameView */

/** @type {Record<string, string>} */
const GROUPS = {
  activate: "Activate a force",
  card: "Cards",
  charge: "Charge",
  command: "Command for this round",
  commander: "Commander",
  done: "Finish",
  "fall-back": "Fall back",
  fire: "Fire",
  march: "March",
  rally: "Rally",
  setup: "Setting up",
  volleys: "Volleys",
};

/** @type {(group: string) => string} */
export function groupTitle(group) {
  return GROUPS[group] ?? sentence(group.replaceAll("-", " "));
}

/** Whose turn it is, as this seat reads it. @type {(view: GameView, nameOf: (side: string) => string) => string} */
export function turnWords(view, nameOf) {
  const asked = view.asked === null ? null : nameOf(view.asked);
  if (view.is_over) return "the game is over";
  if (view.seat.kind === "spectator") return asked ? `${asked} to decide` : "dice";
  if (view.is_yours && asked === null) return "anyone may answer";
  if (view.is_yours && view.seat.kind === "player") return "your turn";
  return view.is_yours ? `${asked} to answer` : `waiting for ${asked ?? "dice"}`;
}

/** A seat's display name. @type {(state: import("./state.js").State, name: string) => string} */
export function seatName(state, name) {
  return sentence(name === "spectator" ? "spectator" : sideName(state, name));
}

/** A unit's markers in words; empty if it has none. @type {(markers: {disruption?: number, smoke?: boolean} | undefined) => string} */
export function markerWords(markers) {
  const level = markers?.disruption ?? 0;
  const disruption = level ? `${level} disruption${level > 1 ? "s" : ""}` : "";
  return [disruption, markers?.smoke ? "smoke" : ""].filter(Boolean).join(", ");
}

/** @type {(card: import("./state.js").Card) => string} */
export function cardKind({ modifies, interrupts, is_event }) {
  if (modifies) return modifies.symbol;
  if (interrupts) return "interrupt";
  return is_event ? "event" : "span only";
}
