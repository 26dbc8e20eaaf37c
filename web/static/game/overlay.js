/** Draws the game on the table: ghosts of units in their places, the thing under the pointer, and markers. */
import { setAttr, svgElement, updateChildren } from "../shared/dom.js";
import { cornersOf, makeText, meanPoint, placeText, through } from "../board/shapes.js";
import { properName, sideClass } from "../board/things.js";
import { short, uncut } from "../board/view.js";
import { boxesTaken, GHOST_PX, ghostSize, ghostWay, renderMarks, RESULT } from "./markers.js";
import { basesOf, latestEvidence, lookedAtShapes, outOfStep, pendingShapes, playing } from "./state.js";
import { cornersShown, layingStep } from "./terrain.js";

/** @typedef {import("./state.js").State} State */
/** @typedef {import("../board/state.js").Point} Point */
/** @typedef {import("../board/state.js").Shape} Shape */
/** @typedef {import("./state.js").GhostBase} GhostBase */

/** @typedef {{unit: string, bases: GhostBase[], kind: "due" | "off" | "nearest" | "arrived", text: string}} Ghost  `off` are bases that leave the table */

/** A drawing narrower than this is on a phone. */
const NARROW_VIEW_PX = 500;

/** Draws the game on the table. @type {(board: import("../board/board.js").Board, layers: import("../board/board.js").Layers, state: State) => void} */
export function drawGame(board, layers, state) {
  const looked = lookedAtShapes(state);
  const isLooking = looked.length > 0;
  board.svg.classList.toggle("looking", isLooking);
  board.svg.classList.toggle("laying", layingStep(state) !== null);
  setAttr(layers.game, "class", `layer game${isLooking ? "" : " due"}`);
  const labelled = board.shapes(
    (isLooking ? looked : pendingShapes(state)).filter(({ role }) => role !== RESULT),
    "game",
  );
  const taken = boxesTaken(layers, labelled, state);
  // Where units belong matters most, so ghosts choose their places before markers and results.
  updateChildren(
    layers.placing,
    ghosts(state),
    ({ unit, kind }) => `${kind} ${unit}`,
    makeGhost,
    (node, ghost) => updateGhost(node, ghost, taken, state),
  );
  renderMarks(layers, isLooking ? looked : latestEvidence(state), taken, state);
  renderCorners(layers.results, state);
}

/** Draws the corners for stretching the terrain in hand. @type {(layer: SVGElement, state: State) => void} */
function renderCorners(layer, state) {
  const scale = 1 / state.view.px_per_mm;
  const places = cornersShown(state);
  const way = state.game.laying.tool === "corners" && places.length > 1 ? [through(places, false)] : [];
  updateChildren(
    layer.children[1],
    way,
    () => "way",
    () => svgElement("path", { class: "corner-way" }),
    (path, d) => setAttr(path, "d", d),
  );
  const corners = places.map((at, index) => ({ at, index }));
  updateChildren(
    layer.children[0],
    corners,
    ({ index }) => String(index),
    () => svgElement("circle", { class: "corner" }),
    (circle, { at }) => {
      setAttr(circle, "cx", short(at[0]));
      setAttr(circle, "cy", short(at[1]));
      setAttr(circle, "r", short((state.view.width_px < NARROW_VIEW_PX ? 5 : 7) * scale));
    },
  );
}

/** The ghosts: where units belong, or could have been put. @type {(state: State) => Ghost[]} */
function ghosts(state) {
  const view = playing(state);
  if (!view) return [];
  const summed = outOfStep(view);
  const named = (/** @type {string} */ unit, /** @type {string} */ words) =>
    `${properName(unit)}${words === "legal" ? ":" : ""} ${words}`;
  return [
    ...view.to_place
      .filter(({ moves }) => moves)
      .map(({ unit, ghost }) => ({
        unit,
        bases: ghost,
        kind: /** @type {"due"} */ ("due"),
        text: named(unit, "here"),
      })),
    ...view.to_place
      .map(({ unit, ghost, lost }) => ({
        unit,
        bases: lost,
        kind: /** @type {"off"} */ ("off"),
        text: named(ghost.length && lost.length ? `${basesOf(lost)} of ${unit}` : unit, "off"),
      }))
      .filter(({ bases }) => bases.length),
    ...view.moved
      .filter((moved) => state.game.showsAstray || !summed.includes(moved))
      .map(({ unit, ghost, is_back }) => ({
        unit,
        bases: ghost,
        kind: /** @type {"nearest"} */ ("nearest"),
        text: named(unit, is_back ? "back here" : "legal"),
      }))
      .filter(({ bases }) => bases.length),
    ...state.game.placed.map(({ unit, moves }) => ({
      unit,
      bases: [],
      kind: /** @type {"arrived"} */ ("arrived"),
      text: moves ? "✓ placed" : "",
    })),
  ];
}

/** @type {() => SVGElement} */
function makeGhost() {
  const group = svgElement("g");
  for (const name of ["casing", "ink", "casing way", "ink way"]) group.append(svgElement("path", { class: name }));
  group.append(makeText("ghost-text"));
  return group;
}

/** Updates a ghost: the outline of its bases, and an arrow to it from the unit. @type {(node: SVGElement, ghost: Ghost, taken: import("./markers.js").Box[], state: State) => void} */
function updateGhost(node, { unit, bases, kind, text }, taken, state) {
  const { units = [], commanders = [] } = state.now ?? {};
  const lies = units.find(({ id }) => id === unit) ?? commanders.find(({ id }) => id === unit);
  const side = lies?.side ?? state.facts.units.find(({ id }) => id === unit)?.side ?? "";
  setAttr(node, "class", `placing ${kind === "off" ? "due" : kind} ${sideClass(state, side)}`);
  const here = /** @type {Point | null} */ (lies ? [lies.x_mm, lies.y_mm] : null);
  const there = bases.length ? meanPoint(bases.map(({ x_mm, y_mm }) => [x_mm, y_mm])) : here;
  const outline = bases
    .map((base) => (kind === "off" ? crossOn([base.x_mm, base.y_mm]) : through(cornersOf(base), true)))
    .join("");
  const way = here && there && bases.length && kind !== "off" ? arrow(here, there, state) : "";
  [outline, outline, way, way].forEach((d, index) => setAttr(node.children[index], "d", d));
  const at = there && text ? uncut(state.view, state.facts, there, ghostSize(text)) : null;
  const free = at && ghostWay(text, at, taken, state);
  placeText(node.children[4], free ? text : "", at ?? [0, 0]);
  setAttr(node.children[4].children[0], "dx", `${short((free?.right ?? 0) / GHOST_PX.font)}em`);
  setAttr(node.children[4].children[0], "dy", `${short((free?.down ?? 0) / GHOST_PX.font)}em`);
}

/** A cross over a base that has to leave the table. @type {(at: Point) => string} */
function crossOn([x, y]) {
  const reach = 15;
  return `M${short(x - reach)} ${short(y - reach)}L${short(x + reach)} ${short(y + reach)}M${short(x - reach)} ${short(y + reach)}L${short(x + reach)} ${short(y - reach)}`;
}

/** An arrow whose head has the same size at any scale. @type {(from: Point, to: Point, state: State) => string} */
function arrow([x, y], [to_x, to_y], { view }) {
  const length = Math.hypot(to_x - x, to_y - y);
  if (length < 8) return "";
  const head = Math.min(length / 2, 12 / view.px_per_mm);
  const [a, b] = [((to_x - x) / length) * head, ((to_y - y) / length) * head];
  const barb = (/** @type {number} */ side) =>
    `${short(to_x - a - side * 0.6 * b)} ${short(to_y - b + side * 0.6 * a)}`;
  return `M${short(x)} ${short(y)}L${short(to_x)} ${short(to_y)}M${barb(1)}L${short(to_x)} ${short(to_y)}L${barb(-1)}`;
}
