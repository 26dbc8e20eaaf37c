// @ts-check
/** The check with a ruler: two ends on the picture, a magnifier to hit them, and how far off it is. */

import { send } from "./calibrating_api.js";
import { element } from "./calibrating_overlay.js";

/** @typedef {import("./calibrating_api.js").Point} Point */
/** @typedef {import("./calibrating_api.js").State} State */
/** @typedef {import("./calibrating_api.js").Check} Check */
/** @typedef {import("./calibrating_overlay.js").Overlay} Overlay */

const MAGNIFIED = 7;
const STEP_PX = 0.25;
const COARSE_PX = 5;
const DOUBTFUL_SIGMAS = 3;
/** @type {Record<string, Point>} */
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

const by = (/** @type {string} */ id) => /** @type {HTMLElement} */ (document.getElementById(id));
const input = (/** @type {string} */ id) => /** @type {HTMLInputElement} */ (document.getElementById(id));
const signed = (/** @type {number} */ value, digits = 2) => `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(digits)}`;

/** @type {(svg: SVGSVGElement, canvas: HTMLCanvasElement, overlay: Overlay, complain: (message: string) => void) => {isLaid: () => boolean, show: (state: State) => void, picture: (image: HTMLImageElement) => void}} */
export function createRuler(svg, canvas, overlay, complain) {
  /** @type {Point[]} */
  let ends = [];
  let chosen = -1;
  let dragging = false;
  let active = false;
  let asked = 0;
  let width = 16;
  /** @type {HTMLImageElement | null} */
  let image = null;

  svg.addEventListener("pointerdown", (event) => {
    if (!active || event.button !== 0) return;
    const at = place(event);
    const near = ends.findIndex((end) => Math.hypot(end[0] - at[0], end[1] - at[1]) < reach());
    if (near >= 0) chosen = near;
    else if (ends.length < 2) chosen = ends.push(at) - 1;
    else return;
    dragging = true;
    svg.setPointerCapture(event.pointerId);
    redraw(at);
  });
  svg.addEventListener("pointermove", (event) => {
    if (!active) return;
    const at = place(event);
    if (dragging) ends[chosen] = at;
    if (dragging || (ends.length < 2 && event.pointerType === "mouse")) redraw(at);
  });
  const release = () => {
    if (!dragging) return;
    dragging = false;
    redraw(null);
    void measure();
  };
  svg.addEventListener("pointerup", release);
  svg.addEventListener("pointercancel", release);
  svg.addEventListener("pointerleave", () => { if (!dragging) magnify(null); });
  svg.addEventListener("keydown", (event) => {
    if (!active) return;
    const arrow = ARROWS[event.key];
    if (event.key === "Escape") clear();
    if (event.key === "Tab" || !arrow) return;
    event.preventDefault();
    if (chosen < 0) chosen = ends.push([svg.viewBox.baseVal.width / 2, svg.viewBox.baseVal.height / 2]) - 1;
    const step = event.shiftKey ? COARSE_PX : STEP_PX;
    ends[chosen] = [ends[chosen][0] + arrow[0] * step, ends[chosen][1] + arrow[1] * step];
    redraw(ends[chosen]);
    void measure();
  });

  by("clear").addEventListener("click", clear);
  for (const button of document.querySelectorAll(".lengths button")) {
    button.addEventListener("click", () => {
      const mm = Number(/** @type {HTMLElement} */ (button).dataset.mm);
      input("true-length").value = String(Number((mm / scale()).toFixed(3)));
      lengthChanged();
    });
  }
  by("true-length").addEventListener("input", lengthChanged);
  by("thickness").addEventListener("input", () => void measure());
  let unit = scale();
  by("unit").addEventListener("change", () => {
    input("true-length").value = String(Number(((Number(input("true-length").value) * unit) / scale()).toFixed(3)));
    unit = scale();
    lengthChanged();
  });

  function scale() { return Number(input("unit").value); }

  function trueMm() { return Number(input("true-length").value) * scale(); }

  function reach() { return 18 / (svg.getScreenCTM()?.a ?? 1); }

  function lengthChanged() {
    for (const button of document.querySelectorAll(".lengths button")) {
      const same = Math.abs(Number(/** @type {HTMLElement} */ (button).dataset.mm) - trueMm()) < 0.01;
      button.setAttribute("aria-pressed", String(same));
    }
    void measure();
  }

  /** @type {(event: PointerEvent) => Point} */
  function place(event) {
    const matrix = svg.getScreenCTM();
    const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix?.inverse());
    return [at.x, at.y];
  }

  function clear() {
    [ends, chosen, dragging] = [[], -1, false];
    by("ruler-result").hidden = true;
    redraw(null);
  }

  /** @param {Point | null} looked */
  function redraw(looked) {
    const size = width / 70;
    const parts = ends.map(([x, y], number) => {
      const cross = `M${x - size} ${y}H${x + size}M${x} ${y - size}V${y + size}`;
      return element("g", { class: number === chosen ? "end chosen" : "end" }, [
        element("path", { class: "casing", d: cross }),
        element("path", { class: "ink", d: cross }),
        element("circle", { class: "reach", cx: x, cy: y, r: reach() }),
      ]);
    });
    if (ends.length === 2) {
      const line = { x1: ends[0][0], y1: ends[0][1], x2: ends[1][0], y2: ends[1][1] };
      parts.unshift(element("g", {}, [element("line", { class: "casing", ...line }), element("line", { class: "ink", ...line })]));
    }
    overlay.draw("ruler", [element("g", { class: "ruler" }, parts)]);
    by("clear").toggleAttribute("disabled", ends.length === 0);
    by("ruler-how").textContent = how();
    magnify(looked);
  }

  function how() {
    if (ends.length === 0) return "Lay a ruler anywhere on the table. Click its one end in the picture.";
    if (ends.length === 1) return "Click the other end.";
    return "Drag an end to place it exactly, or use the arrow keys (Shift: larger steps). The picture stands still meanwhile.";
  }

  /** Show what is around a place seven times as large. @param {Point | null} at */
  function magnify(at) {
    const pen = canvas.getContext("2d");
    canvas.hidden = at === null || image === null;
    if (at === null || image === null || pen === null) return;
    canvas.classList.toggle("aside", at[0] < width / 2);
    const span = canvas.width / MAGNIFIED;
    const pixels = image.naturalWidth / width;
    pen.fillStyle = "#0d1114";
    pen.fillRect(0, 0, canvas.width, canvas.height);
    pen.imageSmoothingEnabled = true;
    // A pixel's centre is at its whole number, and the image's edge half a pixel before the first.
    pen.drawImage(image, (at[0] + 0.5 - span / 2) * pixels, (at[1] + 0.5 - span / 2) * pixels, span * pixels, span * pixels, 0, 0, canvas.width, canvas.height);
    const middle = canvas.width / 2;
    for (const [colour, thick] of /** @type {[string, number][]} */ ([["#10171c", 4], ["#f0e442", 1.5]])) {
      pen.strokeStyle = colour;
      pen.lineWidth = thick;
      pen.beginPath();
      for (const [x, y] of [[1, 0], [-1, 0], [0, 1], [0, -1]]) {
        pen.moveTo(middle + 6 * x, middle + 6 * y);
        pen.lineTo(middle + middle * x, middle + middle * y);
      }
      pen.stroke();
    }
  }

  async function measure() {
    if (ends.length < 2) return;
    const number = ++asked;
    try {
      const body = { first_px: ends[0], second_px: ends[1], true_mm: trueMm(), height_mm: Number(input("thickness").value) };
      /** @type {Check} */
      const check = await send("ruler", body);
      if (number === asked && ends.length === 2) showCheck(check);
    } catch (error) {
      if (number === asked) complain(error instanceof Error ? error.message : String(error));
    }
  }

  /** @param {Check} check */
  function showCheck(check) {
    const result = by("ruler-result");
    const off = Math.abs(check.off_sigmas) > DOUBTFUL_SIGMAS;
    const [figure, words] = [document.createElement("b"), document.createElement("span")];
    figure.textContent = `off by ${signed(check.off_mm)} mm`;
    const verdict = off ? "more than it should be: is the ruler flat, and its thickness entered?" : "as good as it claims to be";
    words.textContent = `measured ${check.measured_mm.toFixed(2)} ± ${check.sigma_mm.toFixed(2)} mm; that is ${Math.abs(check.off_sigmas).toFixed(1)} σ, ${verdict}`;
    result.replaceChildren(figure, words);
    result.dataset.verdict = off ? "off" : "good";
    result.dataset.measuredMm = String(check.measured_mm);
    result.hidden = false;
    remember(check);
  }

  /** @param {Check} check */
  function remember(check) {
    const list = by("checks");
    const key = ends.length === 2 ? "current" : "";
    list.querySelector(`[data-key="${key}"]`)?.remove();
    const item = document.createElement("li");
    item.dataset.key = key;
    item.textContent = `${check.true_mm.toFixed(1)} mm: ${signed(check.off_mm)} ± ${check.sigma_mm.toFixed(2)} mm`;
    list.prepend(item);
  }

  by("clear").addEventListener("click", () => by("checks").querySelector("[data-key=current]")?.removeAttribute("data-key"));
  redraw(null);
  return {
    isLaid: () => ends.length > 0,
    picture: (shown) => { image = shown; },
    show(state) {
      width = state.width_px;
      by("tag-length").hidden = state.tag_size_mm === null;
      by("tag-length").dataset.mm = String(state.tag_size_mm);
      by("tag-length").textContent = `a tag's side: ${state.tag_size_mm}`;
      const now = state.stage === "done" && state.saved?.has_table === true;
      svg.classList.toggle("rules", now);
      if (active && !now) clear();
      active = now;
    },
  };
}
