/** Whoever plays by keyboard goes on where the next answer is: the button that he pressed has gone. */
import { byId } from "../shared/dom.js";

const ANSWERED = "#game-actions, #game-dice, #game-moved, #game-due";
const NEXT = "#game-actions button, #game-dice-keys button, #game-moved button, #game-due button";

/** Whether a focus that keys had brought was lost with its button. */
let isLost = false;

/** Watch over the focus while the game's part is brought up to date. @type {(mayGoOn: boolean, render: () => void) => void} */
export function keepingFocus(mayGoOn, render) {
  const focused = document.activeElement;
  const wasKeyed = Boolean(focused?.closest(ANSWERED) && focused.matches(":focus-visible"));
  render();
  if (wasKeyed && focused && isGone(focused)) isLost = true;
  else if (document.activeElement !== document.body && document.activeElement !== focused) isLost = false;
  if (isLost && mayGoOn && goOn()) isLost = false;
}

/** @type {(node: Element) => boolean} */
function isGone(node) {
  return !node.isConnected || node.matches(":disabled") || node.getClientRects().length === 0;
}

/** Whether there is a next answer to go to; whoever has gone elsewhere since is left there. @type {() => boolean} */
function goOn() {
  const { activeElement } = document;
  if (activeElement && activeElement !== document.body && !isGone(activeElement)) return true;
  const next = [...byId("game").querySelectorAll(NEXT)].find((each) => !isGone(each));
  /** @type {HTMLElement | undefined} */ (next)?.focus();
  return next !== undefined;
}
