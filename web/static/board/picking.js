/** Finds the thing under a pointer or a finger. */
import { isBeneath } from "./hexes.js";
import { commanderBase, pointThing } from "./things.js";
import { toTable } from "./view.js";

/** @typedef {import("./state.js").State} State */
/** @typedef {import("./state.js").Base} Base */

const TOLERANCE_PX = { mouse: 3, pen: 8, touch: 20 };

/**
 * The thing at a point of the screen, or that point of the table.
 *
 * A finger may miss slightly, a drag by `reach_px`. Commanders come before units, because their markers stand among them.
 *
 * @type {(state: State, x_px: number, y_px: number, options?: {pointer?: string, bases?: boolean, reach_px?: number}) => string | null}
 */
export function thingAt(state, x_px, y_px, { pointer = "mouse", bases = state.picks === "bases", reach_px = 0 } = {}) {
  const at = toTable(state.view, state.facts, x_px, y_px);
  const tolerance_mm = Math.max(toleranceOf(pointer), reach_px) / state.view.px_per_mm;
  const near = candidates(state, bases)
    .filter(({ thing }) => !isBeneath(state, thing))
    .map(({ thing, base }) => ({ thing, distance_mm: distanceTo(base, at) }))
    .filter(({ distance_mm }) => distance_mm <= tolerance_mm)
    .sort((a, b) => a.distance_mm - b.distance_mm);
  if (near.length) return near[0].thing;
  const { width_mm, depth_mm } = state.facts;
  const isOnTable = at[0] >= 0 && at[1] >= 0 && at[0] <= width_mm && at[1] <= depth_mm;
  return isOnTable ? pointThing(at[0], at[1]) : null;
}

/** @type {(pointer: string) => number} */
export function toleranceOf(pointer) {
  return pointer === "touch" ? TOLERANCE_PX.touch : pointer === "pen" ? TOLERANCE_PX.pen : TOLERANCE_PX.mouse;
}

/** @type {(state: State, bases: boolean) => {thing: string, base: Base}[]} */
function candidates(state, bases) {
  const { units = [], commanders = [] } = state.now ?? {};
  return [
    ...commanders.map((commander) => ({ thing: `commander:${commander.id}`, base: commanderBase(commander) })),
    ...units.flatMap((unit) =>
      unit.bases.map((base) => ({ thing: bases ? `base:${base.name}` : `unit:${unit.id}`, base })),
    ),
  ];
}

/** Distance from a point to a base's footprint; 0 inside. @type {(base: Base, at: [number, number]) => number} */
function distanceTo(base, [x_mm, y_mm]) {
  const heading_rad = (base.heading_deg * Math.PI) / 180;
  const [dx, dy] = [x_mm - base.x_mm, y_mm - base.y_mm];
  const forward = Math.abs(dx * Math.cos(heading_rad) + dy * Math.sin(heading_rad)) - base.depth_mm / 2;
  const aside = Math.abs(dy * Math.cos(heading_rad) - dx * Math.sin(heading_rad)) - base.width_mm / 2;
  return Math.hypot(Math.max(0, forward), Math.max(0, aside));
}
