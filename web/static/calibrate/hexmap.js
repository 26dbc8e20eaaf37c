/** Fits a bought hex map: the middles of four of its hexes are clicked in the picture. */

import { byId, CLICK, svgElement } from "../shared/dom.js";
import { errorText } from "../shared/http.js";
import { send } from "./api.js";
import { Points } from "./points.js";

/** @typedef {import("./api.js").State} State */
/** @typedef {import("./api.js").MapFit} MapFit */
/** @typedef {import("./overlay.js").Overlay} Overlay */

export class HexMapFit {
  #asked = 0;
  /** The fit of the present points; null while there are too few. @type {MapFit | null} */
  #fit = null;

  /** @param {SVGSVGElement} svg @param {import("./magnifier.js").Magnifier} magnifier @param {Overlay} overlay @param {(message: string) => void} complain @param {() => void} changed  called when there is something else to say */
  constructor(svg, magnifier, overlay, complain, changed) {
    this.overlay = overlay;
    this.complain = complain;
    this.changed = changed;
    this.hexes = new Points(svg, magnifier, 4, (isAtRest) => {
      this.#redraw();
      if (isAtRest) void this.#ask();
    });
    byId("hexmap-begin").addEventListener("click", () => {
      this.hexes.activate(!this.hexes.isActive);
      this.#redraw();
    });
    byId("hexmap-clear").addEventListener("click", () => this.hexes.clear());
    byId("hexmap-copy").addEventListener("click", () => this.#copy());
    for (const input of this.#inputs)
      input.addEventListener("input", () => {
        this.#redraw();
        void this.#ask();
      });
  }

  /** Whether clicks place hexes. */
  get isActive() {
    return this.hexes.isActive;
  }

  /** Whether a hex is placed; the picture stands still then. */
  get isLaid() {
    return this.hexes.all.length > 0;
  }

  /** What to do next. */
  get say() {
    const next = this.#inputs[this.hexes.all.length];
    if (next) return `${CLICK} the middle of hex ${next.value}`;
    if (this.#fit === null) return "One moment";
    return this.#fit.problem ? "This does not fit: see which hex is off" : "The map fits: copy its section";
  }

  /** @param {State} state */
  show(state) {
    const isPossible = state.stage === "done" && state.saved?.has_table === true && state.hexes.length > 0;
    byId("hexmap-panel").hidden = !isPossible;
    if (!isPossible) this.hexes.activate(false);
    this.#inputs.forEach((input, number) => {
      if (input.value === "" && document.activeElement !== input) input.value = state.hexes[number] ?? "";
    });
  }

  /** @returns {HTMLInputElement[]} */
  get #inputs() {
    return [.../** @type {NodeListOf<HTMLInputElement>} */ (byId("hexmap-hexes").querySelectorAll("input"))];
  }

  #redraw() {
    const { isActive, isLaid } = this;
    const count = this.hexes.all.length;
    if (count < 4) this.#fit = null;
    const words = this.#inputs.map((input) => input.value);
    this.overlay.draw("hexmap", [svgElement("g", { class: "ruler" }, this.hexes.drawn(words))]);
    byId("hexmap-begin").setAttribute("aria-pressed", String(isActive));
    byId("hexmap-clear").toggleAttribute("disabled", !isLaid);
    byId("hexmap-body").hidden = !isActive;
    [...byId("hexmap-hexes").children].forEach((row, number) => {
      row.classList.toggle("next", isActive && number === count);
      const residual = this.#fit?.residuals[number];
      row.classList.toggle("odd", residual?.is_off ?? false);
      row.children[1].textContent = residual
        ? `${residual.off_mm.toFixed(2)} mm off, ${residual.share.toFixed(3)} of a hex`
        : number < count
          ? "placed"
          : "";
    });
    const result = byId("hexmap-result");
    result.hidden = this.#fit === null;
    result.dataset.verdict = this.#fit?.problem ? "off" : "good";
    byId("hexmap-problem").textContent = this.#fit?.problem ?? "";
    byId("hexmap-better").textContent = this.#fit?.better ?? "";
    byId("hexmap-section").textContent = this.#fit?.section ?? "";
    byId("hexmap-done").hidden = !this.#fit?.section;
    document.body.classList.toggle("fits-map", isActive);
    this.changed();
  }

  async #ask() {
    if (this.hexes.all.length < 4) return;
    const number = ++this.#asked;
    try {
      const taps = this.hexes.all.map((at_px, place) => ({ hex: this.#inputs[place].value.trim(), at_px }));
      const fit = await send("hexmap", { taps });
      if (number !== this.#asked || this.hexes.all.length < 4) return;
      this.#fit = fit;
    } catch (error) {
      if (number !== this.#asked) return;
      this.#fit = null;
      this.complain(errorText(error));
    }
    this.#redraw();
  }

  async #copy() {
    try {
      await navigator.clipboard.writeText(this.#fit?.section ?? "");
    } catch {
      // Without the clipboard it can be copied by hand.
      getSelection()?.selectAllChildren(byId("hexmap-section"));
      return;
    }
    byId("hexmap-copy").textContent = "Copied";
  }
}
