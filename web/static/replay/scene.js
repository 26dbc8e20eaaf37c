/** Fills the board's state with a moment of a recording: the board draws it as it draws any table. */
import { cornersOf } from "../board/shapes.js";
import { sideNumber } from "../board/things.js";
import { shareWithBoard } from "../game/state.js";
import { linesAt } from "./moment.js";
import { slid } from "./state.js";

/** @typedef {import("../game/state.js").State} State */
/** @typedef {import("../board/state.js").Unit} Unit */
/** @typedef {import("./state.js").Replay} Replay */
/** @typedef {import("../board/state.js").Shape} Shape */

/** Show on the board what is shown of the recording. @type {(state: State, replay: Replay) => void} */
export function showMoment(state, replay) {
  const { film, at, branch } = replay;
  const share = slid(replay);
  const table = branch ?? film.tableAt(at);
  const units = share === null || branch ? table.units : sliding(film.tableAt(replay.slide?.from ?? at).units, table.units, share);
  const now = { version: film.entries[at]?.n ?? 0, frame: -1, units, commanders: table.commanders, disputes: 0, game: 0, notices: [], simulated: null };
  state.now = /** @type {any} */ (now);
  showGame(state, replay);
  if (!branch) state.about = { title: "", lines: [], shapes: trailShapes(state, replay) };
}

/** What the game knows of the units, and the drawing of what is looked at. @type {(state: State, replay: Replay) => void} */
function showGame(state, replay) {
  const { film, at, branch } = replay;
  const { markers = {}, round = {}, sides = [] } = film.standings[at] ?? {};
  const evidence = branch ? [] : linesAt(replay).flatMap((line) => line.evidence);
  const view = { version: at, has_begun: true, markers, to_place: [], moved: [], intents: [], actions: [], log: [{ evidence }], state: { round, sides } };
  state.game.view = /** @type {any} */ (view);
  state.game.looked = "log 0";
  shareWithBoard(state, { has_begun: true, markers, closed: null });
  if (!branch && round.active) state.rulings.active = round.active;
}

/** Units on their way from where they lay to where they lie. @type {(from: Unit[], to: Unit[], share: number) => Unit[]} */
function sliding(from, to, share) {
  const before = new Map(from.map((unit) => [unit.id, unit]));
  const eased = share * share * (3 - 2 * share);
  return to.map((unit) => {
    const old = before.get(unit.id);
    if (!old || old === unit || old.bases.length !== unit.bases.length) return unit;
    const bases = unit.bases.map((base, index) => ({ ...base, ...between(old.bases[index], base, eased) }));
    return { ...unit, ...between(old, unit, eased), bases };
  });
}

/** @typedef {{x_mm: number, y_mm: number, heading_deg: number}} Place */

/** @type {(a: Place, b: Place, share: number) => Place} */
function between(a, b, share) {
  const turned_deg = ((b.heading_deg - a.heading_deg + 540) % 360) - 180;
  return {
    x_mm: a.x_mm + share * (b.x_mm - a.x_mm),
    y_mm: a.y_mm + share * (b.y_mm - a.y_mm),
    heading_deg: a.heading_deg + share * turned_deg,
  };
}

/** So many entries follow a position at most that tell how units were moved to where they lie in it. */
const MOVES_AFTER = 24;

/** Every move of one unit up to now, or all units' moves of this round. @type {(state: State, replay: Replay) => Shape[]} */
export function trailShapes(state, replay) {
  const { film, at, trail } = replay;
  if (trail) return shapesOf(state, replay, trail, film.movesOf(trail).filter((place) => place <= at), true);
  if (!replay.ghosts) return [];
  const began = film.rounds.findLast((place) => place <= at) ?? 0;
  return movedSince(replay, began).flatMap((id) => shapesOf(state, replay, id, movesSince(replay, id, began), false));
}

/** The units that lie elsewhere than as the round began. @type {(replay: Replay, began: number) => string[]} */
function movedSince({ film, at }, began) {
  const before = new Map(film.tableAt(began).units.map((unit) => [unit.id, unit]));
  return film.tableAt(at).units.filter((unit) => before.get(unit.id) !== unit).map(({ id }) => id);
}

/** Where a unit lay as the round began, and its moves since. @type {(replay: Replay, id: string, began: number) => number[]} */
function movesSince({ film, at }, id, began) {
  const moves = film.movesOf(id).filter((place) => place <= at);
  const first = moves.findLast((place) => place <= began) ?? moves[0];
  return moves.filter((place) => place >= (first ?? 0));
}

/** @type {(state: State, replay: Replay, id: string, places: number[], numbered: boolean) => Shape[]} */
function shapesOf(state, { film }, id, places, numbered) {
  const lay = places.flatMap((at) => film.tableAt(at).units.find((unit) => unit.id === id) ?? []);
  if (lay.length < 2) return [];
  const side = sideNumber(state, lay[0].side) % 8;
  const past = lay.slice(0, -1).flatMap((unit, index) => outlines(unit, `trail-${side}`, numbered ? String(index + 1) : ""));
  return [...past, ...ways(film, id, places, lay, `trail-way-${side}`)];
}

/** @type {(unit: Unit, role: string, label: string) => Shape[]} */
function outlines(unit, role, label) {
  return unit.bases.map((base, index) => ({ kind: "polygon", role, points_mm: cornersOf(base), label: index ? "" : label }));
}

/** From each place to the next: as the camera saw it go, or straight. @type {(film: import("./film.js").Film, id: string, places: number[], lay: Unit[], role: string) => Shape[]} */
function ways(film, id, places, lay, role) {
  return lay.slice(1).map((unit, index) => {
    const seen = pathOf(film, id, places[index], places[index + 1]);
    const from = /** @type {[number, number]} */ ([lay[index].x_mm, lay[index].y_mm]);
    return { kind: "line", role, points_mm: [from, ...seen, /** @type {[number, number]} */ ([unit.x_mm, unit.y_mm])], label: "" };
  });
}

/** How a unit was really moved between two entries. @type {(film: import("./film.js").Film, id: string, from: number, to: number) => [number, number][]} */
function pathOf(film, id, from, to) {
  const move = film.entries.slice(from + 1, to + MOVES_AFTER).find((entry) => entry.kind === "move" && entry.unit === id);
  return (move?.path ?? []).map(([, x_mm, y_mm]) => /** @type {[number, number]} */ ([x_mm, y_mm]));
}
