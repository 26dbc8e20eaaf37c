/**
 * A branch: the table as it was at a moment, to change freely. Nothing is recorded.
 *
 * @typedef {object} Branch
 * @property {number} moment  the number of the entry from which it continues
 * @property {Unit[]} units  at their present places
 * @property {import("../board/state.js").Commander[]} commanders
 * @property {Set<string>} laid  the units that players have moved away from their recorded places
 * @property {Odds | null} odds
 * @property {string} error  why a request failed
 *
 * @typedef {import("../game/state.js").State} State
 * @typedef {import("../board/state.js").Unit} Unit
 * @typedef {import("./state.js").Replay} Replay
 * @typedef {{tables: {title: string, caption?: string, heads: string[], rows: string[][]}[]}} Odds  as `tablecam.rules.odds` gives them
 */
import { clear } from "../board/choosing.js";
import { dropGhost, letGo, Moves } from "../board/moves.js";

/** Begins a branch at the moment that is shown. @type {(state: State, replay: Replay) => void} */
export function beginBranch(state, replay) {
  const entry = replay.film.entries[replay.at];
  if (!entry) return;
  replay.playing = false;
  replay.slide = null;
  replay.branch = { moment: entry.n, ...replay.film.tableAt(replay.at), laid: new Set(), odds: null, error: "" };
  state.about = null;
  state.moving = true;
}

/** Ends the branch. @type {(state: State, replay: Replay) => void} */
export function endBranch(state, replay) {
  replay.branch = null;
  state.moving = false;
  dropGhost(state);
  clear(state);
}

/** Puts all units back. @type {(state: State, replay: Replay) => void} */
export function resetBranch(state, replay) {
  if (!replay.branch) return;
  const { units } = replay.film.tableAt(replay.at);
  Object.assign(replay.branch, { units, laid: new Set(), odds: null, error: "" });
  dropGhost(state);
}

/** The moved units of a branch, as requests send them. @type {(branch: Branch) => {moment: number, laid: Record<string, [number, number, number][]>}} */
export function branchRequest({ moment, units, laid }) {
  const moved = units.filter(({ id }) => laid.has(id));
  const places = moved.map(({ id, bases }) => [
    id,
    bases.map(({ x_mm, y_mm, heading_deg }) => [x_mm, y_mm, (heading_deg + 360) % 360]),
  ]);
  return { moment, laid: Object.fromEntries(places) };
}

/** Moves in a branch: they change the page's own units, and nothing else. */
export class BranchMoves extends Moves {
  /** @param {State} state @param {Replay} replay @param {() => void} changed */
  constructor(state, replay, changed) {
    super(state, changed);
    this.replay = replay;
  }

  /** Puts the unit in hand down in the branch. */
  async putDown() {
    letGo(this.state);
    const { ghost } = this.state;
    const { branch } = this.replay;
    if (ghost && branch) {
      branch.units = branch.units.map((unit) => (unit.id === ghost.unit ? movedUnit(unit, ghost) : unit));
      branch.laid.add(ghost.unit);
      branch.odds = null;
    }
    this.state.undo = [];
    dropGhost(this.state);
    this.changed();
  }
}

/** Moves a unit to a place and heading; its bases keep their formation. @type {(unit: Unit, to: {x_mm: number, y_mm: number, heading_deg: number}) => Unit} */
function movedUnit(unit, to) {
  const turned_deg = to.heading_deg - unit.heading_deg;
  const turned_rad = (turned_deg * Math.PI) / 180;
  const [c, s] = [Math.cos(turned_rad), Math.sin(turned_rad)];
  const bases = unit.bases.map((base) => {
    const [dx, dy] = [base.x_mm - unit.x_mm, base.y_mm - unit.y_mm];
    const place = { x_mm: to.x_mm + c * dx - s * dy, y_mm: to.y_mm + s * dx + c * dy };
    return {
      ...base,
      ...place,
      heading_deg: (base.heading_deg + turned_deg + 360) % 360,
      seen: /** @type {"hand"} */ ("hand"),
      held_s: null,
    };
  });
  return { ...unit, x_mm: to.x_mm, y_mm: to.y_mm, heading_deg: to.heading_deg, bases };
}
