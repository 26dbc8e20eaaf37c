/**
 * The state of the rulings: whose round it is, which sections are shown, the disputes.
 *
 * @typedef {import("../board/state.js").Shape} Shape
 * @typedef {import("../board/state.js").Verdict & {margin_mm: number, sigma_mm: number, probability: number, rule: string, because: string, evidence: Shape[]}} RuleAnswer
 * @typedef {{id: string, text: string}} Question
 *
 * @typedef {object} Line  one statement
 * @property {string} text
 * @property {RuleAnswer | null} answer
 * @property {string | null} rule
 * @property {{rule: string, text: string} | null} reading  the interpretation of the rulebook that decided it
 * @property {Question | null} question
 *
 * @typedef {{key: string, title: string, lines: Line[] | null, shapes: Shape[]}} Section  without lines if it was not asked for
 * @typedef {{title: string, active: string, version: number, b?: string, sections: Section[], warnings: string[]}} Sheet  of a unit, or of a pair, which has a `b`
 *
 * @typedef {object} Dispute  as `/api/disputes` sends it
 * @property {number} number
 * @property {string} at  when, with its zone
 * @property {Question} question
 * @property {string} active
 * @property {RuleAnswer | null} answer
 * @property {Line} line
 * @property {string | null} picture  its address
 *
 * @typedef {"unit" | "pair"} SheetKind
 *
 * @typedef {import("../board/state.js").State & {rulings: Rulings}} State
 *
 * @typedef {object} Rulings
 * @property {string} active  the side whose round it is
 * @property {boolean} isFollowing  a game says whose round it is
 * @property {Record<SheetKind, string[]>} shown  the keys of the sections that are shown
 * @property {Sheet | null} sheet
 * @property {string} sheetOf  the key of the sheet: its units and all positions
 * @property {string | null} error
 * @property {Map<string, [number, number, number]>} stood  the last positions of bases that mattered
 * @property {string | null} proof  the only line whose evidence is drawn
 * @property {boolean} pinned  it stays when the pointer leaves
 * @property {string | null} filing  the question that is being filed as a dispute
 * @property {string | null} filingError
 * @property {Dispute[]} disputes  the newest last
 * @property {string} trouble  why some were not saved
 * @property {string | null} disputesError
 * @property {Dispute | null} open  the dispute in the dialog
 */
import { unitOf } from "../board/things.js";

/** The sections drawn at first; more would hide the units. */
const SHOWN_AT_FIRST = {
  unit: ["near_enemy", "fire", "enemies", "zone_of_control", "targets", "reach", "retreat_line"],
  pair: ["flank", "sight"],
};

/** @type {(facts: import("../board/state.js").TableFacts) => Rulings} */
export function newRulings(facts) {
  const active = loadSetting("active", facts.sides?.[0] ?? "");
  return {
    active: facts.sides?.includes(active) ? active : (facts.sides?.[0] ?? ""),
    isFollowing: false,
    shown: shownAtFirst(),
    sheet: null,
    sheetOf: "",
    error: null,
    stood: new Map(),
    proof: null,
    pinned: false,
    filing: null,
    filingError: null,
    disputes: [],
    trouble: "",
    disputesError: null,
    open: null,
  };
}

/** The sections that this browser showed last, or the default. @type {() => Record<SheetKind, string[]>} */
function shownAtFirst() {
  const { unit, pair } = loadSetting("sections", SHOWN_AT_FIRST);
  return {
    unit: Array.isArray(unit) ? unit : SHOWN_AT_FIRST.unit,
    pair: Array.isArray(pair) ? pair : SHOWN_AT_FIRST.pair,
  };
}

/** Forgets the sheet of other units. @type {(rulings: Rulings) => void} */
export function forgetSheet(rulings) {
  Object.assign(rulings, { sheet: null, sheetOf: "", error: null, proof: null, pinned: false, filingError: null });
}

/** The side after the one whose round it is. @type {(state: State) => string} */
export function nextSide({ facts, rulings }) {
  return facts.sides[(facts.sides.indexOf(rulings.active) + 1) % facts.sides.length] ?? "";
}

/** Sets whose round it is. @type {(rulings: Rulings, side: string) => void} */
export function setActive(rulings, side) {
  rulings.active = side;
  saveSetting("active", side);
}

/** Whether a sheet is about a unit or a pair. @type {(sheet: Sheet) => SheetKind} */
function kindOf(sheet) {
  return sheet.b === undefined ? "unit" : "pair";
}

/** The keys of the visible sections for one unit or two. @type {(rulings: Rulings, units: string[]) => string[]} */
export function shownKeys({ shown }, units) {
  return shown[units.length > 1 ? "pair" : "unit"];
}

/** Shows or hides a section. @type {(rulings: Rulings, key: string) => void} */
export function toggleSection(rulings, key) {
  if (!rulings.sheet) return;
  const kind = kindOf(rulings.sheet);
  const before = rulings.shown[kind];
  const shown = before.includes(key) ? before.filter((other) => other !== key) : [...before, key];
  rulings.shown = { ...rulings.shown, [kind]: shown };
  [rulings.proof, rulings.pinned] = [null, false];
  saveSetting("sections", rulings.shown);
}

/** The sections that are shown, in the sheet's order. @type {(rulings: Rulings) => Section[]} */
export function sectionsShown({ sheet, shown }) {
  return sheet ? sheet.sections.filter((section) => shown[kindOf(sheet)].includes(section.key)) : [];
}

/** The key of a line, which stays the same when a sheet is loaded again. @type {(section: Section, index: number) => string} */
export function lineKey(section, index) {
  return `${section.key} ${section.lines?.[index].question?.id ?? ""} ${index}`;
}

/** The lines that are shown, by their keys. @type {(rulings: Rulings) => Map<string, Line>} */
export function linesShown(rulings) {
  return new Map(
    sectionsShown(rulings).flatMap((section) =>
      (section.lines ?? []).map((line, index) => [lineKey(section, index), line]),
    ),
  );
}

/** Shows only one line's evidence while the pointer is there. @type {(rulings: Rulings, key: string | null) => void} */
export function glanceAt(rulings, key) {
  if (!rulings.pinned) rulings.proof = key;
}

/** Pins one line's evidence; the second time, unpins it. @type {(rulings: Rulings, key: string) => void} */
export function pin(rulings, key) {
  const isHeld = rulings.pinned && rulings.proof === key;
  [rulings.proof, rulings.pinned] = isHeld ? [null, false] : [key, true];
}

/** The question to dispute by default: that of the line being looked at, or the closest call. @type {(rulings: Rulings) => Question | null} */
export function defaultQuestion(rulings) {
  const lines = linesShown(rulings);
  const looked = rulings.proof === null ? undefined : lines.get(rulings.proof);
  if (looked?.question) return looked.question;
  const open = [...lines.values()].filter((line) => line.question);
  return (open.find((line) => line.answer?.answer === "too_close") ?? open[0])?.question ?? null;
}

/** @type {<T>(name: string, otherwise: T) => T} */
function loadSetting(name, otherwise) {
  try {
    return JSON.parse(localStorage.getItem(`tablecam-${name}`) ?? "null") ?? otherwise;
  } catch {
    return otherwise; // storage is forbidden, or another version wrote it
  }
}

/** @type {(name: string, value: unknown) => void} */
function saveSetting(name, value) {
  try {
    localStorage.setItem(`tablecam-${name}`, JSON.stringify(value));
  } catch {
    // Without storage the page begins with its defaults.
  }
}

/** Smaller moves of a base count as none; the camera's noise is well below. */
const STILL_MM = 0.5;
const STILL_DEG = 0.5;

/** The one or two units to ask rulings for. @type {(state: State) => string[]} */
export function chosenUnits(state) {
  if (!state.facts.rules) return [];
  const ids = state.chosen.map((thing) => unitOf(state, thing)?.id).filter((id) => id !== undefined);
  return [...new Set(ids)];
}

/** A text that changes whenever a sheet may change: its units, the round, the game, all positions. @type {(state: State) => string} */
export function sheetKey(state) {
  return [...chosenUnits(state), state.rulings.active, state.now?.game, ...positionKeys(state)].join(" ");
}

/** The positions of all bases and commanders, without moves too small to matter. @type {(state: State) => string[]} */
function positionKeys(state) {
  const { stood } = state.rulings;
  const bases = (state.now?.units ?? []).flatMap((unit) =>
    unit.bases.map((base) => ({ key: `${unit.id}/${base.name}`, ...base })),
  );
  const leaders = (state.now?.commanders ?? []).map(({ id, x_mm, y_mm }) => ({ key: id, heading_deg: 0, x_mm, y_mm }));
  return [...bases, ...leaders].map(({ key, x_mm, y_mm, heading_deg }) => {
    const before = stood.get(key);
    if (!before || hasMoved(before, [x_mm, y_mm, heading_deg])) stood.set(key, [x_mm, y_mm, heading_deg]);
    return `${key}:${stood.get(key)}`;
  });
}

/** @type {(before: [number, number, number], now: [number, number, number]) => boolean} */
function hasMoved(before, now) {
  const turned_deg = Math.abs(((now[2] - before[2] + 540) % 360) - 180);
  return Math.hypot(now[0] - before[0], now[1] - before[1]) > STILL_MM || turned_deg > STILL_DEG;
}

/** Whether the sheet is out of date. @type {(state: State) => boolean} */
export function isStale(state) {
  const { sheet, sheetOf } = state.rulings;
  return sheet !== null && (state.connection === "lost" || sheetOf !== sheetKey(state));
}

/** Applies the answer to a request for a sheet, unless other units are chosen by now. @type {(state: State, units: string[], text: string, answer: [Sheet | null, string | null]) => void} */
export function takeSheet(state, units, text, [sheet, error]) {
  if (chosenUnits(state).join() !== units.join()) return;
  state.rulings.error = error;
  if (!sheet) return;
  const known = new Map(state.rulings.sheet?.sections.map(({ key, lines }) => [key, lines]));
  // Sections not requested keep their lines until they are.
  const sections = sheet.sections.map((section) => ({
    ...section,
    lines: section.lines ?? known.get(section.key) ?? null,
  }));
  Object.assign(state.rulings, { sheet: { ...sheet, sections }, sheetOf: text });
}
