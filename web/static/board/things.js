/** Finds things on the table by name: units, bases, commanders, points, and their sides. */

/** @typedef {import("./state.js").State} State */
/** @typedef {import("./state.js").Unit} Unit */
/** @typedef {import("./state.js").Commander} Commander */
/** @typedef {import("./state.js").Point} Point */

const MARKER_MM = 24;

/** The unit that a thing is or belongs to. @type {(state: State, thing: string) => Unit | undefined} */
export function unitOf(state, thing) {
  const [kind, name] = split(thing);
  const units = state.now?.units ?? [];
  if (kind === "unit") return units.find((unit) => unit.id === name);
  return units.find((unit) => kind === "base" && unit.bases.some((base) => base.name === name));
}

/** The commander that a thing is. @type {(state: State, thing: string) => Commander | undefined} */
export function commanderOf(state, thing) {
  const [kind, name] = split(thing);
  return state.now?.commanders.find(({ id }) => kind === "commander" && id === name);
}

/** The unit that a hand moves: a unit, or a commander's marker as a unit of one base. @type {(state: State, thing: string) => Unit | undefined} */
export function movableOf(state, thing) {
  const leader = commanderOf(state, thing);
  return leader ? markerOf(leader) : unitOf(state, thing);
}

/** A commander's marker as a unit of one base. @type {(leader: Commander) => Unit | undefined} */
export function markerOf({ id, side, x_mm, y_mm, base }) {
  return base
    ? {
        id,
        side,
        arm: "leader",
        formation: null,
        x_mm,
        y_mm,
        heading_deg: base.heading_deg,
        width_mm: base.width_mm,
        depth_mm: base.depth_mm,
        bases: [base],
      }
    : undefined;
}

/** A thing's display name. @type {(state: State, thing: string) => string} */
export function titleOf(state, thing) {
  const [kind, name] = split(thing);
  if (kind === "point") {
    const hex = hexOf(state, thing);
    return hex ? `hex ${hex.id}` : "a point";
  }
  if (kind === "base") return baseTitle(unitOf(state, thing), name);
  return properName(name);
}

/** A base by its place in its unit, counted from the left. @type {(unit: Unit | undefined, name: string) => string} */
function baseTitle(unit, name) {
  if (!unit) return "a base";
  const turn_rad = (unit.heading_deg * Math.PI) / 180;
  const [x, y] = [Math.sin(turn_rad), -Math.cos(turn_rad)];
  const fromLeft = unit.bases.toSorted((a, b) => (a.x_mm - b.x_mm) * x + (a.y_mm - b.y_mm) * y);
  const index = fromLeft.findIndex((base) => base.name === name);
  return placeTitle(unit.id, index, fromLeft.length);
}

/** A base of a unit by its place from the left. @type {(unit: string, index: number, count: number) => string} */
export function placeTitle(unit, index, count) {
  if (count === 1) return unit;
  if (index === 0) return `${unit}'s left base`;
  return index === count - 1 ? `${unit}'s right base` : `${unit}'s base ${index + 1} from the left`;
}

/** An id with capitals like a proper name, unless it has capitals or digits. @type {(id: string) => string} */
export function properName(id) {
  if (id !== id.toLowerCase() || /\d/.test(id)) return id;
  return id.replace(/[-_]/g, " ").replace(/(^|\s)\p{L}/gu, (letter) => letter.toUpperCase());
}

/** A commander's base, or a marker in its place. @type {(commander: Commander) => import("./state.js").Base} */
export function commanderBase({ base, x_mm, y_mm, sigma_mm, seen, held_s }) {
  if (base) return base;
  return { x_mm, y_mm, heading_deg: 0, width_mm: MARKER_MM, depth_mm: MARKER_MM, sigma_mm, sigma_deg: 0, seen, held_s };
}

/** A side's number, for its colour. @type {(state: State, side: string) => number} */
export function sideNumber(state, side) {
  return state.facts.side_colours?.[side] ?? Math.max(0, state.facts.sides.indexOf(side));
}

/** The CSS class that gives a side's colour. @type {(state: State, side: string) => string} */
export function sideClass(state, side) {
  return `side-${sideNumber(state, side) % 8}`;
}

/** A side's display name. @type {(state: State, side: string) => string} */
export function sideName(state, side) {
  return state.facts.side_names[side] ?? side;
}

/** A side's players, as the subject of a plural verb. @type {(state: State, side: string) => string} */
export function sidePlural(state, side) {
  return state.facts.side_plurals[side] ?? side;
}

/** Whether part of a thing is held, that is, hidden where it was last seen. @type {(state: State, thing: string | undefined) => boolean} */
export function isHidden(state, thing) {
  if (!state.now || !thing) return false;
  const [kind, name] = split(thing);
  const units = state.now.units.filter((unit) => kind === "base" || unit.id === name);
  const bases = units.flatMap((unit) => unit.bases).filter((base) => kind !== "base" || base.name === name);
  const commanders = state.now.commanders.filter(({ id }) => kind === "commander" && id === name);
  return [...(kind === "commander" ? [] : bases), ...commanders].some(({ seen }) => seen === "held");
}

/** A place on the table as a thing to measure to. @type {(x_mm: number, y_mm: number) => string} */
export function pointThing(x_mm, y_mm) {
  return `point:${x_mm.toFixed(1)},${y_mm.toFixed(1)}`;
}

/** The coordinates of a point; null for other things. @type {(thing: string) => Point | null} */
export function placeOf(thing) {
  const [kind, name] = split(thing);
  if (kind !== "point") return null;
  const [x_mm, y_mm] = name.split(",").map(Number);
  return [x_mm, y_mm];
}

/** The hex of a map that a point lies in. @type {(state: State, thing: string) => import("./state.js").HexMap["hexes"][number] | undefined} */
export function hexOf({ facts, now }, thing) {
  const place = placeOf(thing);
  const { map } = facts;
  if (!place || !map) return undefined;
  const [shift_x, shift_y] = now?.hexes?.shift_mm ?? [0, 0];
  const far = (/** @type {Point} */ [x, y]) => Math.hypot(place[0] - shift_x - x, place[1] - shift_y - y);
  const [nearest] = map.hexes.toSorted((one, other) => far(one.middle_mm) - far(other.middle_mm));
  return far(nearest.middle_mm) < map.size_mm / Math.sqrt(3) ? nearest : undefined;
}

/** @type {(thing: string) => boolean} */
export function isPoint(thing) {
  return thing.startsWith("point:");
}

/** A thing's kind and name. @type {(thing: string) => [string, string]} */
export function split(thing) {
  const at = thing.indexOf(":");
  return [thing.slice(0, at), thing.slice(at + 1)];
}

/** @type {WeakMap<object, Map<string, string>>} */
const firstWords = new WeakMap();

/** The first words shared by most ids of a side. @type {(facts: State["facts"], side: string) => string} */
function sharedWords(facts, side) {
  const known = firstWords.get(facts) ?? new Map();
  firstWords.set(facts, known);
  if (!known.has(side)) {
    const things = [...facts.units, ...facts.commanders].filter((thing) => thing.side === side);
    let shared = "";
    for (;;) {
      const rests = things.filter(({ id }) => id.startsWith(shared)).map(({ id }) => id.slice(shared.length));
      const first = `${rests[0]?.split(" ")[0]} `;
      const alike = rests.filter((rest) => rest.startsWith(first)).length;
      if (things.length < 2 || 2 * alike <= things.length) break;
      shared += first;
    }
    known.set(side, shared);
  }
  return known.get(side) ?? "";
}

/** The name on a hex-map counter, without words shared by most of its side: its colour says those. @type {(facts: State["facts"], thing: {id: string, side: string}) => string} */
export function counterName(facts, { id, side }) {
  const shared = sharedWords(facts, side);
  return properName(id.startsWith(shared) ? id.slice(shared.length) : id);
}

/** A name shortened for a small counter, with as many letters as set it apart from the other names of the game. @type {(facts: State["facts"], name: string) => string} */
export function briefest(facts, name) {
  const others = [...facts.units, ...facts.commanders]
    .map((thing) => counterName(facts, thing))
    .filter((other) => other !== name);
  for (let letters = 1; letters < name.length; letters += 1) {
    const short = shortened(name, letters);
    if (others.every((other) => shortened(other, letters) !== short)) return short;
  }
  return name;
}

/** The initials of a name's words with its number, the last word with more letters; or the start of its only word. @type {(name: string, letters: number) => string} */
function shortened(name, letters) {
  const words = name.split(" ");
  if (words.length === 1) return name.slice(0, letters + 2);
  return words
    .map((word, index) => (/^\d/.test(word) ? word : word.slice(0, index === words.length - 1 ? letters : 1)))
    .join("");
}

/** A unit's id, with its name where the table file gives one. @type {(state: State, id: string) => string} */
export function fullName(state, id) {
  const name = state.facts.units.find((unit) => unit.id === id)?.extra.name;
  return name === undefined ? id : `${id} ${name}`;
}

/** Words for a chosen thing. @type {(state: State, thing: string) => string} */
export function pointWords(state, thing) {
  const place = hexOf(state, thing) ? null : placeOf(thing);
  if (!place) return titleOf(state, thing);
  return `the point ${place.map((mm) => Math.round(mm)).join(", ")} ${split(thing)[0] === "point" ? "mm" : ""}`.trim();
}
