/** What taps and drags do while terrain is laid: they are taken before anything else of the table. */
import { onTap } from "../shared/taps.js";
import { toleranceOf } from "../board/picking.js";
import { toTable } from "../board/view.js";
import { carried, handle, layAction, layingDue, tapped } from "./terrain.js";

/** @typedef {import("../board/state.js").State} State */
/** @typedef {import("../shared/gestures.js").Touch} Touch */
/** @typedef {import("../shared/gestures.js").Drag} Drag */
/** @typedef {import("./commands.js").Deeds} Deeds */

const CORNER_PX = 12;

/** @type {(deeds: Deeds) => void} */
export function listenToSetup(deeds) {
  const { laying } = deeds.state.game;
  onTap("laying-kinds", "data-kind", (kind) => deeds.change(() => Object.assign(laying, { kind, chosen: null })));
  onTap("laying-tools", "data-tool", (tool) => deeds.change(() => Object.assign(laying, { tool, chosen: null, corners: [] })));
  onTap("laying-handles", "data-handle-deed", (deed) => deeds.change(() => handle(deeds.state, deed)));
  onTap("laying-pieces", "data-piece", (piece) => deeds.change(() => { laying.chosen = laying.chosen === piece ? null : piece; }));
  onTap("laying-done", "", () => deeds.act(layAction(deeds.state), "Laying …"));
}

/** Pointers on the table while terrain is laid. */
export class LayingHand {
  /** @param {State} state @param {() => void} changed */
  constructor(state, changed) {
    this.state = state;
    this.changed = changed;
  }

  /** Whether pointers are for the terrain now. */
  get isDue() {
    return layingDue(this.state) !== null;
  }

  /** Whether a tap was for the terrain. @param {Touch} at @returns {boolean} */
  tap(at) {
    if (!this.isDue) return false;
    tapped(this.state, this.placeOf(at));
    this.changed();
    return true;
  }

  /** What a drag from here carries of the terrain. @param {Touch} at @returns {Drag | null} */
  grab(at) {
    if (!this.isDue) return null;
    const tolerance_mm = (CORNER_PX + toleranceOf(at.pointer)) / this.state.view.px_per_mm;
    const carry = carried(this.state, this.placeOf(at), tolerance_mm);
    if (!carry) return null;
    return {
      move: (to) => { carry(this.placeOf(to)); this.changed(); },
      end: () => this.changed(),
      cancel: () => { handle(this.state, "undo"); this.changed(); },
    };
  }

  /** @param {Touch} at @returns {import("../board/state.js").Point} */
  placeOf(at) {
    return toTable(this.state.view, this.state.facts, at.x, at.y);
  }
}
