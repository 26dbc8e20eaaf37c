/** A unit in a hand: picked up, carried, let go, and found again where it was put. */
import { layTape } from "./choosing.js";
import { markerOf } from "./things.js";

/** @typedef {import("./state.js").State} State */
/** @typedef {import("./state.js").TableState} TableState */
/** @typedef {import("./state.js").Unit} Unit */
/** @typedef {import("./state.js").Ghost} Ghost */

/** Pick a unit up. @type {(state: State, unit: Unit) => void} */
export function lift(state, unit) {
  const { id, x_mm, y_mm, heading_deg } = unit;
  state.ghost = { unit: id, x_mm, y_mm, heading_deg, from: unit, sent: false };
  state.hover = null;
  state.notice = null;
  layTape(state);
}

/** Put the unit in hand elsewhere. @type {(state: State, place: {x_mm?: number, y_mm?: number, heading_deg?: number}) => void} */
export function carry(state, place) {
  if (!state.ghost) return;
  state.ghost = { ...state.ghost, ...place };
  state.ghost.heading_deg = (state.ghost.heading_deg + 360) % 360;
  layTape(state);
}

/** Where a unit lies that is wheeled to a heading: the front corner that it turns to stays where it is. @type {(unit: {x_mm: number, y_mm: number, heading_deg: number, width_mm: number, depth_mm: number}, to_deg: number) => {x_mm: number, y_mm: number, heading_deg: number}} */
export function wheeled({ x_mm, y_mm, heading_deg, width_mm, depth_mm }, to_deg) {
  const turned_deg = ((((to_deg - heading_deg + 180) % 360) + 360) % 360) - 180;
  const [rad, turned_rad] = [heading_deg, turned_deg].map((deg) => (deg * Math.PI) / 180);
  const [ahead, left] = [depth_mm / 2, (Math.sign(turned_deg) * width_mm) / 2];
  const [to_x, to_y] = [ahead * Math.cos(rad) - left * Math.sin(rad), ahead * Math.sin(rad) + left * Math.cos(rad)];
  const [cos, sin] = [Math.cos(turned_rad), Math.sin(turned_rad)];
  return { x_mm: x_mm + to_x - cos * to_x + sin * to_y, y_mm: y_mm + to_y - sin * to_x - cos * to_y, heading_deg: to_deg };
}

/** Let go of the unit in hand: it is on its way; where it was can be gone back to. @type {(state: State) => void} */
export function letGo(state) {
  if (!state.ghost) return;
  const { id, x_mm, y_mm, heading_deg } = state.ghost.from;
  state.undo = [...state.undo, { unit: id, x_mm, y_mm, heading_deg }];
  state.ghost = { ...state.ghost, sent: true };
  layTape(state);
}

/** Forget the unit in hand. @type {(state: State) => void} */
export function dropGhost(state) {
  state.ghost = null;
  layTape(state);
}

/** Whether a unit is seen where it was put: nothing is decided by this but when the ghost goes. @type {(now: TableState, ghost: Ghost) => boolean} */
export function hasArrived(now, ghost) {
  const leader = now.commanders.find((each) => each.id === ghost.unit);
  const unit = leader ? markerOf(leader) : now.units.find((each) => each.id === ghost.unit);
  if (!unit || unit.bases.some((base) => base.seen === "held")) return false;
  const turned_deg = Math.abs(((unit.heading_deg - ghost.heading_deg + 540) % 360) - 180);
  return Math.hypot(unit.x_mm - ghost.x_mm, unit.y_mm - ghost.y_mm) < 5 && turned_deg < 5;
}
