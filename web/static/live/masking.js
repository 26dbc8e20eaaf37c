/** Masks: a player draws a rectangle around a book or a bowl, and tablecam does not look there. */
import { byId, element, setAttr, setText, svgElement, updateChildren } from "../shared/dom.js";
import { onClick } from "../shared/events.js";
import { toTable } from "../board/view.js";
import { inUnit } from "../board/measuring.js";
import { makeText, meanPoint, placeText, through } from "../board/shapes.js";
import { isPlayer } from "../game/state.js";
import * as api from "./api.js";

/** @typedef {import("../game/state.js").State} State */
/** @typedef {import("../shared/gestures.js").Touch} Touch */
/** @typedef {import("../shared/gestures.js").Drag} Drag */
/** @typedef {import("../board/state.js").Point} Point */

/** A smaller rectangle is a slip of the hand. */
const LEAST_MM = 20;

/** The hand that draws masks, the list of them, and their drawing. */
export class MaskingHand {
  /** Whether the next drag draws a mask. */
  isDue = false;
  /** @type {Point[] | null} the rectangle that is being drawn */
  draft = null;

  /** @param {State} state @param {() => void} changed @param {import("./simulation.js").SimulatedMoves} moves  which says what fails */
  constructor(state, changed, moves) {
    this.state = state;
    this.changed = changed;
    this.moves = moves;
    onClick("mask", () => this.begin());
  }

  begin() {
    this.isDue = !this.isDue;
    // The drawer lies where the table would.
    if (!byId("health-more").hidden) byId("health").click();
    if (this.isDue) this.moves.say("Drag a rectangle over the part that tablecam should ignore. Esc cancels.");
    this.changed();
  }

  /** Gives up drawing; says whether there was anything to give up. */
  cancel() {
    const wasDue = this.isDue;
    [this.isDue, this.draft] = [false, null];
    return wasDue;
  }

  /** @param {Touch} at @returns {Drag | null} */
  grab(at) {
    if (!this.isDue) return null;
    const { view, facts } = this.state;
    const [x_mm, y_mm] = toTable(view, facts, at.x, at.y);
    return {
      move: (to) => {
        const [to_x_mm, to_y_mm] = toTable(this.state.view, facts, to.x, to.y);
        this.draft = rectangle(x_mm, y_mm, to_x_mm, to_y_mm, facts);
        this.changed();
      },
      end: () => this.finish(),
      cancel: () => {
        this.cancel();
        this.changed();
      },
    };
  }

  finish() {
    const outline = this.draft;
    if (!outline || sizes_mm(outline).some((size_mm) => size_mm < LEAST_MM)) {
      this.draft = null;
      this.moves.say("That rectangle is too small: drag from one corner to the other.");
      return;
    }
    this.cancel();
    void this.moves.tried(async () => {
      await api.mask(outline);
      this.moves.say("tablecam ignores that part. To look there again, open the camera's panel.");
    });
  }

  /** Draws the masks, and lists them. @param {import("../board/layers.js").Layers} layers */
  draw(layers) {
    const { now, facts } = this.state;
    const masks = now?.masks ?? [];
    const drawn = this.draft ? [...masks, this.draft] : masks;
    updateChildren(layers.masks, drawn, JSON.stringify, makeMask, (group, outline) => {
      setAttr(group.children[0], "d", through(outline, true));
      placeText(group.children[1], "not looked at", meanPoint(outline));
    });
    byId("masks").hidden = !isPlayer(this.state);
    setAttr(byId("mask"), "aria-pressed", String(this.isDue));
    updateChildren(
      byId("masks-list"),
      masks,
      JSON.stringify,
      (outline) => {
        const row = element("li", "span", "button");
        row.children[1].addEventListener("click", () => this.moves.tried(() => api.unmask(outline)));
        return row;
      },
      (row, outline) => {
        const [width, depth] = sizes_mm(outline).map((size_mm) => (size_mm / facts.about.unit.size_mm).toFixed(1));
        const words = `${width} × ${inUnit(facts, depth)}`;
        setText(row.children[0], words);
        setText(row.children[1], "Look again");
        setAttr(row.children[1], "aria-label", `Look again at the part of ${words}`);
      },
    );
  }
}

/** @type {() => SVGElement} */
function makeMask() {
  const group = svgElement("g", { class: "mask" });
  group.append(svgElement("path"), makeText("mask-name"));
  return group;
}

/** A rectangle between two corners, as far as it lies on the table. @type {(x_mm: number, y_mm: number, to_x_mm: number, to_y_mm: number, facts: {width_mm: number, depth_mm: number}) => Point[]} */
function rectangle(x_mm, y_mm, to_x_mm, to_y_mm, { width_mm, depth_mm }) {
  const onTable = (/** @type {number} */ place_mm, /** @type {number} */ size_mm) =>
    Math.round(Math.min(Math.max(place_mm, 0), size_mm));
  const [left, right] = [onTable(x_mm, width_mm), onTable(to_x_mm, width_mm)];
  const [near, far] = [onTable(y_mm, depth_mm), onTable(to_y_mm, depth_mm)];
  return [
    [left, near],
    [right, near],
    [right, far],
    [left, far],
  ];
}

/** How wide and deep an outline is. @type {(outline_mm: Point[]) => number[]} */
function sizes_mm(outline_mm) {
  return [0, 1].map((axis) => {
    const places_mm = outline_mm.map((corner) => corner[axis]);
    return Math.max(...places_mm) - Math.min(...places_mm);
  });
}
