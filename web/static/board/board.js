/**
 * The table as one SVG. Its viewBox is in millimetres; its outer group carries the y-flip (and the
 * side from which the player looks), so that everything inside is in the table frame.
 */
import { each, make, put, style, write } from "../shared/dom.js";
import { renderGameBoard } from "../game/overlay.js";
import { groundShown } from "../game/terrain.js";
import { markerWords } from "../game/words.js";
import { renderProof } from "../rulings/overlay.js";
import { addLine, fadedBy, makeText, placeText, through, updateBases, updateShapes, word } from "./shapes.js";
import { placeOf, sideName, sideNumber, split, titleOf, unitOf } from "./things.js";
import { boardMatrix, short, viewBox } from "./view.js";

/** @typedef {import("./state.js").State} State */
/** @typedef {import("./state.js").Base} Base */
/** @typedef {import("./state.js").Unit} Unit */
/** @typedef {import("./state.js").Commander} Commander */
/** @typedef {import("./state.js").Tape} Tape */
/** @typedef {import("./state.js").Point} Point */

const LAYERS = ["ground", "picture", "terrain", "about", "beneath", "units", "commanders", "proof", "game", "names", "markers", "results", "placing", "tapes", "ghost", "handle"];

/** How far before a unit's middle its turning handle is, on the screen. */
export const HANDLE_PX = 64;

/** Below this scale a table is drawn with fewer words. */
const FAR_PX_PER_MM = 0.55;

/** What lies nearer touches for a player's eyes: a length of nothing would be written over both names. */
const TOUCHING_BW = 0.03;

/** Prepare a drawing; the function that brings it up to date. @type {(svg: SVGSVGElement) => (state: State) => void} */
export function createBoard(svg) {
  const table = make("g", { class: "table-frame" });
  /** @type {Record<string, SVGElement>} */
  const layers = {};
  for (const name of LAYERS) table.append((layers[name] = make("g", { class: `layer ${name}` })));
  svg.append(table);
  return (state) => {
    placeView(svg, table, state);
    renderGround(layers, state);
    renderUnits(layers, state);
    renderAbout(layers.about, state);
    renderProof(layers, state);
    renderGameBoard(layers, state);
    renderTapes(layers.tapes, state);
    renderGhost(layers, state);
  };
}

/** @type {(svg: SVGSVGElement, table: SVGElement, state: State) => void} */
function placeView(svg, table, state) {
  const matrix = boardMatrix(state.facts, state.view.turn);
  put(svg, "viewBox", viewBox(state.view));
  put(svg, "data-version", String(state.now?.version ?? ""));
  put(table, "transform", `matrix(${matrix.join(" ")})`);
  style(svg, "--px", `${short(1 / state.view.px_per_mm)}px`);
  style(svg, "--upright", `matrix(${matrix.slice(0, 4).join(", ")}, 0, 0)`);
  const shown = { picture: state.show.picture && state.pictureUrl !== null, names: state.show.names };
  const far = state.view.px_per_mm < FAR_PX_PER_MM;
  const classes = { ...shown, far, moving: state.moving, lifting: Boolean(state.ghost && !state.ghost.sent), measuring: state.chosen.length === 2 };
  for (const [name, on] of Object.entries(classes)) svg.classList.toggle(name, on);
}

/** @type {(layers: Record<string, SVGElement>, state: State) => void} */
function renderGround(layers, state) {
  const { width_mm, depth_mm } = state.facts;
  const all = (/** @type {string} */ tag) => () => make(tag, { width: String(width_mm), height: String(depth_mm) });
  each(layers.ground, ["ground"], String, all("rect"), () => {});
  // The picture's top row is y = depth: it is flipped back where everything is flipped.
  const urls = state.show.picture && state.pictureUrl ? [state.pictureUrl] : [];
  each(layers.picture, urls, () => "picture", all("image"), (image, url) => {
    put(image, "href", url);
    put(image, "transform", `translate(0 ${short(depth_mm)}) scale(1 -1)`);
    put(image, "preserveAspectRatio", "none");
  });
  style(layers.picture, "--strength", String(state.show.strength));
  const pieces = state.show.terrain ? groundShown(state) : [];
  each(layers.terrain, pieces, (piece) => piece.id, makeTerrain, (group, piece) => {
    put(group, "class", `piece kind-${word(piece.kind)}${state.game.laying.chosen === piece.id ? " chosen-piece" : ""}`);
    put(group.children[0], "d", through(piece.outline_mm, true));
    placeText(group.children[1], piece.id, centreOf(piece.outline_mm));
  });
}

/** @type {() => SVGElement} */
function makeTerrain() {
  const group = make("g");
  group.append(make("path"), makeText("terrain-name"));
  return group;
}

/** @type {(outline_mm: Point[]) => Point} */
function centreOf(outline_mm) {
  const sum = outline_mm.reduce((a, b) => [a[0] + b[0], a[1] + b[1]]);
  return [sum[0] / outline_mm.length, sum[1] / outline_mm.length];
}

/** @type {(layers: Record<string, SVGElement>, state: State) => void} */
function renderUnits(layers, state) {
  const units = state.now?.units ?? [];
  const commanders = state.now?.commanders ?? [];
  each(layers.units, units, (unit) => unit.id, makeChoice, (group, unit) => updateUnit(group, unit, state));
  each(layers.commanders, commanders, (c) => c.id, makeChoice, (group, c) => updateCommander(group, c, state));
  const named = [...units, ...commanders];
  each(layers.names, named, (each) => each.id, makeName, (group, each) => updateName(group, each, state));
}

/** Something that can be chosen by pointer or keyboard. @type {() => SVGElement} */
function makeChoice() {
  return make("g", { role: "button", tabindex: "0" });
}

/** What players call a unit in full: its id, and its name where the table file gives one. @type {(state: State, id: string) => string} */
export function fullName(state, id) {
  const name = state.facts.units.find((unit) => unit.id === id)?.extra.name;
  return name === undefined ? id : `${id} ${name}`;
}

/** @type {(group: SVGElement, unit: Unit, state: State) => void} */
function updateUnit(group, unit, state) {
  const thing = `unit:${unit.id}`;
  const lifted = state.ghost?.unit === unit.id ? " lifted" : "";
  put(group, "class", `unit side-${sideNumber(state, unit.side) % 8} ${marks(state, thing)}${lifted}`);
  put(group, "data-thing", thing);
  put(group, "aria-label", describeUnit(state, unit));
  put(group, "aria-pressed", String(state.chosen.includes(thing)));
  const marksOf = (/** @type {Base} */ base) => marks(state, `base:${base.name}`);
  updateBases(group, unit.bases, { arm: unit.arm, uncertainty: state.show.uncertainty, marksOf });
}

/** @type {(group: SVGElement, commander: Commander, state: State) => void} */
function updateCommander(group, commander, state) {
  const thing = `commander:${commander.id}`;
  put(group, "class", `commander side-${sideNumber(state, commander.side) % 8} ${marks(state, thing)}`);
  put(group, "data-thing", thing);
  put(group, "aria-label", `${commander.id}, commander, ${sideName(state, commander.side)}${heldWords(commander.held_s)}`);
  put(group, "aria-pressed", String(state.chosen.includes(thing)));
  const { x_mm, y_mm, sigma_mm, seen, held_s } = commander;
  const point = { x_mm, y_mm, sigma_mm, seen, held_s, heading_deg: 0, width_mm: 24, depth_mm: 24, sigma_deg: 0 };
  updateBases(group, [commander.base ?? point], { arm: "leader", uncertainty: state.show.uncertainty });
}

/** @type {(state: State, thing: string) => string} */
function marks(state, thing) {
  const at = state.chosen.indexOf(thing);
  const hovered = state.hover === thing ? "hovered" : "";
  return at >= 0 ? `chosen chosen-${at === 0 ? "first" : "second"} ${hovered}`.trim() : hovered;
}

/** @type {() => SVGElement} */
function makeName() {
  const group = makeText("name");
  addLine(group, "held-for", "1.6em");
  return group;
}

/** @type {(group: SVGElement, owner: Unit | Commander, state: State) => void} */
function updateName(group, owner, state) {
  const held_s = longestHeld(owner);
  const leader = "bases" in owner ? "" : " of-commander";
  put(group, "class", `placed named side-${sideNumber(state, owner.side) % 8}${leader}${held_s === null ? "" : " held"}`);
  placeText(group, owner.id, [owner.x_mm, owner.y_mm]);
  style(group, "--faded", String(fadedBy(held_s)));
  write(group.children[1], isDoubted(owner) ? "seen twice" : held_s === null ? "" : `held ${duration(held_s)}`);
}

/** Whether a tag of it is seen at two places. @type {(owner: Unit | Commander) => boolean} */
function isDoubted(owner) {
  const bases = "bases" in owner ? owner.bases : [owner.base];
  return bases.some((base) => base?.doubted);
}

/** @type {(owner: Unit | Commander) => number | null} */
function longestHeld(owner) {
  const all = "bases" in owner ? owner.bases : [owner];
  const held = all.filter((each) => each.seen === "held").map((each) => each.held_s ?? 0);
  return held.length ? Math.max(...held) : null;
}

/** A time as players say it. @type {(seconds: number) => string} */
export function duration(seconds) {
  return seconds < 90 ? `${Math.floor(seconds)} s` : `${Math.floor(seconds / 60)} min`;
}

/** @type {(state: State, unit: Unit) => string} */
function describeUnit(state, unit) {
  const formation = unit.formation ? `, ${unit.formation}` : "";
  const markers = markerWords(state.game.told?.markers?.[unit.id]);
  return `${fullName(state, unit.id)}, ${sideName(state, unit.side)} ${unit.arm}${formation}${markers && `, ${markers}`}${heldWords(longestHeld(unit))}`;
}

/** @type {(held_s: number | null) => string} */
function heldWords(held_s) {
  return held_s === null ? "" : ", held: hidden now";
}

/** What explains a thing; beside rulings, no more than the lines of one unit; beside one proof, nothing. @type {(layer: SVGElement, state: State) => void} */
function renderAbout(layer, state) {
  const { sheet, proof } = state.rulings;
  const shapes = sheet?.b === undefined && proof === null ? (state.about?.shapes ?? []) : [];
  updateShapes(layer, sheet ? shapes.filter(({ role }) => role !== "ring") : shapes, state);
  const side = state.chosen.length ? unitOf(state, state.chosen[0])?.side : undefined;
  put(layer, "class", `layer about ${side === undefined ? "" : `side-${sideNumber(state, side) % 8}`}`);
}

/** @type {(layer: SVGElement, state: State) => void} */
function renderTapes(layer, state) {
  const tapes = state.tape ? [...state.kept, state.tape] : state.kept;
  each(layer, tapes, tapeKey, makeTape, (group, tape) => updateTape(group, tape, state));
}

/** @type {(tape: Tape) => string} */
function tapeKey(tape) {
  return tape.kept ? `${tape.a} ${tape.b}` : "now";
}

/** @type {() => SVGElement} */
function makeTape() {
  const group = make("g");
  group.append(make("path", { class: "casing" }), make("path", { class: "ink" }), make("path", { class: "ends" }));
  const text = makeText("reading", "-0.55em");
  addLine(text, "reading-mm", "0.75em");
  group.append(text);
  return group;
}

/** @type {(group: SVGElement, tape: Tape, state: State) => void} */
function updateTape(group, tape, state) {
  const measured = tape.measured;
  const settled = tape.kept || state.chosen.includes(tape.b);
  const kind = tape.kept ? "kept" : settled ? "settled" : "preview";
  put(group, "class", measured && measured.distance_bw < TOUCHING_BW ? `tape ${kind} touching` : `tape ${kind}`);
  put(group, "data-ends", `${tape.a} ${tape.b}`);
  const ends = measured ? [measured.from_mm, measured.to_mm] : [];
  const way = measured?.path?.points_mm ?? ends;
  for (const child of [0, 1]) put(group.children[child], "d", through(way, false));
  put(group.children[2], "d", ends.map((end) => through([end, end], false)).join(""));
  const [a, b] = measured ? ends : [[0, 0], [0, 0]];
  placeText(group.children[3], measured ? `${measured.distance_bw.toFixed(2)} BW` : "", [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2]);
  write(group.children[3].children[1], measured ? lengthWords(measured) : "");
}

/** A length and its standard deviation, to the digits that mean something. @type {(measured: import("./state.js").Measured) => string} */
export function lengthWords({ distance_mm, sigma_mm }) {
  const digits = sigma_mm < 0.1 ? 2 : 1;
  return `${distance_mm.toFixed(digits)} ± ${sigma_mm.toFixed(digits)} mm`;
}

/** @type {(layers: Record<string, SVGElement>, state: State) => void} */
function renderGhost(layers, state) {
  const ghost = state.ghost;
  const bases = ghost ? ghost.from.bases : [];
  put(layers.ghost, "class", `layer ghost ${ghost ? `side-${sideNumber(state, ghost.from.side) % 8}` : ""} ${ghost?.sent ? "sent" : ""}`);
  if (ghost) {
    const { from } = ghost;
    const turned = short(ghost.heading_deg - from.heading_deg);
    put(layers.ghost, "transform", `translate(${short(ghost.x_mm)} ${short(ghost.y_mm)}) rotate(${turned}) translate(${short(-from.x_mm)} ${short(-from.y_mm)})`);
  }
  const now = bases.map((base) => ({ ...base, seen: /** @type {"now"} */ ("now"), held_s: null }));
  updateBases(layers.ghost, now, { arm: ghost?.from.arm ?? "", uncertainty: 0 });
  renderHandle(layers.handle, state);
}

/** @type {(layer: SVGElement, state: State) => void} */
function renderHandle(layer, state) {
  const place = handlePlace(state);
  each(layer, place ? [place] : [], () => "handle", makeHandle, (group, at) => {
    const reach = HANDLE_PX / state.view.px_per_mm;
    put(group, "transform", `translate(${short(at.x_mm)} ${short(at.y_mm)}) rotate(${short(at.heading_deg)})`);
    put(group.children[0], "d", `M0 0H${short(reach)}`);
    put(group.children[1], "cx", short(reach));
    put(group.children[2], "cx", short(reach));
  });
}

/** @type {() => SVGElement} */
function makeHandle() {
  const group = make("g", { class: "turning", "data-handle": "turn" });
  group.append(make("path"), make("circle", { class: "grip" }), make("circle", { class: "reach" }));
  return group;
}

/** The unit that its handle turns: the one that is chosen alone, or in hand. @type {(state: State) => {unit: string, x_mm: number, y_mm: number, heading_deg: number} | null} */
export function handlePlace(state) {
  if (!state.moving) return null;
  if (state.ghost) return state.ghost.sent ? null : state.ghost;
  const unit = state.chosen.length === 1 ? unitOf(state, state.chosen[0]) : undefined;
  return unit ? { unit: unit.id, x_mm: unit.x_mm, y_mm: unit.y_mm, heading_deg: unit.heading_deg } : null;
}

/** Words for what is chosen. @type {(state: State, thing: string) => string} */
export function pointWords(state, thing) {
  const place = placeOf(thing);
  if (!place) return titleOf(state, thing);
  return `the point ${place.map((mm) => Math.round(mm)).join(", ")} ${split(thing)[0] === "point" ? "mm" : ""}`.trim();
}
