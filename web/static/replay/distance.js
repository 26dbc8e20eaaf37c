/** The plain distance between two things, for a page that has no tablecam to ask. */
import { placeOf, split } from "../board/things.js";
import { cornersOf } from "./positions.js";

/** @typedef {import("../board/state.js").Point} Point */
/** @typedef {import("./branch.js").Branch} Branch */
/** @typedef {{distance_mm: number, from_mm: Point, to_mm: Point}} Distance */

/** How far apart two things lie where they are nearest; null where one is not on the table. @type {(branch: Branch, a: string, b: string) => Distance | null} */
export function distanceBetween(branch, a, b) {
  const [as, bs] = [outlinesOf(branch, a), outlinesOf(branch, b)];
  const all = as.flatMap((one) => bs.map((other) => between(one, other)));
  return all.length ? all.reduce((best, each) => (each.distance_mm < best.distance_mm ? each : best)) : null;
}

/** The outlines of a thing's bases; a point is an outline of one corner. @type {(branch: Branch, thing: string) => Point[][]} */
function outlinesOf({ units, commanders }, thing) {
  const place = placeOf(thing);
  if (place) return [[place]];
  const [kind, name] = split(thing);
  if (kind === "commander") return commanders.filter(({ id }) => id === name).map(({ x_mm, y_mm }) => [[x_mm, y_mm]]);
  return units.filter(({ id }) => id === name).flatMap(({ bases }) => bases.map(cornersOf));
}

/** @type {(one: Point[], other: Point[]) => Distance} */
function between(one, other) {
  const inside = one.find((corner) => holds(other, corner)) ?? other.find((corner) => holds(one, corner));
  if (inside) return { distance_mm: 0, from_mm: inside, to_mm: inside };
  const there = one.flatMap((corner) => edgesOf(other).map((edge) => fromCorner(corner, edge)));
  const back = other.flatMap((corner) => edgesOf(one).map((edge) => turned(fromCorner(corner, edge))));
  return [...there, ...back].reduce((best, each) => (each.distance_mm < best.distance_mm ? each : best));
}

/** @type {(outline: Point[]) => [Point, Point][]} */
function edgesOf(outline) {
  return outline.map((corner, index) => [corner, outline[(index + 1) % outline.length]]);
}

/** @type {(from_mm: Point, edge: [Point, Point]) => Distance} */
function fromCorner(from_mm, [a, b]) {
  const [dx, dy] = [b[0] - a[0], b[1] - a[1]];
  const along = ((from_mm[0] - a[0]) * dx + (from_mm[1] - a[1]) * dy) / (dx * dx + dy * dy || 1);
  const share = Math.min(1, Math.max(0, along));
  const to_mm = /** @type {Point} */ ([a[0] + share * dx, a[1] + share * dy]);
  return { distance_mm: Math.hypot(from_mm[0] - to_mm[0], from_mm[1] - to_mm[1]), from_mm, to_mm };
}

/** @type {(distance: Distance) => Distance} */
function turned({ distance_mm, from_mm, to_mm }) {
  return { distance_mm, from_mm: to_mm, to_mm: from_mm };
}

/** Whether a point lies in a base: on the same side of all its edges. @type {(outline: Point[], point: Point) => boolean} */
function holds(outline, [x, y]) {
  if (outline.length < 3) return false;
  const sides = edgesOf(outline).map(([a, b]) => Math.sign((b[0] - a[0]) * (y - a[1]) - (b[1] - a[1]) * (x - a[0])));
  return sides.every((side) => side >= 0) || sides.every((side) => side <= 0);
}
