/** Places the labels of shapes so that none overlaps another or a unit's name. */
import { areSmall, badgeOffset, edgePx, isBeneath, stacksOf } from "./hexes.js";
import { cornersOf, meanPoint, wordsSize } from "./shapes.js";
import { briefest, commanderBase, counterName, fullName, properName } from "./things.js";
import { toScreen, toTable, uncut } from "./view.js";

/** @typedef {import("./state.js").State} State */
/** @typedef {import("./state.js").Shape} Shape */
/** @typedef {import("./state.js").Point} Point */

/** Roles of shapes whose labels are given places; those of the others would overlap where all are drawn. */
const LABELLED = new Set(["goal", "length", "ring", "string", "front-line", "barred", "zone", "order"]);

/** A unit this near to the middle of its goal lies there. */
const AT_GOAL_MM = 20;

/** At this scale or larger, the table has room for whole unit names. */
const NEAR_PX_PER_MM = 1.6;

/** The name to write on a unit or a commander. @type {(state: State, owner: import("./state.js").Unit | import("./state.js").Commander) => string} */
function nameShown(state, owner) {
  const { id } = owner;
  if (!("bases" in owner)) return properName(id);
  return state.view.px_per_mm >= NEAR_PX_PER_MM ? fullName(state, id) : id;
}

/** How far above or below its unit a name may move to avoid another, px. */
const NAME_ASIDE_PX = [0, 16, -16, 32, -32];

/** What sets a name on a counter apart from the next, px. */
const LETTER_GAP_PX = 3;
/** The letters of names on counters, the signs of how many lie in a stack, and the height of the figures at a counter's lower edge, px. */
const COUNTER_PX = {
  near: { letter: 6.4, height: 12, half: 8, figures: 13, badge: { half: 10, height: 14 } },
  small: { letter: 5.4, height: 8, half: 6, figures: 10, badge: { half: 7.5, height: 10.5 } },
};

/** Whether a name is needed: its owner is chosen, pointed at, or concerned in the game's question. @type {(state: State, thing: string, id: string) => boolean} */
function isAsked({ chosen, hover, asked }, thing, id) {
  return chosen.includes(thing) || hover === thing || asked.includes(id);
}

/** Places of names on counters, above their figures, on no other text: a name is whole where it lies on no other counter either, else as short as it can be told apart. The chosen one's is always written. @type {(state: State) => Map<string, Name>} */
function counterNamePlaces(state) {
  const { letter, height, half, figures, badge } = areSmall(state) ? COUNTER_PX.small : COUNTER_PX.near;
  const owners = [...(state.now?.units ?? []), ...(state.now?.commanders ?? [])]
    .map((owner) => ({ owner, thing: `${"bases" in owner ? "unit" : "commander"}:${owner.id}` }))
    .filter(({ thing }) => !isBeneath(state, thing))
    .map(({ owner, thing }) => {
      const [x, y] = toScreen(state.view, state.facts, owner.x_mm, owner.y_mm);
      return { owner, thing, isAsked: isAsked(state, thing, owner.id), x, y, edge: edgePx(state, owner) };
    });
  const bodies = owners.map(({ x, y, edge, thing }) => ({ x, y, half: edge, height: 2 * edge, of: thing }));
  const texts = owners.flatMap(({ owner, thing, x, y, edge }) => {
    const figure = { x, y: y + edge, half, height: figures, of: thing };
    if (!stacksOf(state, thing).some(({ hidden }) => hidden.length)) return [figure];
    const [right, down] = badgeOffset(state, owner);
    return [figure, { x: x + right, y: y + down, ...badge, of: thing }];
  });
  /** @type {Map<string, Name & {of: string}>} */
  const places = new Map();
  owners.sort((one, other) => Number(other.isAsked) - Number(one.isAsked));
  for (const isWhole of [false, true])
    for (const { owner, thing, isAsked, x, y, edge } of owners) {
      const name = counterName(state.facts, owner);
      const text = isWhole ? name : briefest(state.facts, name);
      const up = Math.max(0, (height + figures) / 2 - edge);
      const box = { text, x, y: y - up, half: (text.length * letter + LETTER_GAP_PX) / 2, height, of: thing };
      const isClear = (/** @type {(Box & {of: string})[]} */ taken) =>
        isFree(
          box,
          taken.filter(({ of }) => of !== thing),
        );
      const written = [...texts, ...places.values()];
      if (isClear([...written, ...bodies]) || (!isWhole && (isAsked || isClear(written)))) places.set(thing, box);
    }
  return places;
}

/** Places of the names of units and commanders, without overlaps if there is room: units in the game's question come first, commanders last. @type {(state: State) => Map<string, Name>} */
export function namePlaces(state) {
  if (state.facts.map) return counterNamePlaces(state);
  /** @type {Map<string, Name>} */
  const places = new Map();
  const isAbout = (/** @type {{id: string}} */ { id }) => Number(state.asked.includes(id));
  const owners = [...(state.now?.units ?? []), ...(state.now?.commanders ?? [])];
  for (const owner of owners.toSorted((one, other) => isAbout(other) - isAbout(one))) {
    const thing = `${"bases" in owner ? "unit" : "commander"}:${owner.id}`;
    if (isBeneath(state, thing)) continue;
    const text = nameShown(state, owner);
    const middle = { text, ...boxOf(text, [owner.x_mm, owner.y_mm], state) };
    const ways = NAME_ASIDE_PX.map((down) => ({ ...middle, y: middle.y + down }));
    const taken = [...places.values()];
    const free = ways.find((box) => isFree(box, taken));
    if (free || "bases" in owner || isAsked(state, thing, owner.id)) places.set(thing, free ?? middle);
  }
  return places;
}

/** The boxes of all names on the screen. @type {(state: State) => Box[]} */
function nameBoxes(state) {
  return state.show.names ? [...namePlaces(state).values()] : [];
}

/** How far beside its line a tape's reading may stand, with half its width and its height, px. */
const READING_PX = { aside: [0, 34, -34, 60, -60], half: 46, height: 40 };

/** Places for the readings of tapes, beside their lines if names are in the way. @type {(state: State, tapes: import("./state.js").Tape[]) => {at_mm: Point, box: Box}[]} */
export function readingPlaces(state, tapes) {
  const taken = nameBoxes(state);
  return tapes.map(({ measured }) => {
    /** @type {Point[]} */
    const line = measured ? [measured.from_mm, measured.to_mm] : [[0, 0]];
    const places = [0.5, 0.35, 0.65, 0.2, 0.8].flatMap((share) => {
      const [x, y] = toScreen(state.view, state.facts, ...pointAlong(line, share));
      return READING_PX.aside.map((aside) => ({ x, y: y + aside, ...READING_PX }));
    });
    const box = places.find((place) => isFree(place, taken)) ?? places[0];
    taken.push(box);
    return { at_mm: toTable(state.view, state.facts, box.x, box.y), box };
  });
}

/** The tapes that are drawn. @type {(state: State) => import("./state.js").Tape[]} */
export function tapesShown({ tape, keptTapes }) {
  return tape ? [...keptTapes, tape] : keptTapes;
}

/** The boxes that units and commanders cover on the screen. @type {(state: State) => (Box & {id: string})[]} */
export function bodiesUpon(state) {
  const { units = [], commanders = [] } = state.now ?? {};
  const bodies = [...units, ...commanders.map((leader) => ({ ...commanderBase(leader), id: leader.id }))];
  return bodies.map((body) => ({ id: body.id, ...boxUpon(body, state) }));
}

/** The box that a unit covers on the screen. @type {(body: Parameters<typeof cornersOf>[0], state: State) => Box} */
function boxUpon(body, state) {
  const corners = cornersOf(body).map((corner) => onScreen(corner, state));
  const [xs, ys] = [corners.map(({ x }) => x), corners.map(({ y }) => y)];
  const [left, top] = [Math.min(...xs), Math.min(...ys)];
  const [width, height] = [Math.max(...xs) - left, Math.max(...ys) - top];
  return { x: left + width / 2, y: top + height / 2, half: width / 2, height };
}

/** @type {(at_mm: Point, state: State) => {x: number, y: number}} */
export function onScreen(at_mm, { view, facts }) {
  const [x, y] = toScreen(view, facts, ...at_mm);
  return { x, y };
}

/** The shapes with the labels that have room where all are drawn. @type {(shapes: Shape[]) => Shape[]} */
export function sparselyLabelled(shapes) {
  return shapes.map((shape) => (LABELLED.has(shape.role) ? shape : { ...shape, label: "" }));
}

/** Gives labels free places, and drops those without one. @type {(shapes: Shape[], state: State, avoided?: Box[]) => Shape[]} */
export function withLabels(shapes, state, avoided = []) {
  const readings = readingPlaces(
    state,
    tapesShown(state).filter(({ measured }) => measured),
  );
  const taken = [...nameBoxes(state), ...readings.map(({ box }) => box), ...avoided];
  return shapes.map((shape) => {
    if (!LABELLED.has(shape.role)) return shape;
    const label = isAtGoal(state, shape) ? "" : (shape.label ?? "");
    const label_mm = label
      ? placesIn(state, shape, label).find((at) => isFree(boxOf(label, at, state), taken))
      : undefined;
    if (label_mm) taken.push(boxOf(label, label_mm, state));
    return { ...shape, label: label_mm ? label : "", label_mm };
  });
}

/** Whether a unit lies where it shall: its own name says whose goal that is. @type {(state: State, shape: Shape) => boolean} */
function isAtGoal(state, { role, label, points_mm }) {
  const unit = role === "goal" && state.now?.units.find(({ id }) => id === label);
  if (!unit) return false;
  const [x_mm, y_mm] = meanPoint(points_mm);
  return Math.hypot(unit.x_mm - x_mm, unit.y_mm - y_mm) < AT_GOAL_MM;
}

/** Places for a label, each moved inward so that no letter is cut off. @type {(state: State, shape: Shape, label: string) => Point[]} */
function placesIn(state, shape, label) {
  return placesOf(shape, middleOfTable(state)).map((at) => uncut(state.view, state.facts, at, wordsSize(label)));
}

/** @typedef {{x: number, y: number, half: number, height: number}} Box  of a text on the screen, px */
/** @typedef {Box & {text: string}} Name */

/** @type {(text: string, at_mm: Point, state: State) => Box} */
function boxOf(text, at_mm, { view, facts }) {
  const [x, y] = toScreen(view, facts, ...at_mm);
  return { x, y, ...wordsSize(text) };
}

/** @type {(box: Box, taken: Box[]) => boolean} */
function isFree(box, taken) {
  return taken.every(
    ({ x, y, half, height }) =>
      Math.abs(x - box.x) > half + box.half || Math.abs(y - box.y) > (height + box.height) / 2,
  );
}

/** Places for a label, the best one first. @type {(shape: Shape, towards_mm: Point) => Point[]} */
function placesOf({ kind, role, points_mm }, towards_mm) {
  if (kind === "line")
    return (role === "front-line" ? [0.93, 0.07, 0.8, 0.2, 0.65, 0.35] : [0.5, 0.35, 0.65, 0.2, 0.8]).map((share) =>
      pointAlong(points_mm, share),
    );
  const far = (/** @type {Point} */ p) => Math.hypot(p[0] - towards_mm[0], p[1] - towards_mm[1]);
  if (role === "zone") return insideOf(points_mm);
  return [...points_mm].sort((a, b) => far(a) - far(b));
}

/** Places in an area, the middle first. @type {(points_mm: Point[]) => Point[]} */
function insideOf(points_mm) {
  const [x, y] = meanPoint(points_mm);
  return [0, 0.3, 0.6, 0.8].flatMap((share) =>
    points_mm.map(([px, py]) => /** @type {Point} */ ([x + share * (px - x), y + share * (py - y)])),
  );
}

/** A place on a line, at a share of its length. @type {(points_mm: Point[], share: number) => Point} */
function pointAlong(points_mm, share) {
  const lengths = points_mm.slice(1).map((p, i) => Math.hypot(p[0] - points_mm[i][0], p[1] - points_mm[i][1]));
  let left = share * lengths.reduce((a, b) => a + b, 0);
  for (const [i, length] of lengths.entries()) {
    const [a, b] = [points_mm[i], points_mm[i + 1]];
    if (left <= length && length > 0)
      return [a[0] + ((b[0] - a[0]) * left) / length, a[1] + ((b[1] - a[1]) * left) / length];
    left -= length;
  }
  return points_mm[points_mm.length - 1];
}

/** @type {(state: State) => Point} */
function middleOfTable({ facts }) {
  return [facts.width_mm / 2, facts.depth_mm / 2];
}
