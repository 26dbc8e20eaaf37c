/** Listens to clicks, hovering and long presses on nodes with a certain attribute. */
import { byId } from "./dom.js";

const LONG_PRESS_MS = 450;

/** Listens to clicks on a node, if the page has it. @type {(id: string, listener: () => void) => void} */
export function onClick(id, listener) {
  document.getElementById(id)?.addEventListener("click", () => listener());
}

/** Listens to clicks inside a node on elements with an attribute. @type {(id: string, attribute: string, listener: (value: string, target: Element) => void) => void} */
export function onClickWithin(id, attribute, listener) {
  byId(id).addEventListener("click", (event) => {
    const target = targetWith(event, attribute);
    if (target) listener(target.getAttribute(attribute) ?? "", target);
  });
}

/** The enclosing node with an attribute in which an event happened. @type {(event: Event, attribute: string) => Element | null} */
function targetWith({ target }, attribute) {
  return target instanceof Element ? target.closest(`[${attribute}]`) : null;
}

/** The value of an attribute where an event happened. @type {(event: Event, attribute: string) => string | null} */
export function valueAt(event, attribute) {
  return targetWith(event, attribute)?.getAttribute(attribute) ?? null;
}

/** A text field. @type {(id: string) => HTMLInputElement} */
export function field(id) {
  return /** @type {HTMLInputElement} */ (byId(id));
}

/** Slides the panel of a phone over the table, or back. @type {(isOpen?: boolean) => void} */
export function slidePanel(isOpen) {
  const isOver = byId("panel").classList.toggle("open", isOpen);
  byId("panel-grip").setAttribute("aria-expanded", String(isOver));
}

/** Opens the help. @type {() => void} */
export function openHelp() {
  /** @type {HTMLDialogElement} */ (byId("help")).showModal();
}

/** Listens to the controls of the help and a phone's panel, on every page. */
export function listenToPage() {
  onClick("help-open", openHelp);
  onClick("help-close", () => /** @type {HTMLDialogElement} */ (byId("help")).close());
  onClick("panel-grip", () => slidePanel());
}

/** Reports which node is hovered with a mouse or focused by keys; null when none is. @type {(node: HTMLElement, attribute: string, look: (key: string | null) => void) => void} */
export function listenToHover(node, attribute, look) {
  const keyAt = (/** @type {Event} */ event) => valueAt(event, attribute);
  node.addEventListener("pointerover", (event) => {
    if (event.pointerType === "mouse") look(keyAt(event));
  });
  node.addEventListener("pointerleave", (event) => {
    if (event.pointerType === "mouse") look(null);
  });
  node.addEventListener("focusin", (event) => {
    if (event.target instanceof Element && event.target.matches(":focus-visible")) look(keyAt(event));
  });
  node.addEventListener("focusout", () => look(null));
}

/** Reports which node a finger presses long; that press does not count as a click. @type {(node: HTMLElement, attribute: string, look: (key: string | null) => void) => {wasLong: () => boolean}} */
export function listenToLongPresses(node, attribute, look) {
  let isLong = false;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  node.addEventListener("pointerdown", (event) => {
    isLong = false;
    const key = valueAt(event, attribute);
    if (event.pointerType === "mouse" || !key) return;
    timer = setTimeout(() => {
      isLong = true;
      look(key);
      navigator.vibrate?.(15);
    }, LONG_PRESS_MS);
  });
  for (const end of ["pointerup", "pointercancel", "pointermove"]) {
    node.addEventListener(end, (event) => {
      if (end !== "pointermove" || /** @type {PointerEvent} */ (event).movementY) clearTimeout(timer);
    });
  }
  node.addEventListener("contextmenu", (event) => {
    if (isLong) event.preventDefault();
  });
  return { wasLong: () => isLong };
}
