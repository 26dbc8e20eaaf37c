/** A rectangle that a player draws on the table: the next drag draws it instead of moving the view. */
import { setAttr, svgElement, updateChildren } from "../shared/dom.js";
import { through } from "../board/shapes.js";
import { toTable } from "../board/view.js";

/** @typedef {import("../board/state.js").State} State */
/** @typedef {import("../board/state.js").Point} Point */
/** @typedef {import("../shared/gestures.js").Touch} Touch */
/** @typedef {import("../shared/gestures.js").Drag} Drag */

/** The hand that draws one rectangle at a time. */
export class RectangleHand {
  /** What asked for a rectangle. */
  asker = "";
  /** @type {Point[] | null} the rectangle that is being drawn */
  draft = null;
  /** @type {(outline_mm: Point[]) => void} */
  #done = () => {};

  /** @param {State} state @param {() => void} changed */
  constructor(state, changed) {
    this.state = state;
    this.changed = changed;
  }

  /** Lets the next drag draw a rectangle; a second request by the same asker cancels. Returns whether one is due. @param {string} asker @param {(outline_mm: Point[]) => void} done */
  ask(asker, done) {
    this.asker = this.asker === asker ? "" : asker;
    this.#done = done;
    this.changed();
    return this.asker !== "";
  }

  /** Cancels drawing; returns whether there was anything to cancel. */
  cancel() {
    const wasDue = this.asker !== "";
    [this.asker, this.draft] = ["", null];
    if (wasDue) this.changed();
    return wasDue;
  }

  /** @param {Touch} at @returns {Drag | null} */
  grab(at) {
    if (!this.asker) return null;
    const from = this.#placeOf(at);
    return {
      move: (to) => {
        this.draft = this.#between(from, this.#placeOf(to));
        this.changed();
      },
      end: () => {
        const outline = this.draft;
        this.cancel();
        if (outline) this.#done(outline);
      },
      cancel: () => void this.cancel(),
    };
  }

  /** @param {import("../board/layers.js").Layers} layers */
  draw(layers) {
    const drawn = this.draft ? [this.draft] : [];
    const make = () => svgElement("path", { class: "draft" });
    updateChildren(
      layers.draft,
      drawn,
      () => "draft",
      make,
      (path, outline) => setAttr(path, "d", through(outline, true)),
    );
  }

  /** @param {Touch} at */
  #placeOf(at) {
    return toTable(this.state.view, this.state.facts, at.x, at.y);
  }

  /** The rectangle between two corners, clipped to the table. @param {Point} from @param {Point} to @returns {Point[]} */
  #between(from, to) {
    const { width_mm, depth_mm } = this.state.facts;
    const onTable = (/** @type {Point} */ [x_mm, y_mm]) => [
      Math.round(Math.min(Math.max(x_mm, 0), width_mm)),
      Math.round(Math.min(Math.max(y_mm, 0), depth_mm)),
    ];
    const [[left, near], [right, far]] = [onTable(from), onTable(to)];
    return [
      [left, near],
      [right, near],
      [right, far],
      [left, far],
    ];
  }
}
