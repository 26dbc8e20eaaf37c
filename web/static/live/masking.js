/** Masks: a player draws a rectangle around a book or a bowl, and tablecam ignores that part. */
import { byId, element, setAttr, setText, svgElement, updateChildren } from "../shared/dom.js";
import { onClick } from "../shared/events.js";
import { inUnit } from "../board/measuring.js";
import { makeText, meanPoint, placeText, through } from "../board/shapes.js";
import { isPlayer } from "../game/state.js";
import * as api from "./api.js";

/** @typedef {import("../game/state.js").State} State */
/** @typedef {import("../board/state.js").Point} Point */
/** @typedef {import("./simulation.js").SimulatedMoves} Moves */

/** A smaller rectangle is a slip of the hand. */
const LEAST_MM = 20;

/** Lets players mask parts of the table; `moves` reports failures. @type {(state: State, rectangles: import("./rectangle.js").RectangleHand, moves: Moves) => void} */
export function listenToMasking(state, rectangles, moves) {
  onClick("mask", () => {
    // The drawer lies where the table would.
    if (!byId("health-more").hidden) byId("health").click();
    const isDue = rectangles.ask("mask", (outline_mm) => void moves.tried(() => mask(state, outline_mm, moves)));
    if (isDue) moves.say("Drag a rectangle over the part that tablecam should ignore. Esc cancels.");
  });
}

/** @type {(state: State, outline_mm: Point[], moves: Moves) => Promise<void>} */
async function mask(state, outline_mm, moves) {
  if (sizes_mm(outline_mm).some((size_mm) => size_mm < LEAST_MM))
    return moves.say("That rectangle is too small: drag from one corner to the other.");
  const hidden = unitsIn(state, outline_mm);
  await api.mask(outline_mm);
  moves.say(
    hidden.length
      ? `${hidden.join(", ")} cannot be seen in that part. To look there again, open the camera's panel.`
      : "tablecam ignores that part. To look there again, open the camera's panel.",
  );
}

/** The units with a base in a rectangle. @type {(state: State, outline_mm: Point[]) => string[]} */
function unitsIn(state, outline_mm) {
  const isWithin = (/** @type {number} */ at_mm, /** @type {0 | 1} */ axis) => {
    const places_mm = outline_mm.map((corner) => corner[axis]);
    return at_mm >= Math.min(...places_mm) && at_mm <= Math.max(...places_mm);
  };
  const units = state.now?.units ?? [];
  return units
    .filter(({ bases }) => bases.some(({ x_mm, y_mm }) => isWithin(x_mm, 0) && isWithin(y_mm, 1)))
    .map(({ id }) => id);
}

/** Draws the masks, and lists them. @type {(layers: import("../board/layers.js").Layers, state: State, isDue: boolean, moves: Moves) => void} */
export function renderMasks(layers, state, isDue, moves) {
  const masks = state.now?.masks ?? [];
  updateChildren(layers.masks, masks, JSON.stringify, makeMask, (group, outline) => {
    setAttr(group.children[0], "d", through(outline, true));
    placeText(group.children[1], "not looked at", meanPoint(outline));
  });
  byId("masks").hidden = !isPlayer(state);
  setAttr(byId("mask"), "aria-pressed", String(isDue));
  const makeRow = (/** @type {Point[]} */ outline) => {
    const row = element("li", "span", "button");
    row.children[1].addEventListener("click", () => moves.tried(() => api.unmask(outline)));
    return row;
  };
  updateChildren(byId("masks-list"), masks, JSON.stringify, makeRow, (row, outline) => {
    const { unit } = state.facts.about;
    const [width, depth] = sizes_mm(outline).map((size_mm) => (size_mm / unit.size_mm).toFixed(1));
    const words = `${width} × ${inUnit(state.facts, depth)}`;
    setText(row.children[0], words);
    setText(row.children[1], "Look again");
    setAttr(row.children[1], "aria-label", `Look again at the part of ${words}`);
  });
}

/** @type {() => SVGElement} */
function makeMask() {
  const group = svgElement("g", { class: "mask" });
  group.append(svgElement("path"), makeText("mask-name"));
  return group;
}

/** The width and depth of an outline. @type {(outline_mm: Point[]) => number[]} */
function sizes_mm(outline_mm) {
  return [0, 1].map((axis) => {
    const places_mm = outline_mm.map((corner) => corner[axis]);
    return Math.max(...places_mm) - Math.min(...places_mm);
  });
}
