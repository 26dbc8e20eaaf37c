/** Fills the board's state with a moment of a recording, and the trails of past moves. */
import { cornersOf } from "../board/shapes.js";
import { sideNumber } from "../board/things.js";
import { shareWithBoard } from "../game/state.js";
import { linesAt } from "./moment.js";
import { haveMoved } from "./positions.js";
import { slideProgress } from "./state.js";

/** @typedef {import("../game/state.js").State} State */
/** @typedef {import("../board/state.js").Unit} Unit */
/** @typedef {import("./state.js").Replay} Replay */
/** @typedef {import("../board/state.js").Shape} Shape */

/** Puts the moment of the recording on the board. @type {(state: State, replay: Replay) => void} */
export function showMoment(state, replay) {
  const { film, at, branch } = replay;
  const share = slideProgress(replay);
  const table = branch ?? film.tableAt(at);
  const units =
    share === null || branch
      ? table.units
      : interpolated(film.tableAt(replay.slide?.from ?? at).units, table.units, share);
  const now = {
    version: film.entries[at]?.n ?? 0,
    frame: -1,
    units,
    commanders: table.commanders,
    disputes: 0,
    game: 0,
    notices: [],
    simulated: null,
    hexes: { stacks: stacksAt(replay, table) },
  };
  state.now = /** @type {any} */ (now);
  showGame(state, replay);
  if (!branch) state.about = { title: "", lines: [], shapes: trailShapes(state, replay) };
}

/** The stacks of the game at that moment; visible counters lie on top. @type {(replay: Replay, table: Pick<import("../board/state.js").TableState, "units" | "commanders">) => import("../board/state.js").HexStack[]} */
export function stacksAt({ film, at }, { units, commanders }) {
  const lying = units.filter(({ bases }) => bases.some((base) => base.seen !== "held"));
  const present = commanders.filter((leader) => leader.seen !== "held");
  const seen = [...lying.map(({ id }) => `unit:${id}`), ...present.map(({ id }) => `commander:${id}`)];
  return Object.entries(film.standings[at]?.stacks ?? {}).map(([hex, things]) => {
    const hidden = things.filter((thing) => !seen.includes(thing));
    return { hex, things: [...things.filter((thing) => seen.includes(thing)), ...hidden], hidden };
  });
}

/** Passes on the game at that moment, and the drawing of the line being looked at. @type {(state: State, replay: Replay) => void} */
function showGame(state, replay) {
  const { film, at, branch } = replay;
  const { marks = {}, standing } = film.standings[at] ?? {};
  const evidence = branch ? [] : linesAt(replay).flatMap((line) => line.evidence);
  const view = {
    version: at,
    has_begun: true,
    marks,
    standing,
    settings: [],
    forms: [],
    hand: [],
    to_place: [],
    moved: [],
    intents: [],
    actions: [],
    log: [{ evidence }],
  };
  state.game.view = /** @type {any} */ (view);
  state.game.looked = "log 0";
  shareWithBoard(state, { has_begun: true, marks, closed: null });
  if (!branch && standing?.active) state.rulings.active = standing.active;
}

/** Interpolates units between two positions. @type {(from: Unit[], to: Unit[], share: number) => Unit[]} */
function interpolated(from, to, share) {
  const before = new Map(from.map((unit) => [unit.id, unit]));
  const eased = share * share * (3 - 2 * share);
  return to.map((unit) => {
    const old = before.get(unit.id);
    if (!old || old === unit || old.bases.length !== unit.bases.length) return unit;
    const bases = unit.bases.map((base, index) => ({ ...base, ...interpolatedPlace(old.bases[index], base, eased) }));
    return { ...unit, ...interpolatedPlace(old, unit, eased), bases };
  });
}

/** @typedef {{x_mm: number, y_mm: number, heading_deg: number}} Place */

/** @type {(a: Place, b: Place, share: number) => Place} */
function interpolatedPlace(a, b, share) {
  const turned_deg = ((b.heading_deg - a.heading_deg + 540) % 360) - 180;
  return {
    x_mm: a.x_mm + share * (b.x_mm - a.x_mm),
    y_mm: a.y_mm + share * (b.y_mm - a.y_mm),
    heading_deg: a.heading_deg + share * turned_deg,
  };
}

/** How many entries after a position may contain the path of a move that led to it. */
const MOVES_AFTER = 24;

/** The trails of one unit so far, or of all units in this turn. @type {(state: State, replay: Replay) => Shape[]} */
export function trailShapes(state, replay) {
  const { film, at, trail } = replay;
  if (trail)
    return shapesOf(
      state,
      replay,
      trail,
      film.movesOf(trail).filter((place) => place <= at),
      true,
    );
  if (!replay.ghosts) return [];
  const began = film.turns.findLast((place) => place <= at) ?? 0;
  return movedSince(replay, began).flatMap((id) => shapesOf(state, replay, id, movesSince(replay, id, began), false));
}

/** The units that have moved since the turn began. @type {(replay: Replay, began: number) => string[]} */
function movedSince({ film, at }, began) {
  const before = new Map(film.tableAt(began).units.map((unit) => [unit.id, unit]));
  return film
    .tableAt(at)
    .units.filter((unit) => before.get(unit.id) !== unit)
    .map(({ id }) => id);
}

/** The indices of a unit's moves in this turn, and of its starting place. @type {(replay: Replay, id: string, began: number) => number[]} */
function movesSince({ film, at }, id, began) {
  const moves = film.movesOf(id).filter((place) => place <= at);
  const first = moves.findLast((place) => place <= began) ?? moves[0];
  return moves.filter((place) => place >= (first ?? 0));
}

/** @type {(state: State, replay: Replay, id: string, places: number[], numbered: boolean) => Shape[]} */
function shapesOf(state, { film }, id, places, numbered) {
  /** @type {{at: number, unit: Unit}[]} */
  const stops = [];
  for (const at of places) {
    const unit = film.tableAt(at).units.find((unit) => unit.id === id);
    if (!unit) continue;
    // A way that ends where it began leaves no trail: most were refused, and put back.
    const back = stops.findIndex((stop) => !haveMoved(stop.unit.bases, unit.bases));
    if (back >= 0) stops.length = back;
    stops.push({ at, unit });
  }
  const lay = stops.map(({ unit }) => unit);
  if (lay.length < 2) return [];
  const side = sideNumber(state, lay[0].side) % 8;
  const past = lay
    .slice(0, -1)
    .flatMap((unit, index) => outlines(unit, `trail-${side}`, numbered ? String(index + 1) : ""));
  const stopped = stops.map(({ at }) => at);
  return [...past, ...paths(film, id, stopped, lay, `trail-way-${side}`)];
}

/** @type {(unit: Unit, role: string, label: string) => Shape[]} */
function outlines(unit, role, label) {
  return unit.bases.map((base, index) => ({
    kind: "polygon",
    role,
    points_mm: cornersOf(base),
    label: index ? "" : label,
  }));
}

/** Lines from each place to the next: the path that the camera saw, or straight. @type {(film: import("./film.js").Film, id: string, places: number[], lay: Unit[], role: string) => Shape[]} */
function paths(film, id, places, lay, role) {
  return lay.slice(1).map((unit, index) => {
    const seen = pathOf(film, id, places[index], places[index + 1]);
    const from = /** @type {[number, number]} */ ([lay[index].x_mm, lay[index].y_mm]);
    return {
      kind: "line",
      role,
      points_mm: [from, ...seen, /** @type {[number, number]} */ ([unit.x_mm, unit.y_mm])],
      label: "",
    };
  });
}

/** The path that the camera saw between two entries. @type {(film: import("./film.js").Film, id: string, from: number, to: number) => [number, number][]} */
function pathOf(film, id, from, to) {
  const move = film.entries
    .slice(from + 1, to + MOVES_AFTER)
    .find((entry) => entry.kind === "move" && entry.unit === id);
  return (move?.path ?? []).map(([, x_mm, y_mm]) => /** @type {[number, number]} */ ([x_mm, y_mm]));
}
