/** Pieces of terrain in hand: shapes to begin with, moved, turned and stretched. Knows no rules. */

/** @typedef {import("../board/state.js").Point} Point */
/** @typedef {"oval" | "block" | "strip"} Ready */

const OVAL_CORNERS = 10;

/** A shape about a place; `size_mm` is its longer half. @type {(ready: Ready, at_mm: Point, size_mm: number) => Point[]} */
export function readyShape(ready, [x, y], size_mm) {
  if (ready === "oval") {
    const angles = Array.from({ length: OVAL_CORNERS }, (_, index) => (index * 2 * Math.PI) / OVAL_CORNERS);
    return angles.map((angle) => [x + size_mm * Math.cos(angle), y + 0.75 * size_mm * Math.sin(angle)]);
  }
  const wide_mm = ready === "strip" ? size_mm / 12 : 0.7 * size_mm;
  return [[x - size_mm, y - wide_mm], [x + size_mm, y - wide_mm], [x + size_mm, y + wide_mm], [x - size_mm, y + wide_mm]];
}

/** @type {(outline_mm: Point[]) => Point} */
export function middleOf(outline_mm) {
  const sum = (/** @type {0 | 1} */ axis) => outline_mm.reduce((total, point) => total + point[axis], 0) / outline_mm.length;
  return [sum(0), sum(1)];
}

/** @type {(outline_mm: Point[], by_mm: Point) => Point[]} */
export function shifted(outline_mm, [dx, dy]) {
  return outline_mm.map(([x, y]) => [x + dx, y + dy]);
}

/** About its middle, counter-clockwise. @type {(outline_mm: Point[], by_deg: number) => Point[]} */
export function turned(outline_mm, by_deg) {
  const [cx, cy] = middleOf(outline_mm);
  const by_rad = (by_deg * Math.PI) / 180;
  const [c, s] = [Math.cos(by_rad), Math.sin(by_rad)];
  return outline_mm.map(([x, y]) => [cx + c * (x - cx) - s * (y - cy), cy + s * (x - cx) + c * (y - cy)]);
}

/** About its middle. @type {(outline_mm: Point[], factor: number) => Point[]} */
export function sized(outline_mm, factor) {
  const [cx, cy] = middleOf(outline_mm);
  return outline_mm.map(([x, y]) => [cx + factor * (x - cx), cy + factor * (y - cy)]);
}

/** Every corner upon the table. @type {(outline_mm: Point[], size: {width_mm: number, depth_mm: number}) => Point[]} */
export function onTable(outline_mm, { width_mm, depth_mm }) {
  return outline_mm.map(([x, y]) => [Math.min(width_mm, Math.max(0, x)), Math.min(depth_mm, Math.max(0, y))]);
}

/** Whether a place lies in an outline. @type {(outline_mm: Point[], at_mm: Point) => boolean} */
export function holds(outline_mm, [x, y]) {
  return outline_mm.reduce((inside, [ax, ay], index) => {
    const [bx, by] = outline_mm[(index + 1) % outline_mm.length];
    return ay > y !== by > y && x < ax + ((y - ay) * (bx - ax)) / (by - ay) ? !inside : inside;
  }, false);
}

/** The corner that is nearest to a place, and how far it is. @type {(outline_mm: Point[], at_mm: Point) => {corner: number, far_mm: number}} */
export function nearestCorner(outline_mm, [x, y]) {
  const far = outline_mm.map(([ax, ay]) => Math.hypot(ax - x, ay - y));
  const far_mm = Math.min(...far);
  return { corner: far.indexOf(far_mm), far_mm };
}
