/** The log lines of a recording, each with its rule and its drawing. */
import { sentence } from "../shared/text.js";
import { cornersOf } from "../board/shapes.js";
import { badge, figuresWords } from "../rulings/words.js";
import { isEventAbout, isOverruled } from "./film.js";

/** @typedef {import("./film.js").Film} Film */
/** @typedef {import("./film.js").Entry} Entry */
/** @typedef {import("../board/state.js").Shape} Shape */

/**
 * @typedef {object} Line
 * @property {number} at  the place of its entry
 * @property {string} key
 * @property {string} kind  of its event, or of its entry
 * @property {string} text
 * @property {string} note
 * @property {string} rule
 * @property {import("../game/state.js").Cast | null} dice
 * @property {Shape[]} evidence
 * @property {(id: string) => boolean} isAbout
 */

/** The lines of a film from an entry on. @type {(film: Film, from?: number) => Line[]} */
export function linesOf(film, from = 0) {
  return film.entries.slice(from).flatMap((entry, index) => linesOfEntry(film, entry, from + index));
}

/** @type {(film: Film, entry: Entry, at: number) => Line[]} */
function linesOfEntry(film, entry, at) {
  const line = (/** @type {Partial<Line> & {text: string}} */ given) => ({
    at,
    key: `${at}`,
    kind: entry.kind,
    note: "",
    rule: "",
    dice: null,
    evidence: [],
    isAbout: (/** @type {string} */ id) => entry.unit === id,
    ...given,
  });
  if (entry.undoes?.length) return [line({ kind: "undo", text: `${count(entry.undoes.length, "action")} taken back` })];
  if (entry.kind === "deed") return (entry.events ?? []).map((event, index) => lineOfEvent(event, at, index));
  if (entry.kind === "play") return [line({ text: "A game begins." })];
  // A legal move has a line of its own once it is confirmed.
  if (entry.kind === "ruling" && entry.answer?.answer === "yes" && !entry.text?.endsWith("?")) return [];
  if (entry.kind === "ruling")
    return [
      line({
        text: rulingWords(entry),
        note: figuresOf(film, entry.answer),
        rule: entry.answer?.rule ?? "",
        evidence: [...(entry.answer?.evidence ?? []), ...ghostOf(entry)],
      }),
    ];
  if (entry.kind === "dispute") return [disputed(film, entry, line)];
  if (entry.kind === "notice") return [line({ text: entry.text ?? "" })];
  if (entry.kind === "move") return [line({ text: `${entry.unit} is moved by hand.` })];
  return [];
}

/** @type {(event: import("./film.js").Event, at: number, index: number) => Line} */
function lineOfEvent(event, at, index) {
  const { kind, text, rule, evidence, note, dice } = event;
  return {
    at,
    key: `${at} ${index}`,
    kind: isOverruled(event) ? "overrule" : kind,
    text: sentence(text),
    note: note ?? "",
    rule: rule ?? "",
    dice: dice ?? null,
    evidence,
    isAbout: (id) => isEventAbout(event, id),
  };
}

/** @type {(entry: Entry) => string} */
function rulingWords({ unit = "", text, answer }) {
  const said = text ?? answer?.because ?? "";
  const isAsked = said.endsWith("?"); // a statement already contains its answer
  const because = answer?.answer === "no" ? (answer.because ?? "") : "";
  // Some statements say what was moved and must be put back, and need no more words.
  const why = isAsked || because === said ? "" : because.replace(`${said}: `, "");
  const refused = why ? `${said}, refused: ${why}` : said;
  return `${said.startsWith(unit) ? "" : `${unit}: `}${sentence(refused)}${answer && isAsked ? ` (${badge(answer)})` : ""}`;
}

/** @type {(film: Film, answer: Entry["answer"]) => string} */
function figuresOf({ facts }, answer) {
  return answer ? figuresWords(answer, facts ?? undefined) : "";
}

/** The place where a move would have been legal. @type {(entry: Entry) => Shape[]} */
function ghostOf({ ghost = [] }) {
  return ghost.map((base, index) => ({
    kind: "polygon",
    role: "goal",
    points_mm: cornersOf(base),
    label: index ? "" : "legal",
  }));
}

/** @type {(film: Film, entry: Entry, line: (given: Partial<Line> & {text: string}) => Line) => Line} */
function disputed(film, { dispute }, line) {
  const { question, answer, active } = dispute ?? {};
  const because = answer?.because ? ` ${sentence(answer.because)}` : "";
  return line({
    text: `Disputed: ${question?.text ?? ""} ${answer ? `${badge(answer)}.` : ""}${because}`,
    note: [figuresOf(film, answer), active && `${film.facts?.side_names[active] ?? active} side active`]
      .filter(Boolean)
      .join(" · "),
    rule: answer?.rule ?? "",
    evidence: answer?.evidence ?? [],
  });
}

/** @type {(number: number, word: string) => string} */
function count(number, word) {
  return `${number} ${word}${number === 1 ? " is" : "s are"}`;
}

/** A time of the recording: `1:02:03`. @type {(seconds: number) => string} */
export function clock(seconds) {
  const whole = Math.floor(seconds);
  const [h, m, s] = [Math.floor(whole / 3600), Math.floor((whole % 3600) / 60), whole % 60];
  return h ? `${h}:${two(m)}:${two(s)}` : `${m}:${two(s)}`;
}

/** @type {(number: number) => string} */
function two(number) {
  return String(number).padStart(2, "0");
}
