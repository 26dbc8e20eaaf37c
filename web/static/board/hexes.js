/** Draws a printed hex map: its ground, its lines and the numbers of its hexes; and finds stacks on it. */
import { setAttr, svgElement, updateChildren } from "../shared/dom.js";
import { makeText, placeText, through } from "./shapes.js";

/** @typedef {import("./state.js").State} State */
/** @typedef {import("./state.js").Point} Point */
/** @typedef {import("./state.js").HexMap} HexMap */

/** From this size on the screen, hexes have room for their numbers. */
const NUMBER_PX = 34;
/** Where a number stands in its hex: so far above its middle, as a share of its size. */
const NUMBER_UP = 0.37;

/** @typedef {{key: string, name: string, d: string, colour?: string, width_mm?: number}} Line */

/** The paths of a map, which never change. @type {WeakMap<HexMap, Line[]>} */
const drawn = new WeakMap();

/** @type {(layer: SVGElement, state: State) => void} */
export function renderHexes(layer, state) {
  const { map } = state.facts;
  if (!map) return;
  if (!layer.children.length) layer.append(svgElement("g"), svgElement("g"));
  const [printed, boxes] = /** @type {SVGElement[]} */ ([...layer.children]);
  const groups = state.show.terrain ? [map] : [];
  updateChildren(printed, groups, () => "map", makeMap, updateMap);
  const [x_mm, y_mm] = state.now?.hexes?.shift_mm ?? [0, 0];
  setAttr(printed, "transform", `translate(${x_mm} ${y_mm})`);
  updateChildren(boxes, state.now?.hexes?.boxes ?? [], ({ id }) => id, makeBox, updateBox);
  const isNear = map.size_mm * state.view.px_per_mm >= NUMBER_PX;
  layer.classList.toggle("numbered", isNear);
}

/** @type {() => SVGElement} */
function makeBox() {
  const group = svgElement("g");
  const path = svgElement("path");
  setAttr(path, "class", "hex-box");
  group.append(path, makeText("hex-box-name"));
  return group;
}

/** @type {(group: SVGElement, box: import("./state.js").HexBox) => void} */
function updateBox(group, { id, hexes, corners_mm }) {
  setAttr(group.children[0], "d", through(corners_mm, true));
  const [[left_mm, low_mm], [right_mm, high_mm]] = [corners_mm[0], corners_mm[2]];
  const words = hexes ? `${id}: ${hexes}` : `${id}: free`;
  // Counters may lie in one that is not free.
  const y_mm = hexes ? high_mm + 3 : (low_mm + high_mm) / 2;
  placeText(/** @type {SVGElement} */ (group.children[1]), words, [(left_mm + right_mm) / 2, y_mm]);
}

/** @type {() => SVGElement} */
function makeMap() {
  const group = svgElement("g");
  group.append(svgElement("g"), svgElement("g"));
  return group;
}

/** @type {(group: SVGElement, map: HexMap) => void} */
function updateMap(group, map) {
  // Drawn once: nothing of a printed map changes.
  if (group.children[0].children.length) return;
  updateChildren(
    group.children[0],
    linesOf(map),
    ({ key }) => key,
    () => svgElement("path"),
    (path, { name, d, colour, width_mm }) => {
      setAttr(path, "class", name);
      setAttr(path, "d", d);
      if (colour) path.style.setProperty("--colour", colour);
      if (width_mm) path.style.setProperty("--width", `${width_mm}px`);
    },
  );
  updateChildren(
    group.children[1],
    map.hexes,
    ({ id }) => id,
    () => makeText("hex-number"),
    (text, { id, middle_mm: [x_mm, y_mm] }) => placeText(text, id, [x_mm, y_mm + NUMBER_UP * map.size_mm]),
  );
}

/** @type {(map: HexMap) => Line[]} */
function linesOf(map) {
  const known = drawn.get(map);
  if (known) return known;
  const outlines = new Map(map.hexes.map(({ id, middle_mm }) => [id, outline(map, middle_mm)]));
  const lines = [
    { key: "all", name: "hex-ground", d: [...outlines.values()].join("") },
    ...map.terrain.map(({ kind, colour, hexes }) => ({
      key: `terrain ${kind}`,
      name: "hex-terrain",
      d: hexes.map((id) => outlines.get(id)).join(""),
      colour,
    })),
    { key: "lines", name: "hex-lines", d: [...outlines.values()].join("") },
    ...map.lines.map(({ kind, colour, width_mm, lines_mm }, index) => ({
      key: `line ${index} ${kind}`,
      name: "hex-line",
      d: lines_mm.map((ends) => through(ends, false)).join(""),
      colour,
      width_mm,
    })),
    ...map.blocks.map(({ colour, outline_mm }, index) => ({
      key: `block ${index}`,
      name: "hex-block",
      d: through(outline_mm, true),
      colour,
    })),
  ];
  drawn.set(map, lines);
  return lines;
}

/** @type {(map: HexMap, middle_mm: Point) => string} */
function outline({ corners_mm }, [x_mm, y_mm]) {
  return through(
    corners_mm.map(([dx, dy]) => /** @type {Point} */ ([x_mm + dx, y_mm + dy])),
    true,
  );
}

/** The other things in the hexes of a thing, hex by hex. @type {(state: State, thing: string) => import("./state.js").HexStack[]} */
export function stacksOf(state, thing) {
  return (state.now?.hexes?.stacks ?? []).filter(({ things }) => things.includes(thing));
}

/** Whether a thing lies under another that is seen in its hex. @type {(state: State, thing: string) => boolean} */
export function isBeneath(state, thing) {
  return stacksOf(state, thing).some(({ things, hidden }) => hidden.includes(thing) && things[0] !== thing);
}
