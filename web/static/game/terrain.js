/** Edits the pieces of terrain that are laid before a game. */
import { meanPoint } from "../board/shapes.js";
import { playing } from "./state.js";

/** @typedef {import("./state.js").State} State */
/** @typedef {import("../board/state.js").Point} Point */
/** @typedef {import("../board/state.js").Piece} Piece */

const SIZE_BW = 3;
const LEAST_CORNERS = 3;

/** The form in which this seat may lay terrain now; null if there is none. @type {(state: State) => import("./state.js").LayTerrain | null} */
export function layingStep(state) {
  return playing(state)?.forms.find((form) => form.form === "lay-terrain") ?? null;
}

/** The terrain to draw: the pieces in hand, or the game's; null for the table file's. @type {(state: State) => import("../board/state.js").Ground | null} */
export function groundShown(state) {
  const { chosen } = state.game.laying;
  if (layingStep(state)) return { pieces: pieces(state), chosen };
  const terrain = playing(state)?.terrain;
  return terrain ? { pieces: terrain, chosen } : null;
}

/** @type {(state: State) => Piece[]} */
export function pieces(state) {
  return state.game.laying.pieces ?? playing(state)?.terrain ?? [];
}

/** Changes the pieces, with a step to undo. @type {(state: State, now: Piece[]) => void} */
export function changePieces(state, now) {
  const { laying } = state.game;
  laying.undo = [...laying.undo, pieces(state)];
  laying.pieces = now;
}

/** Changes the outline of a piece without a step to undo, since a drag has many. @type {(state: State, id: string, outline_mm: Point[]) => void} */
export function setOutline(state, id, outline_mm) {
  const { laying, facts } = { laying: state.game.laying, facts: state.facts };
  laying.pieces = pieces(state).map((piece) =>
    piece.id === id ? { ...piece, outline_mm: clampedToTable(outline_mm, facts) } : piece,
  );
}

/** Handles a tap on the table: chooses a piece, adds a corner, or lays a new piece. @type {(state: State, at_mm: Point) => void} */
export function tapTerrain(state, at_mm) {
  const { laying } = state.game;
  const [x, y] = at_mm;
  const { width_mm, depth_mm } = state.facts;
  if (x < 0 || y < 0 || x > width_mm || y > depth_mm) return;
  if (laying.tool === "corners") {
    laying.corners = [...laying.corners, at_mm];
    return;
  }
  const there = pieceAt(state, at_mm);
  if (there) laying.chosen = laying.chosen === there.id ? null : there.id;
  else if (laying.chosen) laying.chosen = null;
  else addPiece(state, newShape(laying.tool, at_mm, SIZE_BW * state.facts.marker_mm));
}

/** The topmost piece at a place. @type {(state: State, at_mm: Point) => Piece | undefined} */
export function pieceAt(state, at_mm) {
  return pieces(state).findLast(({ outline_mm }) => contains(outline_mm, at_mm));
}

/** Adds a piece of the chosen kind. @type {(state: State, outline_mm: Point[]) => void} */
function addPiece(state, outline_mm) {
  const { laying } = state.game;
  const id = freeName(pieces(state), laying.kind);
  changePieces(state, [
    ...pieces(state),
    { id, kind: laying.kind, outline_mm: clampedToTable(outline_mm, state.facts) },
  ]);
  laying.chosen = id;
}

/** @type {(all: Piece[], kind: string) => string} */
function freeName(all, kind) {
  const taken = new Set(all.map(({ id }) => id));
  for (let number = 1; ; number += 1) if (!taken.has(`${kind} ${number}`)) return `${kind} ${number}`;
}

/** Makes a piece of the tapped corners. @type {(state: State) => void} */
export function closeCorners(state) {
  const { laying } = state.game;
  if (laying.corners.length < LEAST_CORNERS) return;
  addPiece(state, laying.corners);
  Object.assign(laying, { corners: [], tool: "oval" });
}

/** Edits the pieces as a button says. @type {(state: State, edit: string) => void} */
export function editPiece(state, edit) {
  const { laying } = state.game;
  const piece = pieces(state).find(({ id }) => id === laying.chosen);
  if (edit === "undo") {
    laying.pieces = laying.undo.at(-1) ?? laying.pieces;
    Object.assign(laying, { undo: laying.undo.slice(0, -1), chosen: null });
  } else if (edit === "close") closeCorners(state);
  else if (edit === "drop") laying.corners = laying.corners.slice(0, -1);
  else if (edit === "clear") changePieces(state, []);
  else if (!piece) return;
  else if (edit === "remove")
    changePieces(
      state,
      pieces(state).filter(({ id }) => id !== piece.id),
    );
  else {
    changePieces(state, pieces(state));
    const { outline_mm } = piece;
    const edits = /** @type {Record<string, () => Point[]>} */ ({
      larger: () => scaled(outline_mm, 1.15),
      smaller: () => scaled(outline_mm, 1 / 1.15),
      left: () => rotated(outline_mm, 15),
      right: () => rotated(outline_mm, -15),
    });
    setOutline(state, piece.id, edits[edit]?.() ?? outline_mm);
  }
}

/** Starts a drag of a corner of the chosen piece, or of a whole piece. @type {(state: State, at_mm: Point, tolerance_mm: number) => ((to_mm: Point) => void) | null} */
export function dragTerrain(state, at_mm, tolerance_mm) {
  const { laying } = state.game;
  const chosen = pieces(state).find(({ id }) => id === laying.chosen);
  const near = chosen && nearestCorner(chosen.outline_mm, at_mm);
  if (chosen && near && near.far_mm <= tolerance_mm) {
    changePieces(state, pieces(state));
    return (to_mm) =>
      setOutline(
        state,
        chosen.id,
        chosen.outline_mm.map((point, index) => (index === near.corner ? to_mm : point)),
      );
  }
  const piece = pieceAt(state, at_mm);
  if (!piece) return null;
  changePieces(state, pieces(state));
  laying.chosen = piece.id;
  return ([x, y]) => setOutline(state, piece.id, translated(piece.outline_mm, [x - at_mm[0], y - at_mm[1]]));
}

/** The action that lays the pieces; null where none are laid. @type {(state: State) => import("./state.js").Action | null} */
export function layAction(state) {
  const form = layingStep(state);
  const terrain = pieces(state).map(({ id, kind, outline_mm }) => ({
    id,
    kind,
    outline_mm: outline_mm.map(([x, y]) => [tenth(x), tenth(y)]),
  }));
  return form && { ...form.action, [form.key]: terrain };
}

/** @type {(mm: number) => number} */
function tenth(mm) {
  return Math.round(mm * 10) / 10;
}

/** The corners to drag. @type {(state: State) => Point[]} */
export function cornersShown(state) {
  if (!layingStep(state)) return [];
  const { laying } = state.game;
  return laying.tool === "corners"
    ? laying.corners
    : (pieces(state).find(({ id }) => id === laying.chosen)?.outline_mm ?? []);
}

/** @typedef {"oval" | "block" | "strip"} Ready */

const OVAL_CORNERS = 10;

/** A new shape about a point; `size_mm` is half of its length. @type {(ready: Ready, at_mm: Point, size_mm: number) => Point[]} */
export function newShape(ready, [x, y], size_mm) {
  if (ready === "oval") {
    const angles = Array.from({ length: OVAL_CORNERS }, (_, index) => (index * 2 * Math.PI) / OVAL_CORNERS);
    return angles.map((angle) => [x + size_mm * Math.cos(angle), y + 0.75 * size_mm * Math.sin(angle)]);
  }
  const wide_mm = ready === "strip" ? size_mm / 12 : 0.7 * size_mm;
  return [
    [x - size_mm, y - wide_mm],
    [x + size_mm, y - wide_mm],
    [x + size_mm, y + wide_mm],
    [x - size_mm, y + wide_mm],
  ];
}

/** @type {(outline_mm: Point[], by_mm: Point) => Point[]} */
export function translated(outline_mm, [dx, dy]) {
  return outline_mm.map(([x, y]) => [x + dx, y + dy]);
}

/** Rotates an outline counter-clockwise about its middle. @type {(outline_mm: Point[], by_deg: number) => Point[]} */
export function rotated(outline_mm, by_deg) {
  const [cx, cy] = meanPoint(outline_mm);
  const by_rad = (by_deg * Math.PI) / 180;
  const [c, s] = [Math.cos(by_rad), Math.sin(by_rad)];
  return outline_mm.map(([x, y]) => [cx + c * (x - cx) - s * (y - cy), cy + s * (x - cx) + c * (y - cy)]);
}

/** Scales an outline about its middle. @type {(outline_mm: Point[], factor: number) => Point[]} */
export function scaled(outline_mm, factor) {
  const [cx, cy] = meanPoint(outline_mm);
  return outline_mm.map(([x, y]) => [cx + factor * (x - cx), cy + factor * (y - cy)]);
}

/** Clamps an outline to the table. @type {(outline_mm: Point[], size: {width_mm: number, depth_mm: number}) => Point[]} */
export function clampedToTable(outline_mm, { width_mm, depth_mm }) {
  return outline_mm.map(([x, y]) => [Math.min(width_mm, Math.max(0, x)), Math.min(depth_mm, Math.max(0, y))]);
}

/** Whether a point lies in an outline. @type {(outline_mm: Point[], at_mm: Point) => boolean} */
export function contains(outline_mm, [x, y]) {
  return outline_mm.reduce((inside, [ax, ay], index) => {
    const [bx, by] = outline_mm[(index + 1) % outline_mm.length];
    return ay > y !== by > y && x < ax + ((y - ay) * (bx - ax)) / (by - ay) ? !inside : inside;
  }, false);
}

/** The corner nearest to a point, and its distance. @type {(outline_mm: Point[], at_mm: Point) => {corner: number, far_mm: number}} */
export function nearestCorner(outline_mm, [x, y]) {
  const far = outline_mm.map(([ax, ay]) => Math.hypot(ax - x, ay - y));
  const far_mm = Math.min(...far);
  return { corner: far.indexOf(far_mm), far_mm };
}
