/** Puts answers of the rulebook into words. */
import { amount } from "../board/measuring.js";

/** @typedef {import("./state.js").RuleAnswer} RuleAnswer */

/** Words of the answers; a sign beside each makes them clear without colours. */
const BADGES = { yes: "✓ yes", no: "✗ no", too_close: "≈ too close" };
const LARGE = { yes: "Yes", no: "No", too_close: "Too close to call" };

/** @type {(answer: RuleAnswer) => string} */
export function badge({ answer }) {
  return BADGES[answer];
}

/** @type {(answer: RuleAnswer) => string} */
export function largeAnswer({ answer }) {
  return LARGE[answer];
}

/** Margin and probability of an answer; in the game's unit with the table's facts, else in mm as on proofs. @type {(answer: RuleAnswer, facts?: import("../board/state.js").TableFacts, likely?: string) => string} */
export function figuresWords(answer, facts, likely = "likely") {
  return [marginWords(answer, facts), chanceWords(answer, likely)].filter(Boolean).join(" · ");
}

/** A ruling in one go, as a screen reader reads it: answer, sentence, margin, rule. @type {(line: import("./state.js").Line, facts: import("../board/state.js").TableFacts) => string} */
export function spokenWords({ text, answer, rule }, facts) {
  const parts = [answer ? largeAnswer(answer) : "", text, answer ? figuresWords(answer, facts) : "", rule ?? ""];
  return parts
    .filter(Boolean)
    .map((part) => part.replace(/\.$/, ""))
    .join(". ");
}

/** The margin of an answer, with as many digits as are significant. @type {(answer: RuleAnswer, facts?: import("../board/state.js").TableFacts) => string} */
function marginWords({ answer, margin_mm, sigma_mm }, facts) {
  if (Math.abs(margin_mm) >= 10_000) return ""; // nothing is within reach
  if (margin_mm === 0 && answer !== "too_close") return ""; // no distance decides
  if (answer === "no" && margin_mm > 0) return ""; // something other than a distance forbids it
  // Far from the limit, the length suffices.
  const isFar = facts && answer !== "too_close" && Math.abs(margin_mm) >= facts.about.unit.size_mm;
  if (isFar) return "";
  if (facts && Math.abs(margin_mm) < 0.05) return ""; // it would read as 0.0
  if (facts) return `${margin_mm < 0 ? "fails" : "holds"} by ${amount(facts, margin_mm, sigma_mm)}`;
  const digits = sigma_mm > 0 && sigma_mm < 0.1 ? 2 : 1;
  const by = `${margin_mm < 0 ? "fails" : "holds"} by ${Math.abs(margin_mm).toFixed(digits)}`;
  return `${by}${sigma_mm > 0 ? ` ± ${sigma_mm.toFixed(digits)}` : ""} mm`;
}

/** The probability of an answer, if it says more than the answer. @type {(answer: RuleAnswer, likely?: string) => string} */
function chanceWords({ probability }, likely = "likely") {
  if (probability >= 0.9995 || probability <= 0.0005) return "";
  return `${(100 * probability).toFixed(probability > 0.99 || probability < 0.01 ? 1 : 0)} % ${likely}`;
}

/** The certainty of an answer as a sentence. @type {(answer: RuleAnswer) => string} */
export function sureWords(answer) {
  const chance = chanceWords(answer);
  if (answer.answer === "too_close")
    return `The camera cannot honestly decide this${chance && ` (${chance} to be yes)`}: agree, or roll for it.`;
  return chance ? `By the measurement, yes is ${chance}.` : "As certain as the camera can be.";
}
