/**
 * Draws bases with the symbols of their arms, and the shapes that explain answers.
 *
 * A base is drawn about its centre with its front toward +x, in millimetres.
 */
import { setAttr, setStyle, setText, svgElement, updateChildren } from "../shared/dom.js";
import { short, uncut } from "./view.js";

/** @typedef {import("./state.js").Base} Base */
/** @typedef {import("./state.js").Point} Point */
/** @typedef {import("./state.js").Shape} Shape */

/** The parts of a base, bottom to top. */
const PARTS = ["face", "symbol", "front", "pointer"];

/** Size of a letter of a label, with its halo. */
const LETTER_PX = { width: 7, height: 15 };

/** How long a held base takes to fade. */
const FAINTEST_AFTER_S = 60;

/** Draws the bases of a unit, above an outline that sets them off from the ground. @type {(group: Element, bases: Base[], look: {arm: string, uncertainty: number, marksOf?: (base: Base) => string}) => void} */
export function updateBases(group, bases, look) {
  if (!group.children.length) group.append(svgElement("g", { class: "casings" }), svgElement("g", { class: "bases" }));
  const keyOf = (/** @type {Base} */ base) => base.name ?? "only";
  const [casings, tops] = group.children;
  updateChildren(
    casings,
    bases,
    keyOf,
    () => svgElement("path"),
    (path, base) => {
      place(path, "casing", base, look.marksOf?.(base));
      setAttr(path, "d", face(base));
    },
  );
  updateChildren(tops, bases, keyOf, makeBase, (node, base) => {
    place(node, `base ${look.arm}`, base, look.marksOf?.(base));
    updateBase(node, base, look);
  });
}

/** @type {(node: SVGElement, name: string, base: Base, marks?: string) => void} */
function place(node, name, base, marks = "") {
  setAttr(node, "class", `${name} ${base.seen} ${base.doubted ? "doubted" : ""} ${marks}`.trim().replace(/ +/g, " "));
  setAttr(node, "transform", `translate(${short(base.x_mm)} ${short(base.y_mm)}) rotate(${short(base.heading_deg)})`);
  setStyle(node, "--faded", String(fadedBy(base.held_s)));
}

/** @type {(base: Base) => SVGElement} */
function makeBase(base) {
  const group = svgElement("g", base.name === undefined ? {} : { "data-thing": `base:${base.name}` });
  for (const part of PARTS) group.append(svgElement("path", { class: part }));
  group.append(svgElement("path", { class: "sigma-heading" }), svgElement("circle", { class: "sigma" }));
  return group;
}

/** @type {(group: SVGElement, base: Base, look: {arm: string, uncertainty: number}) => void} */
function updateBase(group, base, { arm, uncertainty }) {
  const paths = basePaths(base, arm);
  PARTS.forEach((part, index) => setAttr(group.children[index], "d", paths[part]));
  setAttr(group.children[PARTS.length], "d", uncertainty > 0 ? wedge(base, uncertainty) : "");
  setAttr(group.children[PARTS.length + 1], "r", short(uncertainty * base.sigma_mm));
}

/** How far a hidden base has faded, from 0 to 1, in steps that save redrawing. @type {(held_s: number | null) => number} */
export function fadedBy(held_s) {
  return Math.round(20 * Math.min(1, (held_s ?? 0) / FAINTEST_AFTER_S)) / 20;
}

/** The parts of a base: a round one has a pointer, but no front edge. @type {(base: Base, arm: string) => Record<string, string>} */
function basePaths(base, arm) {
  const [f, w] = [base.depth_mm / 2, base.width_mm / 2];
  const point = Math.min(w, f) * 0.34;
  return {
    face: face(base),
    // Round bases have smaller symbols of arms.
    symbol: isRound(base) ? symbol(f / Math.SQRT2, w / Math.SQRT2, arm) : symbol(f, w, arm),
    front: isRound(base) ? "" : `M${f} ${-w}V${w}`,
    pointer: `M${f} ${-point}L${f + point} 0L${f} ${point}Z`,
  };
}

/** Whether a base is a circle or an ellipse. @type {(base: {shape?: string}) => boolean} */
const isRound = ({ shape = "rectangle" }) => shape !== "rectangle";

/** The outline of a base. @type {(base: Base) => string} */
function face(base) {
  const [f, w] = [base.depth_mm / 2, base.width_mm / 2];
  if (isRound(base)) return `M${-f} 0A${f} ${w} 0 0 0 ${f} 0A${f} ${w} 0 0 0 ${-f} 0Z`;
  return `M${-f} ${-w}H${f}V${w}H${-f}Z`;
}

/** The usual symbol of an arm: crossed diagonals, one diagonal, a round shot; a star for commanders. @type {(f: number, w: number, arm: string) => string} */
function symbol(f, w, arm) {
  if (arm === "infantry") return `M${-f} ${-w}L${f} ${w}M${f} ${-w}L${-f} ${w}`;
  if (arm === "cavalry") return `M${-f} ${w}L${f} ${-w}`;
  if (arm === "artillery") return disc(Math.min(f, w) * 0.36);
  return star(Math.min(f, w) * 0.72);
}

/** @type {(r: number) => string} */
function disc(r) {
  return `M${-r} 0A${r} ${r} 0 0 0 ${r} 0A${r} ${r} 0 0 0 ${-r} 0Z`;
}

/** @type {(r: number) => string} */
function star(r) {
  const points = Array.from({ length: 10 }, (_, i) => {
    const [angle, reach] = [(i * Math.PI) / 5, i % 2 === 0 ? r : 0.42 * r];
    return `${short(reach * Math.cos(angle))} ${short(reach * Math.sin(angle))}`;
  });
  return `M${points.join("L")}Z`;
}

/** One standard deviation of the heading to either side, drawn larger by a factor. @type {(base: Base, factor: number) => string} */
function wedge(base, factor) {
  const reach = base.depth_mm;
  const half_rad = Math.min(Math.PI / 2, (factor * base.sigma_deg * Math.PI) / 180);
  const [x, y] = [short(reach * Math.cos(half_rad)), short(reach * Math.sin(half_rad))];
  return `M0 0L${x} ${y}A${reach} ${reach} 0 0 0 ${x} -${y}Z`;
}

/** Draws shapes that explain an answer. @type {(parent: Element, shapes: Shape[], seen: {facts: import("./view.js").Size, view: import("./view.js").View}) => void} */
export function updateShapes(parent, shapes, { facts, view }) {
  const towards_mm = /** @type {Point} */ ([facts.width_mm / 2, facts.depth_mm / 2]);
  // Later ones lie on top: no outline covers a label.
  const labelledLast = shapes.toSorted((one, other) => Number(Boolean(one.label)) - Number(Boolean(other.label)));
  const numbered = labelledLast.map((shape, index) => ({ shape, key: `${index} ${shape.role} ${shape.kind}` }));
  updateChildren(
    parent,
    numbered,
    (item) => item.key,
    () => makeShape(),
    (node, { shape }) => {
      setAttr(node, "class", `shape ${shape.kind} role-${word(shape.role)}`);
      setAttr(node.children[0], "d", outlineOf(shape));
      setAttr(node.children[1], "d", outlineOf(shape));
      const label = shape.label ?? "";
      placeText(
        node.children[2],
        label,
        uncut(view, facts, shape.label_mm ?? labelPlace(shape, towards_mm), wordsSize(label)),
      );
    },
  );
}

/** @type {() => SVGElement} */
function makeShape() {
  const group = svgElement("g");
  group.append(svgElement("path", { class: "casing" }), svgElement("path", { class: "ink" }), makeText("label"));
  return group;
}

/** Approximate size of a label on the screen. @type {(text: string) => {half: number, height: number}} */
export function wordsSize(text) {
  return { half: (text.length * LETTER_PX.width) / 2, height: LETTER_PX.height };
}

/** A text that stays upright and keeps its size on the screen, `dy` below its place. @type {(name: string, dy?: string) => SVGElement} */
export function makeText(name, dy = "0") {
  const place = svgElement("g", { class: "placed" });
  addLine(place, name, dy);
  return place;
}

/** Adds a line to a text. @type {(place: Element, name: string, dy: string) => void} */
export function addLine(place, name, dy) {
  place.append(svgElement("text", { class: `upright ${name}`, dy }));
}

/** @type {(place: Element, text: string, at_mm: Point) => void} */
export function placeText(place, text, at_mm) {
  setAttr(place, "transform", `translate(${short(at_mm[0])} ${short(at_mm[1])})`);
  setText(place.children[0], text);
}

/** A path through points. @type {(points_mm: Point[], closed: boolean) => string} */
export function through(points_mm, closed) {
  const text = points_mm.map(([x, y]) => `${short(x)} ${short(y)}`).join("L");
  return text && `M${text}${closed ? "Z" : ""}`;
}

/** The mean of some points. @type {(points_mm: Point[]) => Point} */
export function meanPoint(points_mm) {
  const mean = (/** @type {0 | 1} */ axis) => points_mm.reduce((sum, point) => sum + point[axis], 0) / points_mm.length;
  return [mean(0), mean(1)];
}

const CORNERS = [
  [1, 1],
  [1, -1],
  [-1, -1],
  [-1, 1],
];

const RIM = Array.from({ length: 48 }, (_, i) => [Math.cos((i * Math.PI) / 24), -Math.sin((i * Math.PI) / 24)]);

/** The corners of a base, or points around a round one. @type {(base: {x_mm: number, y_mm: number, heading_deg: number, width_mm: number, depth_mm: number, shape?: string}) => Point[]} */
export function cornersOf({ x_mm, y_mm, heading_deg, width_mm, depth_mm, shape }) {
  const heading_rad = (heading_deg * Math.PI) / 180;
  const [c, s] = [Math.cos(heading_rad), Math.sin(heading_rad)];
  const [f, w] = [depth_mm / 2, width_mm / 2];
  return (isRound({ shape }) ? RIM : CORNERS).map(([a, b]) => [
    x_mm + a * f * c - b * w * s,
    y_mm + a * f * s + b * w * c,
  ]);
}

/** A word of the game as a CSS class. @type {(text: string) => string} */
export function word(text) {
  return text.toLowerCase().replace(/[^a-z0-9]+/g, "-");
}

/** @type {(shape: Shape) => string} */
function outlineOf(shape) {
  // A line of length zero with round caps is a dot.
  const points = shape.kind === "point" ? [shape.points_mm[0], shape.points_mm[0]] : shape.points_mm;
  return through(points, shape.kind === "polygon");
}

/** The place of a shape's label: for a ring, the point nearest to the middle of the table. @type {(shape: Shape, towards_mm: Point) => Point} */
function labelPlace(shape, towards_mm) {
  if (shape.kind === "line") return nearTheEnd(shape.points_mm);
  return nearestTo(shape.points_mm, towards_mm);
}

/** A place near the end of a line: its middle often lies under its unit. @type {(points_mm: Point[]) => Point} */
function nearTheEnd(points_mm) {
  const [a, b] = [points_mm[0], points_mm[points_mm.length - 1]];
  return [a[0] + 0.93 * (b[0] - a[0]), a[1] + 0.93 * (b[1] - a[1])];
}

/** @type {(points_mm: Point[], to_mm: Point) => Point} */
function nearestTo(points_mm, to_mm) {
  const far = (/** @type {Point} */ p) => Math.hypot(p[0] - to_mm[0], p[1] - to_mm[1]);
  return points_mm.reduce((best, point) => (far(point) < far(best) ? point : best));
}
