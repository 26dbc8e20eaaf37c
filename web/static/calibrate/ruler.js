/** The check with a ruler: players place its ends on the picture, and the page compares its measured length with the true one. */

import { byId, CLICK, svgElement } from "../shared/dom.js";
import { errorText } from "../shared/http.js";
import { send } from "./api.js";
import { Points } from "./points.js";

/** @typedef {import("./api.js").Point} Point */
/** @typedef {import("./api.js").State} State */
/** @typedef {import("./overlay.js").Overlay} Overlay */
/** @typedef {import("./api.js").Check} Check */

const HOW = [
  `Lay a ruler anywhere on the table. ${CLICK} one end of it in the picture.`,
  `${CLICK} the other end.`,
  "Drag an end to place it exactly, or use the arrow keys (Shift: larger steps). The picture is frozen meanwhile.",
];

export class Ruler {
  #asked = 0;

  /** @param {SVGSVGElement} svg @param {import("./magnifier.js").Magnifier} magnifier @param {Overlay} overlay @param {(message: string) => void} complain */
  constructor(svg, magnifier, overlay, complain) {
    this.svg = svg;
    this.overlay = overlay;
    this.complain = complain;
    this.ends = new Points(svg, magnifier, 2, (isAtRest) => {
      this.#redraw();
      if (isAtRest) void this.#measure();
    });
    this.length = new RulerLength(() => void this.#measure());
    byId("clear").addEventListener("click", () => this.ends.clear());
    this.#redraw();
  }

  /** Whether an end is placed, which freezes the picture. */
  get isLaid() {
    return this.ends.all.length > 0;
  }

  /** @param {State} state @param {boolean} isAside  whether clicks place something else */
  show(state, isAside) {
    this.length.offerTag(state.tag_size_mm);
    const isActive = state.stage === "done" && state.saved?.has_table === true;
    this.svg.classList.toggle("rules", isActive);
    this.ends.activate(isActive && !isAside);
  }

  #redraw() {
    const [first, second] = this.ends.all;
    const parts = this.ends.drawn();
    if (first && second) parts.unshift(drawnLine(first, second));
    this.overlay.draw("ruler", [svgElement("g", { class: "ruler" }, parts)]);
    byId("clear").toggleAttribute("disabled", !this.isLaid);
    byId("ruler-how").textContent = HOW[this.ends.all.length];
    if (!this.isLaid) endCheck();
  }

  async #measure() {
    if (this.ends.all.length < 2) return;
    const number = ++this.#asked;
    try {
      const [first_px, second_px] = this.ends.all;
      const check = await send("ruler", {
        first_px,
        second_px,
        true_mm: this.length.mm,
        height_mm: this.length.thickness_mm,
      });
      if (number === this.#asked && this.ends.all.length === 2) showCheck(check);
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
  /** @param {() => void} changed  called when the length or the ruler's thickness changes */
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

  /** Offers a printed tag's side as a length, if its size is known. @param {number | null} tag_size_mm */
  offerTag(tag_size_mm) {
    const button = byId("tag-length");
    button.hidden = tag_size_mm === null;
    button.dataset.mm = String(tag_size_mm);
    button.textContent = `a tag's black square: ${tag_size_mm}`;
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
  const isTag = byId("tag-length").getAttribute("aria-pressed") === "true";
  const [figure, words] = [document.createElement("b"), document.createElement("span")];
  figure.textContent = `off by ${signed(check.off_mm)} mm`;
  const verdict = isOff
    ? isTag
      ? "more than expected: did you choose two corners of the black square, without its white rim?"
      : "more than expected: is the ruler flat, and did you enter its thickness?"
    : "as accurate as stated";
  words.textContent = `measured ${check.measured_mm.toFixed(2)} ± ${check.sigma_mm.toFixed(2)} mm; ${verdict}`;
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
