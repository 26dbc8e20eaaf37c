/**
 * The visible part of the table, and the side from which it is seen. Pure arithmetic, without the page.
 *
 * Three frames meet here: the table (x, y in mm, y up), the board (u, v in mm, v down, turned to
 * the side that the player stands on), and the screen (px from the drawing's top left corner).
 *
 * @typedef {{width_mm: number, depth_mm: number}} Size
 * @typedef {[[number, number], [number, number]]} Area  the corners with the least and the greatest x and y, mm
 * @typedef {[number, number, number, number, number, number]} Matrix  as SVG's matrix()
 * @typedef {object} View
 * @property {number} turn  quarter turns clockwise, 0 to 3
 * @property {number} u_mm  the board's point in the middle of the screen
 * @property {number} v_mm
 * @property {number} px_per_mm
 * @property {number} width_px  the drawing's size on the screen
 * @property {number} height_px
 */

const LARGEST_PX_PER_MM = 12;
const MARGIN_PX = 14;
/** Room below the whole table for the scale, the tools and the notices, so that they hide nothing on it. */
const FOOT_PX = 48;

/** The whole table, or an area of it, in a drawing of this size. @type {(size: Size, width_px: number, height_px: number, turn: number, area?: Area) => View} */
export function fitted(size, width_px, height_px, turn, area = whole(size)) {
  const board = boardSize(sizeOf(area), turn);
  const px_per_mm = fittingScale(sizeOf(area), width_px, height_px, turn);
  const below_px = (height_px - board.depth_mm * px_per_mm) / 2;
  const [[left, low], [right, high]] = area;
  const [u_mm, v_mm] = onBoard(size, turn, (left + right) / 2, (low + high) / 2);
  return {
    turn,
    u_mm,
    v_mm: v_mm + Math.max(0, FOOT_PX - below_px) / px_per_mm,
    px_per_mm,
    width_px,
    height_px,
  };
}

/** The quarter turn at which the table fills a drawing best. @type {(size: Size, width_px: number, height_px: number) => number} */
export function bestTurn(size, width_px, height_px) {
  // The foot is left below either, and would keep a phone's table from standing upright.
  const [straight, turned] = [0, 3].map((turn) => fittingScale(size, width_px, height_px, turn, MARGIN_PX));
  return turned > 1.05 * straight ? 3 : 0;
}

/** The whole table, or an area of it, in an element of the page, turned to fill it best. @type {(size: Size, room: {clientWidth: number, clientHeight: number}, area?: Area, turn?: number) => View} */
export function wholeTable(size, { clientWidth, clientHeight }, area = whole(size), turn) {
  turn ??= bestTurn(sizeOf(area), clientWidth, clientHeight);
  return fitted(size, clientWidth, clientHeight, turn, area);
}

/** The view moved on the screen; its middle stays on the table. @type {(view: View, size: Size, dx_px: number, dy_px: number) => View} */
export function panned(view, size, dx_px, dy_px) {
  const board = boardSize(size, view.turn);
  return {
    ...view,
    u_mm: clamp(view.u_mm - dx_px / view.px_per_mm, 0, board.width_mm),
    v_mm: clamp(view.v_mm - dy_px / view.px_per_mm, 0, board.depth_mm),
  };
}

/** The view magnified by a factor about a point of the screen. @type {(view: View, size: Size, factor: number, x_px: number, y_px: number) => View} */
export function zoomed(view, size, factor, x_px, y_px) {
  const smallest = 0.5 * fittingScale(size, view.width_px, view.height_px, view.turn);
  const px_per_mm = clamp(view.px_per_mm * factor, smallest, LARGEST_PX_PER_MM);
  const [dx_px, dy_px] = [x_px - view.width_px / 2, y_px - view.height_px / 2];
  const moved_mm = 1 / view.px_per_mm - 1 / px_per_mm;
  const closer = { ...view, px_per_mm, u_mm: view.u_mm + dx_px * moved_mm, v_mm: view.v_mm + dy_px * moved_mm };
  return panned(closer, size, 0, 0);
}

/** The same view in a drawing of another size. @type {(view: View, width_px: number, height_px: number) => View} */
export function resized(view, width_px, height_px) {
  return { ...view, width_px, height_px };
}

/** The matrix from the table to the board. @type {(size: Size, turn: number) => Matrix} */
export function boardMatrix(size, turn) {
  const { width_mm: w, depth_mm: d } = size;
  /** @type {Matrix[]} */
  const matrices = [
    [1, 0, 0, -1, 0, d],
    [0, 1, 1, 0, 0, 0],
    [-1, 0, 0, 1, w, 0],
    [0, -1, -1, 0, d, w],
  ];
  return matrices[turn];
}

/** The viewBox of the drawing. @type {(view: View) => string} */
export function viewBox(view) {
  const [width_mm, height_mm] = [view.width_px / view.px_per_mm, view.height_px / view.px_per_mm];
  return [view.u_mm - width_mm / 2, view.v_mm - height_mm / 2, width_mm, height_mm].map(short).join(" ");
}

/** Converts table coordinates to screen coordinates. @type {(view: View, size: Size, x_mm: number, y_mm: number) => [number, number]} */
export function toScreen(view, size, x_mm, y_mm) {
  const [u_mm, v_mm] = onBoard(size, view.turn, x_mm, y_mm);
  return [
    (u_mm - view.u_mm) * view.px_per_mm + view.width_px / 2,
    (v_mm - view.v_mm) * view.px_per_mm + view.height_px / 2,
  ];
}

/** Converts screen coordinates to table coordinates. @type {(view: View, size: Size, x_px: number, y_px: number) => [number, number]} */
export function toTable(view, size, x_px, y_px) {
  const [a, b, c, d, e, f] = boardMatrix(size, view.turn);
  const u_mm = view.u_mm + (x_px - view.width_px / 2) / view.px_per_mm - e;
  const v_mm = view.v_mm + (y_px - view.height_px / 2) / view.px_per_mm - f;
  // Each of the four matrices is its own inverse.
  return [a * u_mm + c * v_mm, b * u_mm + d * v_mm];
}

/** Moves a label in from the drawing's edge so that it is not cut off; labels out of view stay. @type {(view: View, size: Size, at_mm: [number, number], words_px: {half: number, height: number}) => [number, number]} */
export function uncut(view, size, at_mm, { half, height }) {
  const [x, y] = toScreen(view, size, ...at_mm);
  if (x < 0 || x > view.width_px || y < 0 || y > view.height_px) return at_mm;
  const [inside_x, inside_y] = [clampedInside(x, half, view.width_px), clampedInside(y, height / 2, view.height_px)];
  return inside_x === x && inside_y === y ? at_mm : toTable(view, size, inside_x, inside_y);
}

/** @type {(at_px: number, half_px: number, room_px: number) => number} */
function clampedInside(at_px, half_px, room_px) {
  return room_px < 2 * half_px ? room_px / 2 : clamp(at_px, half_px, room_px - half_px);
}

/** Below this scale the table shows fewer words. */
const FAR_PX_PER_MM = 0.55;

/** Whether the table is seen from far away. @type {(view: View) => boolean} */
export function isFar({ px_per_mm }) {
  return px_per_mm < FAR_PX_PER_MM;
}

/** A number rounded for SVG. @type {(value: number) => string} */
export function short(value) {
  return String(Math.round(value * 1000) / 1000);
}

/** @type {(size: Size, turn: number, x_mm: number, y_mm: number) => [number, number]} */
function onBoard(size, turn, x_mm, y_mm) {
  const [a, b, c, d, e, f] = boardMatrix(size, turn);
  return [a * x_mm + c * y_mm + e, b * x_mm + d * y_mm + f];
}

/** @type {(size: Size) => Area} */
export function whole({ width_mm, depth_mm }) {
  return [
    [0, 0],
    [width_mm, depth_mm],
  ];
}

/** @type {(area: Area) => Size} */
function sizeOf([[left, low], [right, high]]) {
  return { width_mm: right - left, depth_mm: high - low };
}

/** @type {(size: Size, turn: number) => Size} */
function boardSize(size, turn) {
  return turn % 2 === 0 ? size : { width_mm: size.depth_mm, depth_mm: size.width_mm };
}

/** @type {(size: Size, width_px: number, height_px: number, turn: number, foot_px?: number) => number} */
function fittingScale(size, width_px, height_px, turn, foot_px = FOOT_PX) {
  const board = boardSize(size, turn);
  const [w_px, h_px] = [width_px - 2 * MARGIN_PX, height_px - MARGIN_PX - foot_px];
  return Math.max(0.02, Math.min(w_px / board.width_mm, h_px / board.depth_mm));
}

/** @type {(value: number, low: number, high: number) => number} */
function clamp(value, low, high) {
  return Math.min(high, Math.max(low, value));
}
