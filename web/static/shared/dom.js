/** Finds, creates and updates nodes of the page, touching only those that differ. */

const SVG = "http://www.w3.org/2000/svg";

/** The verb for choosing something, with a mouse or with a finger. */
export const CLICK = matchMedia("(pointer: coarse)").matches ? "Tap" : "Click";

/** A new SVG node. @type {(tag: string, attributes?: Record<string, string | number>, children?: (Element | string)[]) => SVGElement} */
export function svgElement(tag, attributes = {}, children = []) {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, String(value));
  node.append(...children);
  return node;
}

/** Sets an attribute if it differs; null removes it. @type {(node: Element, name: string, value: string | null) => void} */
export function setAttr(node, name, value) {
  if (node.getAttribute(name) === value) return;
  if (value === null) node.removeAttribute(name);
  else node.setAttribute(name, value);
}

/** Sets a text if it differs. @type {(node: Element, text: string) => void} */
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/** Sets a CSS custom property if it differs. @type {(node: SVGElement | HTMLElement, name: string, value: string) => void} */
export function setStyle(node, name, value) {
  if (node.style.getPropertyValue(name) !== value) node.style.setProperty(name, value);
}

/**
 * Gives a parent one child for each item, in their order.
 *
 * A node lives as long as its key; `update` is called for every item, new or old.
 *
 * @template Item
 * @param {Element} parent
 * @param {Item[]} items
 * @param {(item: Item) => string} keyOf
 * @param {(item: Item) => Element} create
 * @param {(node: any, item: Item) => void} update
 */
export function updateChildren(parent, items, keyOf, create, update) {
  /** @type {Map<string, Element>} */
  const old = new Map();
  for (const child of parent.children) old.set(child.getAttribute("data-key") ?? "", child);
  let next = parent.firstElementChild;
  for (const item of items) {
    const key = keyOf(item);
    let node = old.get(key);
    old.delete(key);
    if (!node) {
      node = create(item);
      node.setAttribute("data-key", key);
    }
    if (node === next) next = next.nextElementSibling;
    else parent.insertBefore(node, next);
    update(node, item);
  }
  for (const node of old.values()) node.remove();
}

/** The node with an id, which the page must have. @type {(id: string) => HTMLElement} */
export function byId(id) {
  const node = document.getElementById(id);
  if (!node) throw new Error(`the page has no #${id}`);
  return node;
}

/** A new element with empty children; a button sends no form. @type {(tag: string, ...children: string[]) => HTMLElement} */
export function element(tag, ...children) {
  const node = document.createElement(tag);
  if (tag === "button") setAttr(node, "type", "button");
  node.append(...children.map((child) => element(child)));
  return node;
}

/** Puts a space after each child, so that screen readers do not run their words together. @type {(node: Element) => void} */
export function separate(node) {
  for (const child of node.children) child.after(" ");
}

/** The screens on which the panel lies beneath the table and slides over it. */
export const PHONE = "(max-width: 52rem)";

/** @type {(button: HTMLElement, isDisabled: boolean) => void} */
export function disable(button, isDisabled) {
  /** @type {HTMLButtonElement} */ (button).disabled = isDisabled;
}

/** A new button. @type {() => HTMLElement} */
export function makeButton() {
  return element("button");
}
