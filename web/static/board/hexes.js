/** Draws a printed hex map: its ground, its lines and the numbers of its hexes; and finds stacks on it. */
import { setAttr, setText, svgElement, updateChildren } from "../shared/dom.js";
import { cornersOf, makeText, placeText, through } from "./shapes.js";
import { commanderBase, sideClass } from "./things.js";
import { short, toScreen, toTable, whole } from "./view.js";

/** @typedef {import("./state.js").State} State */
/** @typedef {import("./state.js").Point} Point */
/** @typedef {import("./state.js").HexMap} HexMap */

/** Hexes of this size on the screen have room for their numbers. */
const NUMBER_PX = 34;
/** How far each counter of a stack sticks out from under the one above it, px, and how many do. */
const LAYERS_PX = { apart: 3, most: 2 };
/** How far above the middle of its hex a number stands, as a share of the hex. */
const NUMBER_UP = 0.37;
/** How far half numbers lie from the middle of the first hex that has them, in hexes. */
const RIM = 0.8;

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
  layer.classList.toggle("numbered", !areSmall(state));
}

/** Whether hexes are so small on the screen that numbers and long names have no room. @type {(state: State) => boolean} */
export function areSmall(state) {
  return Boolean(state.facts.map) && hexPx(state) < NUMBER_PX;
}

/** The size of a hex on the screen, px. @type {(state: State) => number} */
export function hexPx({ facts, view }) {
  return (facts.map?.size_mm ?? 0) * view.px_per_mm;
}

/** What is played on: the map and all that lies beside it; without a map, the whole table. @type {(state: State) => import("./view.js").Area} */
export function playedOn({ facts: { map, width_mm, depth_mm }, now }) {
  if (!map) return whole({ width_mm, depth_mm });
  const [dx, dy] = now?.hexes?.shift_mm ?? [0, 0];
  const beside = [...(now?.units ?? []), ...(now?.commanders ?? [])].map(({ x_mm, y_mm }) => [x_mm, y_mm]);
  const points = [
    ...map.hexes.map(({ middle_mm: [x, y] }) => [x + dx, y + dy]),
    ...(now?.hexes?.boxes ?? []).flatMap(({ corners_mm }) => corners_mm),
    ...beside,
  ];
  const [xs, ys] = [points.map(([x]) => x), points.map(([, y]) => y)];
  const { size_mm } = map;
  return [
    [Math.max(0, Math.min(...xs) - size_mm), Math.max(0, Math.min(...ys) - size_mm)],
    [Math.min(width_mm, Math.max(...xs) + size_mm), Math.min(depth_mm, Math.max(...ys) + size_mm)],
  ];
}

/** How far the edge of a counter is from its middle, px. @type {(state: State, owner: import("./state.js").Unit | import("./state.js").Commander) => number} */
export function edgePx(state, owner) {
  const { width_mm, depth_mm } = "bases" in owner ? owner : commanderBase(owner);
  return (Math.min(width_mm, depth_mm) / 2) * state.view.px_per_mm;
}

/** Draws the edges of counters beneath others, and the size of each stack. @type {(layers: Record<string, SVGElement>, state: State) => void} */
export function renderStacks(layers, state) {
  const { units = [], commanders = [] } = state.now ?? {};
  const stacks = [...units, ...commanders].flatMap((owner) => {
    const thing = `${"bases" in owner ? "unit" : "commander"}:${owner.id}`;
    const own = stacksOf(state, thing).filter(({ things, hidden }) => things[0] === thing && hidden.length);
    const count = new Set(own.flatMap(({ things }) => things)).size;
    const base = "bases" in owner ? owner.bases[0] : commanderBase(owner);
    return count ? [{ thing, owner, base, count }] : [];
  });
  const key = (/** @type {{thing: string}} */ { thing }) => thing;
  updateChildren(layers.stacks, stacks, key, makeEdges, (group, { owner, base, count }) => {
    setAttr(group, "class", `edges ${sideClass(state, owner.side)}`);
    [...group.children].forEach((path, layer) =>
      setAttr(path, "d", layer + 1 < count ? edgeBeneath(state, base, layer) : ""),
    );
  });
  updateChildren(layers.badges, stacks, key, makeBadge, (group, { thing, owner, count }) => {
    const [x, y] = toScreen(state.view, state.facts, owner.x_mm, owner.y_mm);
    const [right, down] = badgeOffset(state, owner);
    const at = toTable(state.view, state.facts, x + right, y + down);
    setAttr(group, "transform", `translate(${short(at[0])} ${short(at[1])})`);
    setAttr(group, "data-stack", thing);
    setText(group.children[0].children[1], `×${count}`);
  });
}

/** How far the size of a stack stands from its counter's middle, px: in its upper corner, on small counters in the lower one, beside the figures, so that their names have room. @type {(state: State, owner: import("./state.js").Unit | import("./state.js").Commander) => Point} */
export function badgeOffset(state, owner) {
  const edge = edgePx(state, owner);
  return areSmall(state) ? [edge - 3, edge - 2] : [edge - 1, 1 - edge];
}

/** The visible edge of a counter some layers beneath another: it sticks out to the upper right. @type {(state: State, base: import("./state.js").Base, layer: number) => string} */
function edgeBeneath(state, base, layer) {
  const [x, y] = toScreen(state.view, state.facts, base.x_mm, base.y_mm);
  const out = (/** @type {number} */ layers) => {
    const far = layers * LAYERS_PX.apart;
    const [x_mm, y_mm] = toTable(state.view, state.facts, x + far, y - far);
    return cornersOf({ ...base, x_mm, y_mm });
  };
  const [inner, outer] = [out(layer), out(layer + 1)];
  const isOut = (/** @type {Point} */ a, /** @type {Point} */ b) => {
    const [mid_x, mid_y] = toScreen(state.view, state.facts, (a[0] + b[0]) / 2, (a[1] + b[1]) / 2);
    const far = layer * LAYERS_PX.apart;
    return mid_x - x - far - (mid_y - y + far) > 0;
  };
  return inner
    .map((corner, index) => ({ corner, next: (index + 1) % inner.length, index }))
    .filter(({ corner, next }) => isOut(corner, inner[next]))
    .map(({ corner, next, index }) => through([corner, inner[next], outer[next], outer[index]], true))
    .join("");
}

/** @type {() => SVGElement} */
function makeEdges() {
  const group = svgElement("g");
  for (let layer = 0; layer < LAYERS_PX.most; layer += 1) group.append(svgElement("path"));
  return group;
}

/** @type {() => SVGElement} */
function makeBadge() {
  const [group, upright] = [svgElement("g"), svgElement("g", { class: "upright" })];
  upright.append(svgElement("rect", { class: "plate" }), svgElement("text", { class: "count" }));
  group.append(upright);
  return group;
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
  // Counters may lie in a box that is in use.
  const y_mm = hexes ? high_mm + 3 : (low_mm + high_mm) / 2;
  placeText(/** @type {SVGElement} */ (group.children[1]), words, [(left_mm + right_mm) / 2, y_mm]);
}

/** @type {() => SVGElement} */
function makeMap() {
  const group = svgElement("g");
  group.append(svgElement("g"), svgElement("g"), svgElement("g"));
  return group;
}

/** The halves of hex numbers, each beside the first hex that has it, to find a number on a small map. @type {(map: HexMap) => {key: string, text: string, at_mm: Point}[]} */
function rims({ hexes }) {
  return [0, 2].flatMap((from) => {
    const half = (/** @type {{id: string}} */ { id }) => id.slice(from, from + 2);
    return [...new Set(hexes.map(half))].flatMap((text) => {
      const [first, second] = hexes.filter((hex) => half(hex) === text).map(({ middle_mm }) => middle_mm);
      const [x, y] = first.map((mm, axis) => mm + RIM * (mm - (second ?? first)[axis]));
      return { key: `${from} ${text}`, text, at_mm: /** @type {Point} */ ([x, y]) };
    });
  });
}

/** @type {(group: SVGElement, map: HexMap) => void} */
function updateMap(group, map) {
  // Drawn once: a printed map never changes.
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
  updateChildren(
    group.children[2],
    rims(map),
    ({ key }) => key,
    () => makeText("hex-rim", "0.35em"),
    (node, { text, at_mm }) => placeText(node, text, at_mm),
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

/** The stacks in the hexes of a thing, hex by hex. @type {(state: State, thing: string) => import("./state.js").HexStack[]} */
export function stacksOf(state, thing) {
  return (state.now?.hexes?.stacks ?? []).filter(({ things }) => things.includes(thing));
}

/** Whether a thing lies under another visible one in its hex. @type {(state: State, thing: string) => boolean} */
export function isBeneath(state, thing) {
  return stacksOf(state, thing).some(({ things, hidden }) => hidden.includes(thing) && things[0] !== thing);
}
