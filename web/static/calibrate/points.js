/** Points on the picture: each is placed by a click, then dragged, or moved by the arrow keys. */

import { svgElement } from "../shared/dom.js";

/** @typedef {import("./api.js").Point} Point */
/** @typedef {import("./magnifier.js").Magnifier} Magnifier */

const STEP_PX = 0.25;
const COARSE_PX = 5;
const REACH_PX = 18;
/** @type {Record<string, Point>} */
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

export class Points {
  /** @type {Point[]} in the camera's picture */
  all = [];
  isActive = false;
  /** The point that keys and pointers move; −1: none. */
  #chosen = -1;
  #isDragging = false;

  /** `changed` is called with whether the points are at rest. @param {SVGSVGElement} svg @param {Magnifier} magnifier @param {number} most @param {(isAtRest: boolean) => void} changed */
  constructor(svg, magnifier, most, changed) {
    this.svg = svg;
    this.magnifier = magnifier;
    this.most = most;
    this.changed = changed;
    svg.addEventListener("pointerdown", (event) => this.#down(event));
    svg.addEventListener("pointermove", (event) => this.#move(event));
    for (const end of ["pointerup", "pointercancel"]) svg.addEventListener(end, () => this.#release());
    svg.addEventListener("pointerleave", () => {
      if (this.isActive && !this.#isDragging) this.magnifier.show(null);
    });
    svg.addEventListener("keydown", (event) => this.#key(event));
  }

  /** Lets clicks place points, or removes the placed ones. @param {boolean} isActive */
  activate(isActive) {
    if (this.isActive && !isActive) this.clear();
    this.isActive = isActive;
  }

  /** Removes all points from the picture. */
  clear() {
    [this.all, this.#chosen, this.#isDragging] = [[], -1, false];
    this.#tell(null, false);
  }

  /** The points as crosses, each with its label. @param {string[]} [words] @returns {Element[]} */
  drawn(words = []) {
    const size = this.magnifier.width_px / 70;
    return this.all.map(([x, y], number) => {
      const cross = `M${x - size} ${y}H${x + size}M${x} ${y - size}V${y + size}`;
      return svgElement("g", { class: number === this.#chosen ? "end chosen" : "end" }, [
        svgElement("path", { class: "casing", d: cross }),
        svgElement("path", { class: "ink", d: cross }),
        svgElement("text", { x: x + 0.4 * size, y: y - 1.1 * size, "font-size": size }, [words[number] ?? ""]),
        svgElement("circle", { class: "reach", cx: x, cy: y, r: this.#reach_px }),
      ]);
    });
  }

  /** @param {PointerEvent} event */
  #down(event) {
    if (!this.isActive || event.button !== 0) return;
    const at = this.#placeOf(event);
    const near = this.all.findIndex(([x, y]) => Math.hypot(x - at[0], y - at[1]) < this.#reach_px);
    if (near < 0 && this.all.length === this.most) return;
    this.#chosen = near < 0 ? this.all.push(at) - 1 : near;
    this.#isDragging = true;
    this.svg.setPointerCapture(event.pointerId);
    this.#tell(at, false);
  }

  /** @param {PointerEvent} event */
  #move(event) {
    if (!this.isActive) return;
    const at = this.#placeOf(event);
    if (this.#isDragging) this.all[this.#chosen] = at;
    if (this.#isDragging || (this.all.length < this.most && event.pointerType === "mouse")) this.#tell(at, false);
  }

  #release() {
    if (!this.#isDragging) return;
    this.#isDragging = false;
    this.#tell(null, true);
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    if (!this.isActive) return;
    if (event.key === "Escape") this.clear();
    const arrow = ARROWS[event.key];
    if (!arrow) return;
    event.preventDefault();
    const { width, height } = this.svg.viewBox.baseVal;
    if (this.#chosen < 0) this.#chosen = this.all.push([width / 2, height / 2]) - 1;
    const [x, y] = this.all[this.#chosen];
    const step = event.shiftKey ? COARSE_PX : STEP_PX;
    this.all[this.#chosen] = [x + arrow[0] * step, y + arrow[1] * step];
    this.#tell(this.all[this.#chosen], true);
  }

  /** @param {Point | null} looked  the centre of the magnifier @param {boolean} isAtRest */
  #tell(looked, isAtRest) {
    this.magnifier.show(looked);
    this.changed(isAtRest);
  }

  /** Distance, in the camera's picture, within which a pointer grabs a point. */
  get #reach_px() {
    return REACH_PX / (this.svg.getScreenCTM()?.a ?? 1);
  }

  /** @param {PointerEvent} event @returns {Point} */
  #placeOf(event) {
    const matrix = this.svg.getScreenCTM();
    const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix?.inverse());
    return [at.x, at.y];
  }
}
