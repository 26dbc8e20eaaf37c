/** Nodes of the page: found by id, made, kept by key, and touched only where something changed. */

const SVG = "http://www.w3.org/2000/svg";

/** A new SVG node. @type {(tag: string, attributes?: Record<string, string>) => SVGElement} */
export function make(tag, attributes = {}) {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  return node;
}

/** Set an attribute, if it is not so already; null takes it away. @type {(node: Element, name: string, value: string | null) => void} */
export function put(node, name, value) {
  if (node.getAttribute(name) === value) return;
  if (value === null) node.removeAttribute(name);
  else node.setAttribute(name, value);
}

/** Set a text, if it is not so already. @type {(node: Element, text: string) => void} */
export function write(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/** Set a custom property of CSS, if it is not so already. @type {(node: SVGElement | HTMLElement, name: string, value: string) => void} */
export function style(node, name, value) {
  if (node.style.getPropertyValue(name) !== value) node.style.setProperty(name, value);
}

/**
 * Make a parent's children be those of the items, in their order.
 *
 * Nodes live as long as their key; `update` is called for each item, new or old.
 *
 * @template Item
 * @param {Element} parent
 * @param {Item[]} items
 * @param {(item: Item) => string} keyOf
 * @param {(item: Item) => Element} create
 * @param {(node: any, item: Item) => void} update
 */
export function each(parent, items, keyOf, create, update) {
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

/** A node of the page by its id. @type {(id: string) => HTMLElement} */
export function byId(id) {
  const node = document.getElementById(id);
  if (!node) throw new Error(`the page has no #${id}`);
  return node;
}

/** An element and its children. @type {(tag: string, ...children: string[]) => HTMLElement} */
export function element(tag, ...children) {
  const node = document.createElement(tag);
  for (const child of children) node.append(document.createElement(child));
  return node;
}

/** Where the panel lies beneath the table, and slides over it. */
export const PHONE = "(max-width: 52rem)";

/** @type {(button: HTMLElement, isDisabled: boolean) => void} */
export function disable(button, isDisabled) {
  /** @type {HTMLButtonElement} */ (button).disabled = isDisabled;
}

/** @type {() => HTMLElement} */
export function makeButton() {
  const button = element("button");
  put(button, "type", "button");
  return button;
}
