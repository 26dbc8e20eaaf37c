/** Ghosts of past moves: where units lay before, and the way from there. */
import { sideNumber } from "../board/things.js";
import { cornersOf } from "./positions.js";

/** @typedef {import("../board/state.js").State} State */
/** @typedef {import("../board/state.js").Shape} Shape */
/** @typedef {import("../board/state.js").Unit} Unit */
/** @typedef {import("./state.js").Replay} Replay */

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
