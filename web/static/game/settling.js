/** A list that has just changed takes no tap: the second of a double one was meant for what is gone. */
import { byId, put } from "../shared/dom.js";
import { playing } from "./state.js";

/** @typedef {import("../board/state.js").State} State */

const SETTLE_MS = 400;
const LISTS = ["game-together", "game-astray", "game-moved", "game-dice", "game-actions", "game-take"];
let shown = "";
/** @type {ReturnType<typeof setTimeout> | undefined} */
let settled;

/** Keep taps, and keys that press a button, from what has not lain there long enough to be meant. */
export function listenToSettling() {
  for (const list of LISTS.map(byId)) list.addEventListener("click", (event) => {
    if (list.ariaDisabled !== "true") return;
    event.preventDefault();
    event.stopPropagation();
  }, true);
}

/** @type {(isSettled: boolean) => void} */
function mark(isSettled) {
  for (const list of LISTS.map(byId)) put(list, "aria-disabled", isSettled ? null : "true");
}

/** Note what lies there now to be tapped. @type {(state: State) => void} */
export function settle(state) {
  const told = playing(state);
  const lies = told ? [told.question, ...told.actions.map(({ label }) => label), ...told.moved.map(({ unit, text }) => `${unit} ${text}`), ...state.game.open].join("\n") : "";
  const before = shown;
  shown = lies;
  if (!before || before === lies) return;
  mark(false);
  clearTimeout(settled);
  settled = setTimeout(() => mark(true), SETTLE_MS);
}
