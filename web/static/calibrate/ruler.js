/** The check with a ruler: its two ends on the picture, by pointer or by keys, and what it measures. */

import { send } from "./api.js";
import { Magnifier } from "./magnifier.js";
import { element } from "./overlay.js";
import { endCheck, showCheck } from "./ruler_check.js";
import { RulerLength } from "./ruler_length.js";

/** @typedef {import("./api.js").Point} Point */
/** @typedef {import("./api.js").State} State */
/** @typedef {import("./overlay.js").Overlay} Overlay */

const STEP_PX = 0.25;
const COARSE_PX = 5;
const REACH_PX = 18;
/** @type {Record<string, Point>} */
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const HOW = [
  "Lay a ruler anywhere on the table. Click its one end in the picture.",
  "Click the other end.",
  "Drag an end to place it exactly, or use the arrow keys (Shift: larger steps). The picture stands still meanwhile.",
];

const by = (/** @type {string} */ id) => /** @type {HTMLElement} */ (document.getElementById(id));

export class Ruler {
  /** @type {Point[]} in the camera's picture */
  #ends = [];
  /** The end that keys move and a pointer drags; none yet. */
  #chosen = -1;
  #isDragging = false;
  #isActive = false;
  #asked = 0;

  /** @param {SVGSVGElement} svg @param {HTMLCanvasElement} canvas @param {Overlay} overlay @param {(message: string) => void} complain */
  constructor(svg, canvas, overlay, complain) {
    this.svg = svg;
    this.overlay = overlay;
    this.complain = complain;
    this.magnifier = new Magnifier(canvas);
    this.length = new RulerLength(() => void this.#measure());
    this.#listen();
    this.#redraw(null);
  }

  /** Whether an end of it lies on the table: the picture is to stand still. */
  get isLaid() {
    return this.#ends.length > 0;
  }

  /** Take in the picture that is shown. @param {HTMLImageElement} image */
  picture(image) {
    this.magnifier.image = image;
  }

  /** @param {State} state */
  show(state) {
    this.magnifier.width_px = state.width_px;
    this.length.offerTag(state.tag_size_mm);
    const isActive = state.stage === "done" && state.saved?.has_table === true;
    this.svg.classList.toggle("rules", isActive);
    if (this.#isActive && !isActive) this.#takeUp();
    this.#isActive = isActive;
  }

  #listen() {
    const { svg } = this;
    svg.addEventListener("pointerdown", (event) => this.#down(event));
    svg.addEventListener("pointermove", (event) => this.#move(event));
    for (const end of ["pointerup", "pointercancel"]) svg.addEventListener(end, () => this.#release());
    svg.addEventListener("pointerleave", () => { if (!this.#isDragging) this.magnifier.show(null); });
    svg.addEventListener("keydown", (event) => this.#key(event));
    by("clear").addEventListener("click", () => this.#takeUp());
  }

  /** @param {PointerEvent} event */
  #down(event) {
    if (!this.#isActive || event.button !== 0) return;
    const at = this.#placeOf(event);
    const near = this.#ends.findIndex(([x, y]) => Math.hypot(x - at[0], y - at[1]) < this.#reach_px);
    if (near < 0 && this.#ends.length === 2) return;
    this.#chosen = near < 0 ? this.#ends.push(at) - 1 : near;
    this.#isDragging = true;
    this.svg.setPointerCapture(event.pointerId);
    this.#redraw(at);
  }

  /** @param {PointerEvent} event */
  #move(event) {
    if (!this.#isActive) return;
    const at = this.#placeOf(event);
    if (this.#isDragging) this.#ends[this.#chosen] = at;
    if (this.#isDragging || (this.#ends.length < 2 && event.pointerType === "mouse")) this.#redraw(at);
  }

  #release() {
    if (!this.#isDragging) return;
    this.#isDragging = false;
    this.#redraw(null);
    void this.#measure();
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    if (!this.#isActive) return;
    if (event.key === "Escape") this.#takeUp();
    const arrow = ARROWS[event.key];
    if (!arrow) return;
    event.preventDefault();
    const { width, height } = this.svg.viewBox.baseVal;
    if (this.#chosen < 0) this.#chosen = this.#ends.push([width / 2, height / 2]) - 1;
    const [x, y] = this.#ends[this.#chosen];
    const step = event.shiftKey ? COARSE_PX : STEP_PX;
    this.#ends[this.#chosen] = [x + arrow[0] * step, y + arrow[1] * step];
    this.#redraw(this.#ends[this.#chosen]);
    void this.#measure();
  }

  /** Take the ruler off the picture. */
  #takeUp() {
    [this.#ends, this.#chosen, this.#isDragging] = [[], -1, false];
    endCheck();
    this.#redraw(null);
  }

  /** How near a pointer is to an end that it takes, in the camera's picture. */
  get #reach_px() {
    return REACH_PX / (this.svg.getScreenCTM()?.a ?? 1);
  }

  /** @param {PointerEvent} event @returns {Point} */
  #placeOf(event) {
    const matrix = this.svg.getScreenCTM();
    const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix?.inverse());
    return [at.x, at.y];
  }

  /** @param {Point | null} looked  what the magnifier shows */
  #redraw(looked) {
    const [first, second] = this.#ends;
    const parts = this.#ends.map((end, number) => this.#drawnEnd(end, number === this.#chosen));
    if (first && second) parts.unshift(drawnLine(first, second));
    this.overlay.draw("ruler", [element("g", { class: "ruler" }, parts)]);
    by("clear").toggleAttribute("disabled", !this.isLaid);
    by("ruler-how").textContent = HOW[this.#ends.length];
    this.magnifier.show(looked);
  }

  /** @param {Point} end @param {boolean} isChosen */
  #drawnEnd([x, y], isChosen) {
    const size = this.magnifier.width_px / 70;
    const cross = `M${x - size} ${y}H${x + size}M${x} ${y - size}V${y + size}`;
    return element("g", { class: isChosen ? "end chosen" : "end" }, [
      element("path", { class: "casing", d: cross }),
      element("path", { class: "ink", d: cross }),
      element("circle", { class: "reach", cx: x, cy: y, r: this.#reach_px }),
    ]);
  }

  async #measure() {
    if (this.#ends.length < 2) return;
    const number = ++this.#asked;
    try {
      const [first_px, second_px] = this.#ends;
      const check = await send("ruler", { first_px, second_px, true_mm: this.length.mm, height_mm: this.length.thickness_mm });
      if (number === this.#asked && this.#ends.length === 2) showCheck(check);
    } catch (error) {
      if (number === this.#asked) this.complain(error instanceof Error ? error.message : String(error));
    }
  }
}

/** @param {Point} first @param {Point} second */
function drawnLine([x1, y1], [x2, y2]) {
  const line = { x1, y1, x2, y2 };
  return element("g", {}, [element("line", { class: "casing", ...line }), element("line", { class: "ink", ...line })]);
}
