/** The check with a ruler: its ends are placed on the picture, and its measured length is compared with the true one. */

import { byId, svgElement } from "../shared/dom.js";
import { errorText } from "../shared/http.js";
import { send } from "./api.js";
import { Magnifier } from "./magnifier.js";

/** @typedef {import("./api.js").Point} Point */
/** @typedef {import("./api.js").State} State */
/** @typedef {import("./overlay.js").Overlay} Overlay */
/** @typedef {import("./api.js").Check} Check */

const STEP_PX = 0.25;
const COARSE_PX = 5;
const REACH_PX = 18;
/** @type {Record<string, Point>} */
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const HOW = [
  "Lay a ruler anywhere on the table, and click one end of it in the picture.",
  "Click the other end.",
  "Drag an end to place it exactly, or use the arrow keys (Shift: larger steps). The picture is frozen meanwhile.",
];

export class Ruler {
  /** @type {Point[]} in the camera's picture */
  #ends = [];
  /** The end that keys and pointers move; −1: none. */
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

  /** Whether an end is placed; the picture stands still then. */
  get isLaid() {
    return this.#ends.length > 0;
  }

  /** Passes on the picture that is shown. @param {HTMLImageElement} image */
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
    svg.addEventListener("pointerleave", () => {
      if (!this.#isDragging) this.magnifier.show(null);
    });
    svg.addEventListener("keydown", (event) => this.#key(event));
    byId("clear").addEventListener("click", () => this.#takeUp());
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

  /** Removes the ruler from the picture. */
  #takeUp() {
    [this.#ends, this.#chosen, this.#isDragging] = [[], -1, false];
    endCheck();
    this.#redraw(null);
  }

  /** Distance, in the camera's picture, within which a pointer takes an end. */
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
    this.overlay.draw("ruler", [svgElement("g", { class: "ruler" }, parts)]);
    byId("clear").toggleAttribute("disabled", !this.isLaid);
    byId("ruler-how").textContent = HOW[this.#ends.length];
    this.magnifier.show(looked);
  }

  /** @param {Point} end @param {boolean} isChosen */
  #drawnEnd([x, y], isChosen) {
    const size = this.magnifier.width_px / 70;
    const cross = `M${x - size} ${y}H${x + size}M${x} ${y - size}V${y + size}`;
    return svgElement("g", { class: isChosen ? "end chosen" : "end" }, [
      svgElement("path", { class: "casing", d: cross }),
      svgElement("path", { class: "ink", d: cross }),
      svgElement("circle", { class: "reach", cx: x, cy: y, r: this.#reach_px }),
    ]);
  }

  async #measure() {
    if (this.#ends.length < 2) return;
    const number = ++this.#asked;
    try {
      const [first_px, second_px] = this.#ends;
      const check = await send("ruler", {
        first_px,
        second_px,
        true_mm: this.length.mm,
        height_mm: this.length.thickness_mm,
      });
      if (number === this.#asked && this.#ends.length === 2) showCheck(check);
    } catch (error) {
      if (number === this.#asked) this.complain(errorText(error));
    }
  }
}

/** @param {Point} first @param {Point} second */
function drawnLine([x1, y1], [x2, y2]) {
  const line = { x1, y1, x2, y2 };
  return svgElement("g", {}, [
    svgElement("line", { class: "casing", ...line }),
    svgElement("line", { class: "ink", ...line }),
  ]);
}

const SAME_MM = 0.01;

const input = (/** @type {string} */ id) => /** @type {HTMLInputElement} */ (document.getElementById(id));

export class RulerLength {
  /** @param {() => void} changed  called when the length, or the ruler's thickness, is another */
  constructor(changed) {
    this.changed = changed;
    this.#listen();
  }

  /** The true length. */
  get mm() {
    return Number(input("true-length").value) * this.#unit_mm;
  }

  /** Height of the ruler's upper side above the table. */
  get thickness_mm() {
    return Number(input("thickness").value);
  }

  /** Offers a printed tag's side as a length, where its size is known. @param {number | null} tag_size_mm */
  offerTag(tag_size_mm) {
    const button = byId("tag-length");
    button.hidden = tag_size_mm === null;
    button.dataset.mm = String(tag_size_mm);
    button.textContent = `a tag's side: ${tag_size_mm}`;
  }

  get #unit_mm() {
    return Number(input("unit").value);
  }

  get #buttons() {
    return /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(".lengths button"));
  }

  #listen() {
    let unit_mm = this.#unit_mm;
    for (const button of this.#buttons) button.addEventListener("click", () => this.#write(Number(button.dataset.mm)));
    input("true-length").addEventListener("input", () => this.#lengthChanged());
    input("thickness").addEventListener("input", this.changed);
    input("unit").addEventListener("change", () => {
      const length_mm = Number(input("true-length").value) * unit_mm;
      unit_mm = this.#unit_mm;
      this.#write(length_mm);
    });
  }

  /** @param {number} length_mm */
  #write(length_mm) {
    input("true-length").value = String(Number((length_mm / this.#unit_mm).toFixed(3)));
    this.#lengthChanged();
  }

  #lengthChanged() {
    for (const button of this.#buttons) {
      button.setAttribute("aria-pressed", String(Math.abs(Number(button.dataset.mm) - this.mm) < SAME_MM));
    }
    this.changed();
  }
}

const DOUBTFUL_SIGMAS = 3;

const signed = (/** @type {number} */ value) => `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(2)}`;

/** Shows a check; it replaces the last one until the ruler is removed. @param {Check} check */
export function showCheck(check) {
  const result = byId("ruler-result");
  const isOff = Math.abs(check.off_sigmas) > DOUBTFUL_SIGMAS;
  const [figure, words] = [document.createElement("b"), document.createElement("span")];
  figure.textContent = `off by ${signed(check.off_mm)} mm`;
  const verdict = isOff
    ? "more than expected: is the ruler flat, and did you enter its thickness?"
    : "as accurate as stated";
  words.textContent = `measured ${check.measured_mm.toFixed(2)} ± ${check.sigma_mm.toFixed(2)} mm; that is ${Math.abs(check.off_sigmas).toFixed(1)} σ, ${verdict}`;
  result.replaceChildren(figure, words);
  result.dataset.verdict = isOff ? "off" : "good";
  result.dataset.measuredMm = String(check.measured_mm);
  result.hidden = false;
  addToList(check);
}

/** Ends a check when the ruler is removed; it stays in the list. */
export function endCheck() {
  byId("ruler-result").hidden = true;
  current()?.removeAttribute("data-key");
}

/** @param {Check} check */
function addToList(check) {
  current()?.remove();
  const item = document.createElement("li");
  item.dataset.key = "current";
  item.textContent = `${check.true_mm.toFixed(1)} mm: ${signed(check.off_mm)} ± ${check.sigma_mm.toFixed(2)} mm`;
  byId("checks").prepend(item);
}

/** @returns {Element | null} */
function current() {
  return byId("checks").querySelector("[data-key=current]");
}
