/**
 * Dispatches keys to their listeners.
 *
 * @typedef {Record<string, (event: KeyboardEvent) => void>} Keys  by `event.key`, small letters
 */

/** Listens to the keyboard, except in input fields. @type {(keys: Keys) => void} */
export function listenToKeys(keys) {
  document.addEventListener("keydown", (event) => {
    const target = event.target instanceof Element ? event.target : null;
    if (target?.closest("input, select, textarea, dialog") || event.altKey) return;
    const isWithCtrl = event.ctrlKey || event.metaKey;
    const letter = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const way = letter === "y" || (letter === "z" && event.shiftKey) ? "redo" : letter === "z" ? "undo" : null;
    if (isWithCtrl && !way) return;
    // The browser closes what is open.
    if (event.key === "Escape" && document.querySelector(":popover-open")) return;
    const key = (isWithCtrl && way) || letter;
    const isOnButton = target?.closest("button, summary, a") && (key === "Enter" || key === " ");
    if (isOnButton || !(key in keys)) return;
    event.preventDefault();
    keys[key](event);
  });
}
