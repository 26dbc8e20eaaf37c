/** Draws markers beside units on the table, and results of actions in words. */
import { setAttr, svgElement, updateChildren } from "../shared/dom.js";
import { areSmall, edgePx, hexPx, isBeneath, stacksOf } from "../board/hexes.js";
import { bodiesUpon, namePlaces, onScreen, readingPlaces, tapesShown } from "../board/labels.js";
import { makeText, placeText, wordsSize } from "../board/shapes.js";
import { counterName, isHidden } from "../board/things.js";
import { isFar, short, uncut } from "../board/view.js";
import { markersShown } from "./midgame.js";
import { markerWords } from "./words.js";

/** @typedef {import("./state.js").State} State */
/** @typedef {import("./state.js").Mark} Mark */
/** @typedef {import("../board/state.js").Point} Point */
/** @typedef {import("../board/state.js").Shape} Shape */

/** @typedef {{x: number, y: number, half: number, height: number}} Box  about its middle, on the screen, px */

/** The role of a shape that carries the result of an action for a unit. */
export const RESULT = "result";
/** Type sizes of a result, and its distances below a unit, in order of preference. */
const RESULT_PX = { font: 15, letter: 9, line: 19, below: [-28, 42, -48, 62], farther: [-68, 82, -88] };
const NAME_PX = { height: 14, held: 18, heldHalf: 36 };
/** Type sizes of the words of a ghost, and its distances from the middle, in order of preference. */
export const GHOST_PX = {
  font: 14,
  letter: 9,
  line: 18,
  below: [0, 24, -24, 46, -46],
  farther: [70, -70, 94, -94, 120, -120],
};
const MARKER_PX = { middle: 15.5, height: 15, below: [0, -31, 17, -47], farther: [34, -64] };
/** Places of markers seen from far away: below the name of their unit, above or beside it. */
const NEAR_PX = { below: [0, -31], farther: [], middle: 15.5 };
/** Distance from a unit's middle to a label at its side. */
const ASIDE_PX = 24;
/** A result nearer than this to a unit's middle is its own: units in contact are farther apart. */
const SAME_PLACE_BW = 0.5;

/** The puffs of a cloud: x, y and radius in pixels. */
const PUFFS = [
  [-7, 2, 5],
  [0, -2, 7],
  [8, 2, 5.5],
  [1, 4, 5],
];
const CLOUD_WIDE_PX = 28;
const PIP_APART_PX = 11;
const LETTER_PX = 6.6;
/** How far inside a counter's edge the middles of its markers lie, and their size on small counters. */
const INSET_PX = 2;
const SMALL = 0.75;
/** The widest row of markers on a counter, in hexes. */
const WIDEST = 1.5;
/** How far a ring lies outside the corners of its unit. */
const RING_MM = 4;
/** A drawing wider than this is on a wall, seen from farther away. */
const FAR_VIEW_PX = 1700;

/** The boxes of names, of the labels of shapes, of lengths on the tape, and of the tools over the drawing. @type {(layers: Record<string, SVGElement>, labelled: Shape[], state: State) => Box[]} */
export function boxesTaken(layers, labelled, state) {
  const names = [...namePlaces(state)].flatMap(([thing, place]) => {
    const name = { ...place, height: NAME_PX.height };
    // Below the name stands how long it has been hidden.
    if (!isHidden(state, thing)) return [name];
    return [name, { ...name, y: name.y + NAME_PX.held, half: NAME_PX.heldHalf }];
  });
  const labels = labelled.flatMap(({ label, label_mm }) =>
    label && label_mm ? [{ ...wordsSize(label), ...onScreen(label_mm, state) }] : [],
  );
  const measured = tapesShown(state).filter((tape) => tape.measured);
  const lengths = readingPlaces(state, measured).map(({ box }) => box);
  return [
    ...names,
    ...labels,
    ...lengths,
    ...toolsUpon(/** @type {SVGElement} */ (layers.results.ownerSVGElement), state),
  ];
}

/** Updates markers and results so that none overlaps another or a taken box. @type {(layers: Record<string, SVGElement>, shapes: Shape[], taken: Box[], state: State) => void} */
export function renderMarks(layers, shapes, taken, state) {
  if (!layers.results.children.length) layers.results.append(svgElement("g"), svgElement("g"), svgElement("g"));
  renderMarkers(layers.markers, taken, state);
  renderResults(
    layers.results.children[2],
    shapes.filter(({ role }) => role === RESULT),
    taken,
    state,
  );
}

/** The size of the words of a ghost on the screen. @type {(words: string) => {half: number, height: number}} */
export function ghostSize(words) {
  return { half: (words.length * GHOST_PX.letter) / 2, height: GHOST_PX.line };
}

/** Reserves a free place for the words of a ghost, in its middle or as near as possible, on no unit; null if there is none. @type {(words: string, at_mm: Point, taken: Box[], state: State) => {right: number, down: number} | null} */
export function ghostWay(words, at_mm, taken, state) {
  // From far away, words farther off would seem to belong to another unit.
  const px = isFar(state.view) ? { ...GHOST_PX, farther: [] } : GHOST_PX;
  return findWay({ ...ghostSize(words), ...onScreen(at_mm, state) }, px, taken, state, bodiesUpon(state));
}

/** The boxes of the tools over the drawing, cached: measuring the page is slow. */
const tools = { seen: "", boxes: /** @type {Box[]} */ ([]) };

/** @type {(svg: Element, state: State) => Box[]} */
function toolsUpon(svg, { view }) {
  const seen = `${view.width_px} ${view.height_px}`;
  if (tools.seen !== seen) {
    const { left, top } = svg.getBoundingClientRect();
    const all = [...document.querySelectorAll(".tools")].map((node) => node.getBoundingClientRect());
    tools.boxes = all.map(({ x, y, width, height }) => ({
      x: x - left + width / 2,
      y: y - top + height / 2,
      half: width / 2,
      height,
    }));
    tools.seen = seen;
  }
  return tools.boxes;
}

/** @typedef {{below: number[], farther: number[], middle?: number, apart?: number}} Ways  how far a box may lie below its unit, and beside its middle, px */

/** Reserves the nearest free place for a box above, below or beside its unit, outside boxes to avoid; null if none is free. @type {(box: Box, px: Ways, taken: Box[], state: State, avoided?: Box[]) => {right: number, down: number} | null} */
function findWay(box, { below, farther, middle = 0, apart = ASIDE_PX }, taken, { view }, avoided = []) {
  const upright = (/** @type {number} */ down) => ({ right: 0, down });
  const level = [-1, 1].map((side) => ({ right: side * (box.half + apart), down: -middle }));
  const ways = [...below.map(upright), ...level, ...farther.map(upright)];
  const isIn = (/** @type {number} */ x) => x >= box.half && x <= view.width_px - box.half;
  const isFree = (/** @type {{right: number, down: number}} */ { right, down }) =>
    (right === 0 || isIn(box.x + right)) &&
    (down === 0 || (box.y + down >= box.height / 2 && box.y + down <= view.height_px - box.height / 2)) &&
    [...taken, ...avoided].every(
      ({ x, y, half, height }) =>
        Math.abs(x - box.x - right) >= half + box.half || Math.abs(y - box.y - down) >= (height + box.height) / 2,
    );
  const way = ways.find(isFree) ?? null;
  if (way) taken.push({ ...box, x: box.x + way.right, y: box.y + way.down });
  return way;
}

/** Writes the result of an action beside each unit, with its id; without a place off other units, it is only in the panel. @type {(layer: Element, results: Shape[], taken: Box[], state: State) => void} */
function renderResults(layer, results, taken, state) {
  const places = [...new Map(results.map(({ points_mm }) => [String(points_mm[0]), points_mm[0]])).entries()];
  const bodies = bodiesUpon(state);
  const rows = places.map(([key, at]) => {
    const labels = results
      .filter(({ points_mm }) => String(points_mm[0]) === key)
      .map(({ label }) => label)
      .join(" · ");
    const words = `${unitAt(at, state)} ${labels}`.trim();
    const size = { half: (words.length * RESULT_PX.letter) / 2, height: RESULT_PX.line };
    const there = uncut(state.view, state.facts, at, size);
    return {
      key: `result ${key}`,
      at: there,
      words,
      way: findWay(
        { ...size, ...onScreen(there, state) },
        RESULT_PX,
        taken,
        state,
        bodies.filter(({ id }) => id !== unitAt(at, state)),
      ),
    };
  });
  updateChildren(
    layer,
    rows,
    ({ key }) => key,
    () => makeText("result"),
    (text, { at, words, way }) => {
      placeText(text, way ? words : "", at);
      setAttr(text.children[0], "dx", `${short((way?.right ?? 0) / RESULT_PX.font)}em`);
      setAttr(text.children[0], "dy", `${short((way?.down ?? 0) / RESULT_PX.font)}em`);
    },
  );
}

/** The unit whose middle is at a place; empty if it has left. @type {(at_mm: Point, state: State) => string} */
function unitAt([x, y], { facts, now }) {
  const reach_mm = SAME_PLACE_BW * facts.marker_mm;
  return now?.units.find(({ x_mm, y_mm }) => Math.hypot(x_mm - x, y_mm - y) < reach_mm)?.id ?? "";
}

/** @typedef {{marks: Mark[], way: {right: number, down: number}, leader?: number}} Row  markers side by side, where they lie, and how far below them their unit's name is if a line leads to it, px */

/** Draws the markers of each unit beside it, on hexes on its counter: pips, clouds and words in rows, and rings around it. @type {(layer: SVGElement, taken: Box[], state: State) => void} */
function renderMarkers(layer, taken, state) {
  const markers = markersShown(state);
  const size = state.view.width_px > FAR_VIEW_PX ? 1.5 : areSmall(state) ? SMALL : 1;
  const { units = [] } = state.now ?? {};
  const marked = units.filter(({ id }) => markers[id]?.length);
  const shown = marked.filter(({ id }) => !isBeneath(state, `unit:${id}`) || state.chosen.includes(`unit:${id}`));
  const upon = bodiesUpon(state);
  const names = namePlaces(state);
  updateChildren(
    layer,
    shown,
    ({ id }) => id,
    () => svgElement("g", { class: "marker" }),
    (node, unit) => {
      const { id, x_mm, y_mm, width_mm, depth_mm } = unit;
      const isChosen = state.chosen.includes(`unit:${id}`);
      const isBrief = !isChosen && isFar(state.view);
      const marks = isBrief ? markers[id].map(brief) : markers[id];
      setAttr(node, "transform", `translate(${short(x_mm)} ${short(y_mm)})`);
      setAttr(node, "data-marker", `${id}: ${markerWords(markers[id])}`);
      const rows = state.facts.map
        ? rowsOnCounter(marks, unit, size, !isChosen, state)
        : [rowBeside(marks, unit, size, isBrief, taken, upon, names.get(`unit:${id}`), state)];
      const ring_mm = Math.hypot(width_mm, depth_mm) / 2 + (state.facts.map ? 0 : RING_MM);
      updateChildren(
        node,
        [{ key: JSON.stringify(rows.map((row) => row.marks)) }],
        ({ key }) => key,
        () => makeMarkers(rows, ring_mm),
        (part) =>
          rows.forEach(({ way, leader = 0 }, index) => {
            const row = part.children[index + 1];
            const place = `translate(${short(way.right / size)} ${short(way.down / size)})`;
            setAttr(row, "transform", `scale(${short(size / state.view.px_per_mm)}) ${place}`);
            const end = short(leader / size - Math.sign(leader) * (NAME_PX.height / 2));
            setAttr(row.children[0], "d", leader ? `M0 ${MARKER_PX.middle}V${end}` : "");
          }),
      );
    },
  );
}

/** A row in a free place beside its unit's name, a line leading to one farther off; in brief, words without room become a sign, and plain words are dropped. Without a free place off other units, it lies on its own. @type {(all: Mark[], unit: import("../board/state.js").Unit, size: number, isBrief: boolean, taken: Box[], upon: (Box & {id: string})[], name: Box | undefined, state: State) => Row} */
function rowBeside(all, { id, x_mm, y_mm }, size, isBrief, taken, upon, name, state) {
  const others = upon.filter((unit) => unit.id !== id);
  const middle = onScreen([x_mm, y_mm], state);
  const { x, y, half } = name ?? { ...middle, half: ASIDE_PX };
  const apart = half + 1;
  const boxOf = (/** @type {Mark[]} */ marks) => {
    return { x, y: y + size * MARKER_PX.middle, half: (size * rowWide(marks)) / 2, height: size * MARKER_PX.height };
  };
  const row = (/** @type {Mark[]} */ marks, /** @type {{right: number, down: number}} */ { right, down }) => ({
    marks,
    way: { right: right + x - middle.x, down: down + y - middle.y },
    leader: MARKER_PX.farther.includes(down) ? -down : 0,
  });
  const beside = (/** @type {Mark[]} */ marks) =>
    row(marks, findWay(boxOf(marks), { ...MARKER_PX, apart }, taken, state, others) ?? { right: 0, down: 0 });
  // In a crowd, a few letters near the unit are clearer than the full words farther off.
  const briefs = all.map(brief);
  if (!isBrief) {
    for (const marks of [all, briefs]) {
      const way = findWay(boxOf(marks), { ...MARKER_PX, farther: [], apart }, taken, state, others);
      if (way) return row(marks, way);
    }
    return beside(briefs);
  }
  const grave = all.filter(({ kind, tone = "plain" }) => kind !== "word" || tone !== "plain");
  const signs = grave.map((mark) => (mark.kind === "word" ? { ...mark, text: "!" } : mark));
  for (const marks of [all, grave, signs]) {
    if (!marks.length) return { marks, way: { right: 0, down: 0 } };
    const way = findWay(boxOf(marks), { ...NEAR_PX, apart }, taken, state, others);
    if (way) return row(marks, way);
  }
  return beside(signs);
}

/** The rows of a counter: its first figure and counts at its lower edge, other words at its upper edge. @type {(marks: Mark[], unit: import("../board/state.js").Unit, size: number, isBrief: boolean, state: State) => Row[]} */
function rowsOnCounter(all, unit, size, isBrief, state) {
  const name = counterName(state.facts, unit).toLowerCase();
  const marks = all.filter(({ text }) => text.toLowerCase() !== name);
  const isBelow = (/** @type {Mark} */ { kind }, /** @type {number} */ index) => index === 0 || kind !== "word";
  const inset = edgePx(state, unit) - INSET_PX;
  // On small counters, the size of a stack stands beside the figures.
  const isShared = areSmall(state) && stacksOf(state, `unit:${unit.id}`).some(({ hidden }) => hidden.length);
  const room_px = isBrief ? (WIDEST * hexPx(state)) / size : Infinity;
  return [
    { marks: fitted(marks.filter(isBelow), room_px), edge: Math.max(inset, 0) },
    {
      marks: fitted(
        marks.filter((mark, index) => !isBelow(mark, index)),
        room_px,
      ),
      edge: -inset,
    },
  ].map(({ marks, edge }) => ({
    marks,
    way: { right: isShared && edge > 0 ? 1 - (size * rowWide(marks)) / 2 : 0, down: edge - size * MARKER_PX.middle },
  }));
}

/** A row that fits its counter: a sign replaces long words, which are listed once it is chosen. @type {(marks: Mark[], room_px: number) => Mark[]} */
function fitted(marks, room_px) {
  if (rowWide(marks) <= room_px) return marks;
  const isFigure = (/** @type {Mark} */ { kind, text }) => kind !== "word" || /\d/.test(text);
  const [word] = marks.filter((mark) => !isFigure(mark) && (mark.tone ?? "plain") !== "plain");
  return [...marks.filter(isFigure), ...(word ? [{ ...word, text: "!" }] : [])];
}

/** A marker that counts something in one word, without the word. @type {(mark: Mark) => Mark} */
function brief(mark) {
  return { ...mark, text: mark.kind === "word" ? mark.text.replace(/^(\d+) \w+\.?$/, "$1") : mark.text };
}

/** The width of one marker in the row. @type {(mark: Mark) => number} */
function wide({ kind, count, text }) {
  if (kind === "pips") return count * PIP_APART_PX + 5;
  if (kind === "cloud") return CLOUD_WIDE_PX;
  return kind === "word" ? text.length * LETTER_PX + 8 : 0;
}

/** @type {(marks: Mark[]) => number} */
function rowWide(marks) {
  return marks.reduce((sum, mark) => sum + wide(mark), 0);
}

/** @type {(rows: Row[], ring_mm: number) => SVGElement} */
function makeMarkers(rows, ring_mm) {
  const upright = svgElement("g", { class: "upright" });
  // Words and figures lie over a ring.
  const [rings, ...sized] = [svgElement("g"), ...rows.map(() => svgElement("g"))];
  upright.append(rings, ...sized);
  for (const row of sized) row.append(svgElement("path", { class: "leader" }));
  for (const [index, { marks }] of rows.entries()) {
    let x = -rowWide(marks) / 2;
    for (const mark of marks) {
      const group = svgElement("g", { class: `tone-${mark.tone ?? "plain"}` });
      if (mark.kind === "ring") rings.append(makeRing(group, ring_mm));
      else sized[index].append(makeMarker(group, mark, x + wide(mark) / 2));
      x += wide(mark);
    }
  }
  return upright;
}

/** @type {(group: SVGElement, ring_mm: number) => SVGElement} */
function makeRing(group, ring_mm) {
  for (const name of ["casing", "ink"])
    group.append(svgElement("circle", { class: `ring ${name}`, r: short(ring_mm) }));
  return group;
}

/** @type {(group: SVGElement, mark: Mark, x: number) => SVGElement} */
function makeMarker(group, mark, x) {
  const half = wide(mark) / 2;
  if (mark.kind === "cloud") {
    group.append(makeCloud(x));
    return group;
  }
  const plate = { class: "pips", x: short(x - half), y: "8", width: short(2 * half), height: "15", rx: "7.5" };
  group.append(svgElement("rect", plate));
  if (mark.kind === "word") {
    const text = svgElement("text", { class: "word", x: short(x), y: "15.5", dy: "0.35em" });
    text.textContent = mark.text;
    group.append(text);
  } else {
    for (let pip = 0; pip < mark.count; pip += 1) {
      const cx = x + (pip - (mark.count - 1) / 2) * PIP_APART_PX;
      group.append(svgElement("circle", { class: "pip", cx: short(cx), cy: "15.5", r: "4.2" }));
    }
  }
  return group;
}

/** @type {(x: number) => SVGElement} */
function makeCloud(x) {
  const cloud = svgElement("g", { class: "cloud", transform: `translate(${short(x)} 15)` });
  for (const name of ["rim", "puff"]) {
    for (const [cx, cy, r] of PUFFS)
      cloud.append(svgElement("circle", { class: name, cx: short(cx), cy: short(cy), r: short(r) }));
  }
  return cloud;
}
