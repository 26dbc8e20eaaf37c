/** Taps, looks and long presses on what carries a certain attribute. Knows nothing of the game. */
import { byId } from "./dom.js";

const LONG_PRESS_MS = 450;

/** Taps inside a node on what has an attribute, with its value; without one, on the node itself. @type {(id: string, attribute: string, deed: (value: string, target: Element) => void) => void} */
export function onTap(id, attribute, deed) {
  byId(id).addEventListener("click", (event) => {
    const target = event.target instanceof Element ? event.target : null;
    const node = attribute ? target?.closest(`[${attribute}]`) : byId(id);
    if (node) deed(attribute ? (node.getAttribute(attribute) ?? "") : "", node);
  });
}

/** A field that somebody types into. @type {(id: string) => HTMLInputElement} */
export function field(id) {
  return /** @type {HTMLInputElement} */ (byId(id));
}

/** What is pointed at with a mouse, or focused by keys; null when nothing is any more. @type {(node: HTMLElement, attribute: string, look: (key: string | null) => void) => void} */
export function listenToLooks(node, attribute, look) {
  const keyAt = (/** @type {Event} */ { target }) => (target instanceof Element ? target.closest(`[${attribute}]`)?.getAttribute(attribute) : null) ?? null;
  node.addEventListener("pointerover", (event) => { if (event.pointerType === "mouse") look(keyAt(event)); });
  node.addEventListener("pointerleave", (event) => { if (event.pointerType === "mouse") look(null); });
  node.addEventListener("focusin", (event) => { if (event.target instanceof Element && event.target.matches(":focus-visible")) look(keyAt(event)); });
  node.addEventListener("focusout", () => look(null));
}

/** A finger that stays looks, and does nothing more. @type {(node: HTMLElement, attribute: string, look: (key: string | null) => void) => {wasLong: () => boolean}} */
export function longPresses(node, attribute, look) {
  let isLong = false;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  node.addEventListener("pointerdown", (event) => {
    isLong = false;
    const key = event.target instanceof Element ? event.target.closest(`[${attribute}]`)?.getAttribute(attribute) : null;
    if (event.pointerType === "mouse" || !key) return;
    timer = setTimeout(() => { isLong = true; look(key); navigator.vibrate?.(15); }, LONG_PRESS_MS);
  });
  for (const end of ["pointerup", "pointercancel", "pointermove"]) {
    node.addEventListener(end, (event) => { if (end !== "pointermove" || /** @type {PointerEvent} */ (event).movementY) clearTimeout(timer); });
  }
  node.addEventListener("contextmenu", (event) => { if (isLong) event.preventDefault(); });
  return { wasLong: () => isLong };
}
