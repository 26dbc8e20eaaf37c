/** How long the ruler truly is: a figure in millimetres or inches, or one of the usual lengths. */

const SAME_MM = 0.01;

const by = (/** @type {string} */ id) => /** @type {HTMLElement} */ (document.getElementById(id));
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

  /** How high the ruler's upper side lies above the table. */
  get thickness_mm() {
    return Number(input("thickness").value);
  }

  /** Offer a printed tag's side as a length, where its size is known. @param {number | null} tag_size_mm */
  offerTag(tag_size_mm) {
    const button = by("tag-length");
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
