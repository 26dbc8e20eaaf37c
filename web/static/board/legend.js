/** The legend beside a map: explains its shaded hexes and its other symbols, each as drawn. */
import { element, setAttr, setText, svgElement, updateChildren } from "../shared/dom.js";
import { word } from "./shapes.js";

/** @typedef {import("./state.js").Shape} Shape */
/** @typedef {import("./state.js").HexMap} HexMap */
/** @typedef {import("./state.js").Mark} Mark */
/** @typedef {{key: string, words: string, role?: string, inks?: {d: string, fill?: string, stroke?: string, width?: number, dash?: string}[]}} Meaning  of a role or a printed symbol, and how it is drawn */

/** The meanings of the roles of shaded hexes, in order. @type {Record<string, string>} */
const MEANINGS = {
  reach: "may go here",
  "reach-on": "with further steps",
  target: "target",
  withdrawal: "may retreat here",
  "field-of-view": "field of fire",
  "hex-front": "front",
  "hex-flank": "flank",
  "hex-rear": "rear",
  "zone-of-control": "zone of control",
};

/** A hex of a swatch. */
const HEX = "M8 1L14.5 4.7V12.3L8 16L1.5 12.3V4.7Z";
/** In swatches: a piece of a hexside or a path, and the blocks of secondary terrain. */
const LINE = "M0 8.5H16";
const BLOCKS = "M2 3h3v3H2ZM11 3h3v3H11ZM2 11h3v3H2ZM11 11h3v3H11Z";

/** The symbols of markers whose kind does not explain itself. @type {Partial<Record<Mark["kind"], NonNullable<Meaning["inks"]>[number]>>} */
const MARKERS = {
  ring: { d: "M2 8.5a6 6 0 0 0 12 0a6 6 0 0 0-12 0Z", stroke: "#a3001b", width: 2.5 },
  word: { d: "M2 8.5a6 6 0 0 0 12 0a6 6 0 0 0-12 0Z", fill: "#fff", stroke: "#10171c", width: 1 },
  pips: { d: "M4 8.5a4 4 0 0 0 8 0a4 4 0 0 0-8 0Z", fill: "#10171c" },
};

/** The colours of pips, as drawn on counters. @type {Record<string, string>} */
const PIPS = { warn: "#e07b00", bad: "#c40023" };

/** @type {() => HTMLElement} */
export function makeLegend() {
  const legend = element("ul");
  setAttr(legend, "class", "meanings");
  setAttr(legend, "aria-label", "What the shaded hexes mean");
  return legend;
}

/** Lists the roles of the drawn shapes, then the map's symbols; nothing without a map. @type {(legend: HTMLElement, shapes: Shape[], state: import("./state.js").State) => void} */
export function updateLegend(legend, shapes, { facts: { map }, marks }) {
  const drawn = new Set(shapes.filter(({ kind }) => kind === "polygon").map(({ role }) => role));
  const roles = map ? Object.keys(MEANINGS).filter((role) => drawn.has(role)) : [];
  /** @type {Meaning[]} */
  const meanings = roles.map((role) => ({ key: `role ${role}`, role, words: MEANINGS[role] }));
  updateChildren(
    legend,
    map ? [...meanings, ...printed(map, marks)] : [],
    ({ key }) => key,
    makeMeaning,
    updateMeaning,
  );
}

/** The symbols printed on a map, by kind, and the meanings of counters' markers. @type {(map: HexMap, marks: Mark[]) => Meaning[]} */
function printed({ terrain, lines, blocks }, marks) {
  /** @type {Map<string, Meaning>} */
  const kinds = new Map();
  const add = (/** @type {string} */ kind, /** @type {NonNullable<Meaning["inks"]>[number]} */ ink) => {
    const { inks = [] } = kinds.get(kind) ?? {};
    kinds.set(kind, { key: `printed ${kind}`, words: kind, inks: [...inks, ink] });
  };
  for (const { kind, colour } of terrain) add(kind, { d: HEX, fill: colour });
  for (const { kind, colour } of blocks) if (!kinds.has(kind)) add(kind, { d: BLOCKS, fill: colour });
  for (const { kind, colour, width_mm, dash_mm } of lines)
    add(kind, { d: LINE, stroke: colour, width: width_mm * 1.5, dash: dash_mm.map((mm) => mm * 1.5).join(" ") });
  for (const mark of marks) {
    const [ink, meaning] = [MARKERS[mark.kind], meaningOf(mark)];
    const fill = mark.kind === "pips" ? PIPS[mark.tone ?? "plain"] : undefined;
    if (ink && meaning && !kinds.has(meaning)) add(meaning, fill ? { ...ink, fill } : ink);
  }
  return [...kinds.values()];
}

/** The meaning of a marker, without its number; empty for a word that says it itself. @type {(mark: Mark) => string} */
function meaningOf({ kind, text, words = "" }) {
  if (kind !== "word") return text.replace(/^\d+ /, "");
  return words.includes(text) ? words.split(",")[0].replace(text, "").trim() : "";
}

/** @type {() => HTMLElement} */
function makeMeaning() {
  const row = element("li");
  const [swatch, shape] = [svgElement("svg", { viewBox: "0 0 16 17", "aria-hidden": "true" }), svgElement("g")];
  swatch.append(shape);
  row.append(swatch, element("span"));
  return row;
}

/** @type {(row: HTMLElement, meaning: Meaning) => void} */
function updateMeaning(row, { role, words, inks }) {
  const [swatch, text] = row.children;
  setText(text, words);
  const shape = swatch.children[0];
  if (shape.children.length) return;
  if (role) setAttr(shape, "class", `shape polygon role-${word(role)}`);
  const paths = inks?.map(({ d, fill = "none", stroke = "none", width = 0, dash = "" }) =>
    svgElement("path", { class: "printed", d, fill, stroke, "stroke-width": `${width}`, "stroke-dasharray": dash }),
  );
  const asShaded = ["casing", "ink"].map((name) => svgElement("path", { class: name, d: HEX }));
  shape.append(...(paths ?? asShaded));
}
