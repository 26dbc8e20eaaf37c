/**
 * Restores positions from their recorded differences, and converts their units for the board.
 *
 * @typedef {{tag?: number, x_mm: number, y_mm: number, heading_deg: number, width_mm: number, depth_mm: number, shape?: "round" | "oval", sigma_mm?: number, sigma_deg?: number, seen?: "now" | "held" | "hand"}} BaseDocument
 * @typedef {{id: string, side: string, arm: string, formation?: string, bases: BaseDocument[]}} UnitDocument
 * @typedef {{id: string, side: string, x_mm: number, y_mm: number, sigma_mm?: number, seen?: "now" | "held" | "hand", base?: BaseDocument}} CommanderDocument
 * @typedef {{units: UnitDocument[], commanders: CommanderDocument[]}} Position
 *
 * @typedef {{x_mm: number, y_mm: number, heading_deg: number}} Place
 *
 * @typedef {{whole?: any, changed?: Record<string, any>, gone?: string[], order?: string[]}} Change
 * @typedef {import("../board/state.js").Unit} Unit
 * @typedef {import("../board/state.js").Commander} Commander
 */
import { cornersOf } from "../board/shapes.js";

/** Smaller moves of a base are noise of the camera, or a brushing sleeve. */
const NEAR_MM = 4;
const NEAR_DEG = 4;

/** @type {WeakMap<object, any>} drawings by document: most documents stay the same from one position to the next */
const drawn = new WeakMap();

/** Applies a difference to a position. Documents are immutable, and shared if unchanged. @type {(before: Position | null, change: Change) => Position | null} */
export function applyChange(before, change) {
  if (change.whole) return change.whole;
  if (!before) return null;
  const gone = new Set(change.gone ?? []);
  /** @type {Record<string, any>} */
  const now = Object.fromEntries(Object.entries(before).filter(([key]) => !gone.has(key)));
  for (const [key, value] of Object.entries(change.changed ?? {})) now[key] = changedValue(now[key], value);
  return /** @type {Position} */ (now);
}

/** @type {(before: any, change: Change) => any} */
function changedValue(before, change) {
  if ("whole" in change) return change.whole;
  const members = new Map((before ?? []).map((/** @type {{id: string}} */ member) => [member.id, member]));
  for (const id of change.gone ?? []) members.delete(id);
  for (const [id, member] of Object.entries(change.changed ?? {})) members.set(id, member);
  return change.order ? change.order.map((id) => members.get(id)) : [...members.values()];
}

/** The units and commanders of a position as the board draws them. @type {(position: Position) => {units: Unit[], commanders: Commander[]}} */
export function unitsOf(position) {
  return {
    units: position.units.filter(({ bases }) => bases.length).map((unit) => cached(unit, drawnUnit)),
    commanders: (position.commanders ?? []).map((commander) => cached(commander, drawnCommander)),
  };
}

/** @type {<A extends object, B>(document: A, draw: (document: A) => B) => B} */
function cached(document, draw) {
  if (!drawn.has(document)) drawn.set(document, draw(document));
  return drawn.get(document);
}

/** @type {(unit: UnitDocument) => Unit} */
function drawnUnit(unit) {
  const bases = unit.bases.map((base, index) => ({
    name: base.tag === undefined ? `${unit.id}/${index + 1}` : String(base.tag),
    ...drawnBase(base),
  }));
  return {
    id: unit.id,
    side: unit.side,
    arm: unit.arm,
    formation: unit.formation ?? null,
    ...footprintOf(unit.bases),
    bases,
  };
}

/** @type {(base: BaseDocument) => import("../board/state.js").Base} */
function drawnBase({ x_mm, y_mm, heading_deg, width_mm, depth_mm, shape, sigma_mm = 0, sigma_deg = 0, seen = "now" }) {
  return {
    x_mm,
    y_mm,
    heading_deg,
    width_mm,
    depth_mm,
    shape,
    sigma_mm,
    sigma_deg,
    seen,
    held_s: seen === "held" ? 0 : null,
  };
}

/** @type {(commander: CommanderDocument) => Commander} */
function drawnCommander({ id, side, x_mm, y_mm, sigma_mm = 0, seen = "now", base }) {
  return {
    id,
    side,
    x_mm,
    y_mm,
    sigma_mm,
    seen,
    held_s: seen === "held" ? 0 : null,
    base: base ? drawnBase(base) : null,
  };
}

/** The bases of each unit and commander. @type {(position: Position) => Map<string, Place[]>} */
export function basesOf({ units, commanders = [] }) {
  const led = commanders.map(
    ({ id, base, x_mm, y_mm }) => /** @type {[string, Place[]]} */ ([id, [base ?? { x_mm, y_mm, heading_deg: 0 }]]),
  );
  return new Map([...units.map(({ id, bases }) => /** @type {[string, Place[]]} */ ([id, bases])), ...led]);
}

/** Whether bases were moved, added or removed. @type {(bases: Place[], past: Place[]) => boolean} */
export function haveMoved(bases, past) {
  if (bases === past) return false;
  return bases.length !== past.length || bases.some((base, index) => hasMoved(base, past[index]));
}

/** @type {(base: Place, past: Place) => boolean} */
function hasMoved(base, past) {
  const turned_deg = Math.abs(((base.heading_deg - past.heading_deg + 540) % 360) - 180);
  return Math.hypot(base.x_mm - past.x_mm, base.y_mm - past.y_mm) > NEAR_MM || turned_deg > NEAR_DEG;
}

/** The smallest rectangle around all bases that is aligned with the first one. @type {(bases: BaseDocument[]) => Place & {width_mm: number, depth_mm: number}} */
function footprintOf(bases) {
  const heading_rad = (bases[0].heading_deg * Math.PI) / 180;
  const [c, s] = [Math.cos(heading_rad), Math.sin(heading_rad)];
  const corners = bases.flatMap(cornersOf);
  const along = corners.map(([x, y]) => x * c + y * s);
  const across = corners.map(([x, y]) => x * s - y * c);
  const [[rear, front], [left, right]] = [along, across].map((all) => [Math.min(...all), Math.max(...all)]);
  const [a, b] = [(rear + front) / 2, (left + right) / 2];
  return {
    x_mm: a * c + b * s,
    y_mm: a * s - b * c,
    heading_deg: bases[0].heading_deg,
    width_mm: right - left,
    depth_mm: front - rear,
  };
}
