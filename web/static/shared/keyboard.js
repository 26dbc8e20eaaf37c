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
    const isUndo = (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "z";
    if ((event.ctrlKey || event.metaKey) && !isUndo) return;
    // The browser closes what is open.
    if (event.key === "Escape" && document.querySelector(":popover-open")) return;
    const key = isUndo ? "undo" : event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const isOnButton = target?.closest("button, summary, a") && (key === "Enter" || key === " ");
    if (isOnButton || !(key in keys)) return;
    event.preventDefault();
    keys[key](event);
  });
}
