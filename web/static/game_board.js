// @ts-check
/** The game on the table: markers of units, ghosts of where they belong, what is pointed at. */
import { cornersShown, layingDue } from "./game_laying.js";
import { markersShown } from "./game_states.js";
import { latestEvidence, picturedNow, playing, shapesLookedAt } from "./game_state.js";
import { each, make, put } from "./keyed.js";
import { withLabels } from "./rulings_board.js";
import { makeText, placeText, through, updateShapes } from "./shapes.js";
import { sideNumber } from "./things.js";
import { short, toScreen, uncut } from "./view.js";

/** @typedef {import("./state.js").State} State */
/** @typedef {import("./state.js").Point} Point */
/** @typedef {import("./state.js").Shape} Shape */
/** @typedef {import("./game_state.js").GhostBase} GhostBase */
/** @typedef {{unit: string, bases: GhostBase[], kind: "due" | "nearest" | "arrived", text: string}} Ghost */

/** The role of a shape that says what came of something for a unit. */
const RESULT = "result";
/** How its words are written, and where beside a unit: the nearest place that is free. */
const RESULT_PX = { font: 15, letter: 9, line: 19, name: 18, offsets: [-28, 42, -48, 62, -68] };

const GHOST_PX = { letter: 8, line: 18 };

/** A cloud of smoke: its puffs, in pixels from its middle. */
const PUFFS = [[-7, 2, 5], [0, -2, 7], [8, 2, 5.5], [1, 4, 5]];
const PIP_APART_PX = 11;
/** A drawing wider than this hangs on a wall, and is looked at from farther off. */
const FAR_VIEW_PX = 1700;
/** A drawing narrower than this is on a phone. */
const NARROW_VIEW_PX = 500;

/** Draw what the game has to show. @type {(layers: Record<string, SVGElement>, state: State) => void} */
export function renderGameBoard(layers, state) {
  const looked = shapesLookedAt(state);
  const isLooking = looked.length > 0;
  const shapes = withLabels((isLooking ? looked : picturedNow(state)).filter(({ role }) => role !== RESULT), state);
  layers.game.ownerSVGElement?.classList.toggle("looking", isLooking);
  put(layers.game, "class", `layer game${isLooking ? "" : " due"}`);
  updateShapes(layers.game, shapes, state);
  renderResults(layers.results, isLooking ? looked : latestEvidence(state), state);
  renderCorners(layers.results, state);
  layers.game.ownerSVGElement?.classList.toggle("laying", layingDue(state) !== null);
  each(layers.placing, ghosts(state), ({ unit, kind }) => `${kind} ${unit}`, makeGhost, (node, ghost) => updateGhost(node, ghost, state));
  renderMarkers(layers.markers, state);
}

/** What came of an action, in words beside each unit, none over another. @type {(layer: SVGElement, shapes: Shape[], state: State) => void} */
function renderResults(layer, shapes, { view, facts, now }) {
  const found = shapes.filter(({ role }) => role === RESULT);
  const places = [...new Map(found.map(({ points_mm }) => [String(points_mm[0]), points_mm[0]])).entries()];
  const taken = (now?.units ?? []).map(({ x_mm, y_mm }) => {
    const [x, y] = toScreen(view, facts, x_mm, y_mm);
    return { x, y: y + RESULT_PX.line / 3, half: RESULT_PX.name };
  });
  const rows = places.map(([key, at]) => {
    const words = found.filter(({ points_mm }) => String(points_mm[0]) === key).map(({ label }) => label).join(" · ");
    const half = (words.length * RESULT_PX.letter) / 2;
    const there = uncut(view, facts, at, { half, height: RESULT_PX.line });
    const [x, y] = toScreen(view, facts, ...there);
    const isFree = (/** @type {number} */ by) => taken.every((each) => Math.abs(each.x - x) > each.half + half || Math.abs(each.y - y - by) > RESULT_PX.line);
    const by = RESULT_PX.offsets.find(isFree) ?? RESULT_PX.offsets[0];
    taken.push({ x, y: y + by, half });
    return { key: `result ${key}`, at: there, words, by };
  });
  if (!layer.children.length) layer.append(make("g"), make("g"), make("g"));
  each(layer.children[0], rows, ({ key }) => key, () => makeText("result"), (text, { at, words, by }) => {
    placeText(text, words, at);
    put(text.children[0], "dy", `${short(by / RESULT_PX.font)}em`);
  });
}

/** The corners by which the terrain in hand is stretched. @type {(layer: SVGElement, state: State) => void} */
function renderCorners(layer, state) {
  const scale = 1 / state.view.px_per_mm;
  const places = cornersShown(state);
  const way = state.game.laying.tool === "corners" && places.length > 1 ? [through(places, false)] : [];
  each(layer.children[2], way, () => "way", () => make("path", { class: "corner-way" }), (path, d) => put(path, "d", d));
  const corners = places.map((at, index) => ({ at, index }));
  each(layer.children[1], corners, ({ index }) => String(index), () => make("circle", { class: "corner" }), (circle, { at }) => {
    put(circle, "cx", short(at[0]));
    put(circle, "cy", short(at[1]));
    put(circle, "r", short((state.view.width_px < NARROW_VIEW_PX ? 5 : 7) * scale));
  });
}

/** Where units belong, or might have been put. @type {(state: State) => Ghost[]} */
function ghosts(state) {
  const told = playing(state);
  if (!told) return [];
  return [
    ...told.to_place.map(({ unit, ghost }) => ({ unit, bases: ghost, kind: /** @type {"due"} */ ("due"), text: ghost.length ? `${unit} here` : `${unit} off` })),
    ...told.moved.map(({ unit, ghost, is_back }) => ({ unit, bases: ghost, kind: /** @type {"nearest"} */ ("nearest"), text: is_back ? `${unit} back here` : `${unit}: legal` })).filter(({ bases }) => bases.length),
    ...state.game.placed.map((unit) => ({ unit, bases: [], kind: /** @type {"arrived"} */ ("arrived"), text: "✓ placed" })),
  ];
}

/** @type {() => SVGElement} */
function makeGhost() {
  const group = make("g");
  for (const name of ["casing", "ink", "casing way", "ink way"]) group.append(make("path", { class: name }));
  group.append(makeText("ghost-text"));
  return group;
}

/** The outline of all bases, and an arrow there from where the unit lies. @type {(node: SVGElement, ghost: Ghost, state: State) => void} */
function updateGhost(node, { unit, bases, kind, text }, state) {
  const { units = [], commanders = [] } = state.now ?? {};
  const lies = units.find(({ id }) => id === unit) ?? commanders.find(({ id }) => id === unit);
  const side = lies?.side ?? state.facts.units.find(({ id }) => id === unit)?.side ?? "";
  put(node, "class", `placing ${kind} side-${sideNumber(state, side) % 8}`);
  const here = /** @type {Point | null} */ (lies ? [lies.x_mm, lies.y_mm] : null);
  const there = bases.length ? middleOf(bases) : here;
  const outline = bases.map((base) => through(cornersOf(base), true)).join("") || (here && lies && !bases.length && kind === "due" ? crossOn(here) : "");
  const way = here && there && bases.length ? arrow(here, there, state) : "";
  [outline, outline, way, way].forEach((d, index) => put(node.children[index], "d", d));
  placeText(node.children[4], there ? text : "", there ? uncut(state.view, state.facts, there, ghostWords(text)) : [0, 0]);
}

/** @type {(text: string) => {half: number, height: number}} */
function ghostWords(text) {
  return { half: (text.length * GHOST_PX.letter) / 2, height: GHOST_PX.line };
}

/** @type {(bases: GhostBase[]) => Point} */
function middleOf(bases) {
  const sum = (/** @type {"x_mm" | "y_mm"} */ key) => bases.reduce((total, base) => total + base[key], 0) / bases.length;
  return [sum("x_mm"), sum("y_mm")];
}

/** @type {(base: GhostBase) => Point[]} */
function cornersOf({ x_mm, y_mm, heading_deg, width_mm, depth_mm }) {
  const heading_rad = (heading_deg * Math.PI) / 180;
  const [c, s] = [Math.cos(heading_rad), Math.sin(heading_rad)];
  const [f, w] = [depth_mm / 2, width_mm / 2];
  const signs = [[1, 1], [1, -1], [-1, -1], [-1, 1]];
  return signs.map(([a, b]) => [x_mm + a * f * c - b * w * s, y_mm + a * f * s + b * w * c]);
}

/** Over a unit that is to leave the table. @type {(at: Point) => string} */
function crossOn([x, y]) {
  const reach = 30;
  return `M${short(x - reach)} ${short(y - reach)}L${short(x + reach)} ${short(y + reach)}M${short(x - reach)} ${short(y + reach)}L${short(x + reach)} ${short(y - reach)}`;
}

/** A line with a head, of the same size at any scale. @type {(from: Point, to: Point, state: State) => string} */
function arrow([x, y], [to_x, to_y], { view }) {
  const length = Math.hypot(to_x - x, to_y - y);
  if (length < 8) return "";
  const head = Math.min(length / 2, 12 / view.px_per_mm);
  const [a, b] = [((to_x - x) / length) * head, ((to_y - y) / length) * head];
  const barb = (/** @type {number} */ side) => `${short(to_x - a - side * 0.6 * b)} ${short(to_y - b + side * 0.6 * a)}`;
  return `M${short(x)} ${short(y)}L${short(to_x)} ${short(to_y)}M${barb(1)}L${short(to_x)} ${short(to_y)}L${barb(-1)}`;
}

/** Disruption as pips and smoke as a cloud, upright beside each unit. @type {(layer: SVGElement, state: State) => void} */
function renderMarkers(layer, state) {
  const markers = markersShown(state);
  const marked = (state.now?.units ?? []).filter(({ id }) => markers[id]?.disruption || markers[id]?.smoke);
  each(layer, marked, ({ id }) => id, () => make("g", { class: "marker" }), (node, { id, x_mm, y_mm }) => {
    const { disruption = 0, smoke = false } = markers[id];
    const scale = (state.view.width_px > FAR_VIEW_PX ? 1.5 : 1) / state.view.px_per_mm;
    put(node, "transform", `translate(${short(x_mm)} ${short(y_mm)})`);
    put(node, "data-marker", `${id} ${disruption}${smoke ? " smoke" : ""}`);
    const parts = [{ key: `${disruption} ${smoke}` }];
    each(node, parts, ({ key }) => key, () => makeMarker(disruption, smoke), (part) => put(part.children[0], "transform", `scale(${short(scale)})`));
  });
}

/** @type {(disruption: number, smoke: boolean) => SVGElement} */
function makeMarker(disruption, smoke) {
  const [upright, sized] = [make("g", { class: "upright" }), make("g")];
  upright.append(sized);
  const wide = disruption * PIP_APART_PX + 5;
  if (disruption) {
    sized.append(make("rect", { class: "pips", x: short(-wide / 2), y: "8", width: short(wide), height: "15", rx: "7.5" }));
    for (let pip = 0; pip < disruption; pip += 1) {
      const cx = (pip - (disruption - 1) / 2) * PIP_APART_PX;
      sized.append(make("circle", { class: "pip", cx: short(cx), cy: "15.5", r: "4.2" }));
    }
  }
  if (smoke) sized.append(makeCloud(disruption ? wide / 2 + 14 : 0));
  return upright;
}

/** @type {(x: number) => SVGElement} */
function makeCloud(x) {
  const cloud = make("g", { class: "cloud", transform: `translate(${short(x)} 15)` });
  for (const name of ["rim", "puff"]) {
    for (const [cx, cy, r] of PUFFS) cloud.append(make("circle", { class: name, cx: short(cx), cy: short(cy), r: short(r) }));
  }
  return cloud;
}
