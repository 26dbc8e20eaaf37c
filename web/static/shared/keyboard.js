/**
 * Dispatches keys to their listeners.
 *
 * @typedef {Record<string, (event: KeyboardEvent) => unknown>} Keys  by `event.key` in lower case; false leaves a key to the browser
 */

const PRESSED = "button, summary, a";

/** Listens to the keyboard, except in input fields. @type {(keys: Keys) => void} */
export function listenToKeys(keys) {
  /** The element focused by a click: the player looks elsewhere by now. @type {Element | null} */
  let clicked = null;
  document.addEventListener(
    "click",
    ({ target, detail }) => {
      clicked = detail && target instanceof Element ? target.closest(PRESSED) : null;
    },
    true,
  );
  document.addEventListener("keydown", (event) => {
    const target = event.target instanceof Element ? event.target : null;
    if (target?.closest("input, select, textarea, dialog") || event.altKey) return;
    const isWithCtrl = event.ctrlKey || event.metaKey;
    const letter = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const way = letter === "y" || (letter === "z" && event.shiftKey) ? "redo" : letter === "z" ? "undo" : null;
    if (isWithCtrl && !way) return;
    // The browser closes the open popover.
    if (event.key === "Escape" && document.querySelector(":popover-open")) return;
    const key = (isWithCtrl && way) || letter;
    if (key === "Tab") clicked = null;
    const button = key === "Enter" || key === " " ? target?.closest(PRESSED) : null;
    if (button && button !== clicked) return;
    const name = button ? `${key} after a click` : key;
    if (name in keys && keys[name](event) !== false) event.preventDefault();
  });
}
