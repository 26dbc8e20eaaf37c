/** What the check with a ruler came to: the latest at large, those before it in a list. */

/** @typedef {import("./api.js").Check} Check */

const DOUBTFUL_SIGMAS = 3;

const by = (/** @type {string} */ id) => /** @type {HTMLElement} */ (document.getElementById(id));
const signed = (/** @type {number} */ value) => `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(2)}`;

/** Show a check; it takes the place of the one before while the ruler lies where it did. @param {Check} check */
export function showCheck(check) {
  const result = by("ruler-result");
  const isOff = Math.abs(check.off_sigmas) > DOUBTFUL_SIGMAS;
  const [figure, words] = [document.createElement("b"), document.createElement("span")];
  figure.textContent = `off by ${signed(check.off_mm)} mm`;
  const verdict = isOff ? "more than it should be: is the ruler flat, and its thickness entered?" : "as good as it claims to be";
  words.textContent = `measured ${check.measured_mm.toFixed(2)} ± ${check.sigma_mm.toFixed(2)} mm; that is ${Math.abs(check.off_sigmas).toFixed(1)} σ, ${verdict}`;
  result.replaceChildren(figure, words);
  result.dataset.verdict = isOff ? "off" : "good";
  result.dataset.measuredMm = String(check.measured_mm);
  result.hidden = false;
  addToList(check);
}

/** The ruler is taken up: its check stays in the list, and the next one is another. */
export function endCheck() {
  by("ruler-result").hidden = true;
  current()?.removeAttribute("data-key");
}

/** @param {Check} check */
function addToList(check) {
  current()?.remove();
  const item = document.createElement("li");
  item.dataset.key = "current";
  item.textContent = `${check.true_mm.toFixed(1)} mm: ${signed(check.off_mm)} ± ${check.sigma_mm.toFixed(2)} mm`;
  by("checks").prepend(item);
}

/** @returns {Element | null} */
function current() {
  return by("checks").querySelector("[data-key=current]");
}
