/** The rulings on the chosen units as sentences, in sections that can be shown or hidden. */
import { byId, element, makeButton, setAttr, setText, updateChildren } from "../shared/dom.js";
import { closedWords, isOpen } from "../board/measuring.js";
import { sideClass, sideName } from "../board/things.js";
import { chosenUnits, isStale, lineKey, sectionsShown } from "./state.js";
import { makeRuleNumber, updateRuleNumber } from "./rule_number.js";
import { badge, figuresWords, spokenWords } from "./words.js";

/** @typedef {import("./state.js").State} State */
/** @typedef {import("./state.js").Section} Section */
/** @typedef {import("./state.js").Line} Line */

/** How many sections have a key. */
const MOST_KEYS = 9;

/** Updates the rulings. @type {(state: State) => void} */
export function renderRulings(state) {
  if (!state.facts.rules) return;
  const { sheet } = state.rulings;
  renderRound(state);
  // While a unit is in hand, only its move matters.
  byId("rulings").hidden = Boolean(state.foreseen);
  byId("rulings").classList.toggle("in-game", state.isPlaying);
  const stale = isStale(state);
  byId("rulings").classList.toggle("stale", stale);
  setText(byId("rulings-state"), stateWords(state, stale));
  byId("rulings-hint").hidden = chosenUnits(state).length > 0 || closedWords(state) !== "";
  updateChildren(
    byId("rulings-warnings"),
    (sheet?.warnings ?? []).filter((warning) => !isExplained(state, warning)),
    String,
    () => element("li"),
    (row, text) => setText(row, text),
  );
  renderChips(state);
  const open = sectionsShown(state.rulings);
  updateChildren(
    byId("rulings-body"),
    open,
    (section) => section.key,
    makeSection,
    (node, section) => updateSection(node, section, state),
  );
}

/** Whether what is said of the chosen unit says it already. @type {(state: State, warning: string) => boolean} */
function isExplained({ about, chosen }, warning) {
  return chosen.length === 1 && (about?.lines ?? []).some((line) => warning.endsWith(`: ${line}`));
}

/** The state of the answers: loading, out of date, or failed. @type {(state: State, stale: boolean) => string} */
function stateWords(state, stale) {
  const { sheet, error, filing, filingError } = state.rulings;
  if (filingError) return filingError;
  if (filing) return "Saving the dispute …";
  if (stale && state.connection === "lost") return "No connection: this is the last known state.";
  if (chosenUnits(state).length && !isOpen(state, ...state.chosen)) return closedWords(state);
  if (error && chosenUnits(state).length) return `${error}${sheet ? " (The rulings below are older.)" : ""}`;
  if (stale) return "Updating …";
  return !sheet && chosenUnits(state).length ? "Asking …" : "";
}

/** Updates whose round it is: a choice, or as the game says. @type {(state: State) => void} */
function renderRound(state) {
  const { active } = state.rulings;
  const isFollowing = state.rulings.isFollowing;
  byId("round").hidden = isFollowing;
  byId("round-now").hidden = !isFollowing;
  setAttr(byId("round-now"), "class", `round-now ${sideClass(state, active)}`);
  setText(byId("round-now"), sideName(state, active));
  updateChildren(byId("round"), state.facts.sides, String, makeButton, (button, side) => {
    setAttr(button, "class", sideClass(state, side));
    setAttr(button, "data-side", side);
    setAttr(button, "aria-pressed", String(side === active));
    setText(button, sideName(state, side));
  });
}

/** @type {(state: State) => void} */
function renderChips(state) {
  const shown = sectionsShown(state.rulings);
  const numbered = (state.rulings.sheet?.sections ?? []).map((section, index) => ({ section, index }));
  updateChildren(
    byId("rulings-chips"),
    numbered,
    ({ section }) => section.key,
    makeChip,
    (chip, { section, index }) => {
      setAttr(chip, "data-section", section.key);
      setAttr(chip, "aria-pressed", String(shown.includes(section)));
      const { yes, close } = counts(section);
      const summary = [yes ? `${yes} yes` : "", close ? `${close} too close to call` : ""].filter(Boolean).join(", ");
      const key = index < MOST_KEYS ? ` (${index + 1})` : "";
      setAttr(chip, "title", [summary, `Show or hide${key}`].filter(Boolean).join(". "));
      setText(chip.children[0], index < MOST_KEYS ? String(index + 1) : "");
      setText(chip.children[1], section.title);
      setText(chip.children[2], [yes || "", close ? `≈ ${close}` : ""].filter(Boolean).join(" "));
      chip.classList.toggle("some", summary !== "");
      chip.classList.toggle("doubt", close > 0);
    },
  );
}

/** @type {() => HTMLElement} */
function makeChip() {
  const chip = makeButton();
  for (const tag of ["kbd", "span", "b"]) chip.append(document.createElement(tag));
  return chip;
}

/** The numbers of lines that say yes, and that are too close to call. @type {(section: Section) => {yes: number, close: number}} */
function counts({ lines }) {
  const answers = (lines ?? []).map((line) => line.answer?.answer);
  return {
    yes: answers.filter((answer) => answer === "yes").length,
    close: answers.filter((answer) => answer === "too_close").length,
  };
}

/** @type {() => HTMLElement} */
function makeSection() {
  return element("section", "h3", "ul");
}

/** @type {(node: HTMLElement, section: Section, state: State) => void} */
function updateSection(node, section, state) {
  setAttr(node, "class", `ruled section-${section.key}`);
  setText(node.children[0], section.title);
  const lines = (section.lines ?? []).map((line, index) => ({ line, key: lineKey(section, index) }));
  updateChildren(
    node.children[1],
    lines,
    ({ key }) => key,
    makeLine,
    (row, { line, key }) => updateLine(row, line, key, state),
  );
}

/** A line: its answer, its sentence (a button that pins its evidence), figures, reading, dispute. @type {() => HTMLElement} */
function makeLine() {
  const row = element("li", "b");
  const text = makeButton();
  text.className = "said";
  const figures = element("p", "span");
  figures.append(makeRuleNumber());
  // The sentence's name says these, too.
  for (const part of [row.children[0], figures.children[0]]) setAttr(part, "aria-hidden", "true");
  const dispute = makeButton();
  dispute.className = "dispute-open";
  setText(dispute, "Dispute");
  const reading = element("details", "summary", "p");
  setText(reading.children[0], "Interpretation");
  row.append(text, figures, dispute, reading);
  return row;
}

/** @type {(row: HTMLElement, line: Line, key: string, state: State) => void} */
function updateLine(row, line, key, state) {
  const { answer, reading, question } = line;
  const [mark, said, figures, dispute, note] = /** @type {HTMLElement[]} */ ([...row.children]);
  const { proof, pinned } = state.rulings;
  setAttr(row, "class", `ruling ${answer?.answer ?? "plain"}${proof === key ? " looked-at" : ""}`);
  setAttr(row, "data-line", key);
  mark.hidden = !answer;
  setText(mark, answer ? badge(answer) : "");
  setText(said, line.text);
  setAttr(said, "aria-label", spokenWords(line, state.facts));
  setAttr(said, "aria-pressed", String(pinned && proof === key));
  setAttr(said, "title", answer?.evidence.length ? "Show only this on the table" : "");
  setText(figures.children[0], answer ? figuresWords(answer, state.facts) : "");
  figures.hidden = !figures.children[0].textContent && !line.rule;
  updateRuleNumber(/** @type {HTMLElement} */ (figures.children[1]), line.rule, state.facts.about.rules);
  dispute.hidden = !question;
  setAttr(dispute, "data-question", question?.id ?? null);
  setAttr(dispute, "aria-label", question ? `Dispute: ${question.text}` : null);
  /** @type {HTMLButtonElement} */ (dispute).disabled = state.rulings.filing !== null;
  note.hidden = !reading;
  setText(note.children[1], reading ? `${reading.text} (${reading.rule})` : "");
}
