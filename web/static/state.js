// @ts-check
/**
 * The one state of the page, and the functions that change it. Nothing here draws or asks.
 *
 * @typedef {import("./view.js").View} View
 * @typedef {[number, number]} Point  a place on the table, mm
 *
 * @typedef {object} TableFacts  as `/api/table` gives them
 * @property {string} game
 * @property {number} width_mm
 * @property {number} depth_mm
 * @property {number} base_width_mm
 * @property {number[]} ranges_bw
 * @property {string[]} sides
 * @property {{id: string, kind: string, outline_mm: Point[]}[]} terrain
 * @property {{id: string, side: string, arm: string, tags: number[], extra: Record<string, string | number | boolean>}[]} units
 * @property {{id: string, side: string, tag: number}[]} commanders
 * @property {boolean} simulated
 * @property {boolean} rules  the game has rulings
 * @property {boolean} referee  the game can be played
 *
 * @typedef {object} Base
 * @property {string} [name]
 * @property {number} x_mm
 * @property {number} y_mm
 * @property {number} heading_deg
 * @property {number} width_mm
 * @property {number} depth_mm
 * @property {number} sigma_mm
 * @property {number} sigma_deg
 * @property {"now" | "held" | "hand"} seen
 * @property {number | null} held_s
 * @property {boolean} [doubted]  its tag is seen twice: neither place is believed
 *
 * @typedef {{number: number, at: string, text: string}} Notice  what happened to the camera or its tags
 *
 * @typedef {object} Unit
 * @property {string} id
 * @property {string} side
 * @property {string} arm
 * @property {string | null} formation
 * @property {number} x_mm
 * @property {number} y_mm
 * @property {number} heading_deg
 * @property {Base[]} bases
 *
 * @typedef {object} Commander
 * @property {string} id
 * @property {string} side
 * @property {number} x_mm
 * @property {number} y_mm
 * @property {number} sigma_mm
 * @property {"now" | "held" | "hand"} seen
 * @property {number | null} held_s
 * @property {Base | null} base
 *
 * @typedef {object} Health
 * @property {string} source
 * @property {"opening" | "live" | "lost" | "ended"} state
 * @property {string} message
 * @property {string} calibration
 * @property {number} frames_per_s
 * @property {number} tags_seen
 * @property {number} tags_held
 * @property {{tag: number, of: string}[]} missing
 * @property {number | null} reprojection_px
 * @property {number | null} behind_s
 * @property {string[]} warnings
 *
 * @typedef {object} TableState  as one event carries it
 * @property {number} version
 * @property {number} frame
 * @property {Unit[]} units
 * @property {Commander[]} commanders
 * @property {Health} health
 * @property {Notice[]} notices  the latest, the newest last
 * @property {number} disputes  how many this game has
 * @property {number} game  grows whenever there is something new to see of the game
 * @property {{paused: boolean, light: number, off: number[]} | null} simulated  `off` are the tags that were taken off
 *
 * @typedef {object} Verdict  an answer that hangs on a length
 * @property {"yes" | "no" | "too_close"} answer
 * @property {number} [range_bw]
 * @property {number} [margin_mm]
 * @property {number} [sigma_mm]
 * @property {number} [probability]
 * @property {string} [because]
 *
 * @typedef {object} Measured  as `/api/measure` gives it
 * @property {number} distance_mm
 * @property {number} distance_bw
 * @property {number} sigma_mm
 * @property {Point} from_mm
 * @property {Point} to_mm
 * @property {string} because
 * @property {Verdict[]} [within]
 * @property {Verdict | null} [contact]
 * @property {string} [b_is]
 *
 * @typedef {{kind: "point" | "line" | "polygon", points_mm: Point[], role: string, label?: string, label_mm?: Point}} Shape
 * @typedef {{title: string, lines: string[], shapes: Shape[]}} About  as `/api/about` gives it
 *
 * @typedef {{a: string, b: string, kept: boolean, measured: Measured | null, error: string | null}} Tape
 * @typedef {{unit: string, x_mm: number, y_mm: number, heading_deg: number}} Placing
 * @typedef {Placing & {from: Unit, sent: boolean}} Ghost  a unit on its way to another place
 *
 * @typedef {object} State
 * @property {TableFacts} facts
 * @property {TableState | null} now
 * @property {"connecting" | "live" | "polling" | "lost"} connection
 * @property {View} view
 * @property {boolean} fitted  the view shows the whole table, and is to go on doing so
 * @property {boolean} turned  a player has said from which side he looks
 * @property {{picture: boolean, strength: number, terrain: boolean, names: boolean, uncertainty: number}} show
 * @property {string | null} pictureUrl
 * @property {"units" | "bases"} picks
 * @property {boolean} moving  dragging a unit moves it
 * @property {string[]} chosen  at most two things
 * @property {string | null} hover
 * @property {Tape | null} tape  between what is chosen, or to where the pointer is
 * @property {Tape[]} kept
 * @property {About | null} about
 * @property {string | null} aboutError
 * @property {Ghost | null} ghost
 * @property {(Placing | {lifted: import("./lifting.js").Lifted})[]} undo  where moved units were before, and what was taken off, the latest last
 * @property {{text: string, undo: boolean} | null} notice
 * @property {Notice[]} log  all that this page has been told of, the newest last
 * @property {import("./rulings_state.js").Rulings} rulings
 * @property {import("./game_state.js").GameOnPage} game
 */
import { newGame } from "./game_state.js";
import { forgetSheet, newRulings } from "./rulings_state.js";

const MOST_KEPT = 8;
const MOST_LOGGED = 200;
export const UNCERTAINTY_FACTORS = [0, 1, 10, 100];

/** A page before its first news. @type {(facts: TableFacts, view: View) => State} */
export function newState(facts, view) {
  return {
    facts,
    now: null,
    connection: "connecting",
    view,
    fitted: true,
    turned: false,
    show: { picture: true, strength: 1, terrain: true, names: true, uncertainty: 0 },
    pictureUrl: null,
    picks: "units",
    moving: facts.simulated,
    chosen: [],
    hover: null,
    tape: null,
    kept: [],
    about: null,
    aboutError: null,
    ghost: null,
    undo: [],
    notice: null,
    log: [],
    rulings: newRulings(facts),
    game: newGame(facts),
  };
}

/** Choose a thing: the first, the second, or the first of a new pair. @type {(state: State, thing: string) => void} */
export function choose(state, thing) {
  if (state.chosen.includes(thing)) {
    state.chosen = state.chosen.filter((each) => each !== thing);
  } else if (state.chosen.length === 1) {
    state.chosen = [state.chosen[0], thing];
  } else {
    state.chosen = [thing];
  }
  chosenChanged(state);
}

/** Choose one thing, and nothing beside it. @type {(state: State, thing: string) => void} */
export function chooseAlone(state, thing) {
  state.chosen = [thing];
  chosenChanged(state);
}

/** Choose nothing, and take kept lines off when nothing was chosen. @type {(state: State) => void} */
export function clear(state) {
  if (state.chosen.length === 0) state.kept = [];
  state.chosen = [];
  state.hover = null;
  chosenChanged(state);
}

/** Keep the line between the two chosen things, and make room for another. @type {(state: State) => void} */
export function keep(state) {
  const tape = state.tape;
  if (!tape || state.chosen.length < 2) return;
  state.kept = [...state.kept, { ...tape, kept: true }].slice(-MOST_KEPT);
  state.chosen = [];
  chosenChanged(state);
}

/** Where the tape runs now, without what it reads. @type {(state: State) => {a: string, b: string} | null} */
export function tapeEnds(state) {
  const ghost = state.ghost;
  if (ghost && !ghost.sent) {
    return { a: pointThing(ghost.from.x_mm, ghost.from.y_mm), b: pointThing(ghost.x_mm, ghost.y_mm) };
  }
  const [a, b = state.hover] = state.chosen;
  return a && b && a !== b ? { a, b } : null;
}

/** Make the tape run where it should; it forgets what it read elsewhere. @type {(state: State) => void} */
export function layTape(state) {
  const ends = tapeEnds(state);
  const old = state.tape;
  if (!ends) {
    state.tape = null;
  } else if (!old || old.a !== ends.a || old.b !== ends.b) {
    // While the end is only moving, the last reading stays until the next arrives.
    const same = old !== null && old.a === ends.a && isPoint(old.b) && isPoint(ends.b);
    state.tape = { ...ends, kept: false, measured: same ? old.measured : null, error: null };
  }
}

/** Take in a new state of the table; what has just happened, to be said. @type {(state: State, now: TableState) => string | null} */
export function tableChanged(state, now) {
  const isFirst = state.now === null;
  const fresh = addToLog(state, now.notices);
  state.now = now;
  if (state.ghost?.sent && hasArrived(now, state.ghost)) {
    state.notice = { text: `${state.ghost.unit} found at its new place`, undo: true };
    state.ghost = null;
  }
  return isFirst ? null : (fresh.at(-1)?.text ?? null);
}

/** Take in notices; those that are new. A server that began anew counts from 1 again. @type {(state: State, notices: Notice[]) => Notice[]} */
function addToLog(state, notices) {
  const known = new Set(state.log.map(({ number, at }) => `${number} ${at}`));
  const fresh = notices.filter(({ number, at }) => !known.has(`${number} ${at}`));
  if (fresh.length) state.log = [...state.log, ...fresh].slice(-MOST_LOGGED);
  return fresh;
}

/** Pick a unit up. @type {(state: State, unit: Unit) => void} */
export function lift(state, unit) {
  const { id, x_mm, y_mm, heading_deg } = unit;
  state.ghost = { unit: id, x_mm, y_mm, heading_deg, from: unit, sent: false };
  state.hover = null;
  state.notice = null;
  layTape(state);
}

/** Put the unit in hand elsewhere. @type {(state: State, place: {x_mm?: number, y_mm?: number, heading_deg?: number}) => void} */
export function carry(state, place) {
  if (!state.ghost) return;
  state.ghost = { ...state.ghost, ...place };
  state.ghost.heading_deg = (state.ghost.heading_deg + 360) % 360;
  layTape(state);
}

/** Let go of the unit in hand: it is on its way; where it was can be gone back to. @type {(state: State) => void} */
export function letGo(state) {
  if (!state.ghost) return;
  const { id, x_mm, y_mm, heading_deg } = state.ghost.from;
  state.undo = [...state.undo, { unit: id, x_mm, y_mm, heading_deg }];
  state.ghost = { ...state.ghost, sent: true };
  layTape(state);
}

/** Forget the unit in hand. @type {(state: State) => void} */
export function dropGhost(state) {
  state.ghost = null;
  layTape(state);
}

/** Which unit a thing is or belongs to. @type {(state: State, thing: string) => Unit | undefined} */
export function unitOf(state, thing) {
  const [kind, name] = split(thing);
  const units = state.now?.units ?? [];
  if (kind === "unit") return units.find((unit) => unit.id === name);
  return units.find((unit) => kind === "base" && unit.bases.some((base) => base.name === name));
}

/** Which commander a thing is. @type {(state: State, thing: string) => Commander | undefined} */
export function commanderOf(state, thing) {
  const [kind, name] = split(thing);
  return state.now?.commanders.find((each) => kind === "commander" && each.id === name);
}

/** What a hand moves as one of a thing: its unit, or a commander's marker as a unit of that one base. @type {(state: State, thing: string) => Unit | undefined} */
export function movableOf(state, thing) {
  const leader = commanderOf(state, thing);
  return leader ? markerOf(leader) : unitOf(state, thing);
}

/** @type {(leader: Commander) => Unit | undefined} */
function markerOf({ id, side, x_mm, y_mm, base }) {
  return base ? { id, side, arm: "leader", formation: null, x_mm, y_mm, heading_deg: base.heading_deg, bases: [base] } : undefined;
}

/** What players call a thing. @type {(state: State, thing: string) => string} */
export function titleOf(state, thing) {
  const [kind, name] = split(thing);
  if (kind === "point") return "a point";
  if (kind === "base") return `base ${name} of ${unitOf(state, thing)?.id ?? "?"}`;
  return name;
}

/** A side's number, for its colour. @type {(state: State, side: string) => number} */
export function sideNumber(state, side) {
  return Math.max(0, state.facts.sides.indexOf(side));
}

/** A place on the table as a thing to measure to. @type {(x_mm: number, y_mm: number) => string} */
export function pointThing(x_mm, y_mm) {
  return `point:${x_mm.toFixed(1)},${y_mm.toFixed(1)}`;
}

/** The place that a point is; null for other things. @type {(thing: string) => Point | null} */
export function placeOf(thing) {
  const [kind, name] = split(thing);
  if (kind !== "point") return null;
  const [x_mm, y_mm] = name.split(",").map(Number);
  return [x_mm, y_mm];
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

/** @type {(state: State) => void} */
function chosenChanged(state) {
  state.about = null;
  state.aboutError = null;
  forgetSheet(state.rulings);
  layTape(state);
}

/** Whether any of a thing is held: hidden where it was last seen. @type {(state: State, thing: string | undefined) => boolean} */
export function isHidden(state, thing) {
  if (!state.now || !thing) return false;
  const [kind, name] = split(thing);
  const units = state.now.units.filter((unit) => kind === "base" || unit.id === name);
  const bases = units.flatMap((unit) => unit.bases).filter((base) => kind !== "base" || base.name === name);
  const commanders = state.now.commanders.filter((each) => kind === "commander" && each.id === name);
  return [...(kind === "commander" ? [] : bases), ...commanders].some((each) => each.seen === "held");
}

/** Whether a unit is seen where it was put: nothing is decided by this but when the ghost goes. @type {(now: TableState, ghost: Ghost) => boolean} */
function hasArrived(now, ghost) {
  const leader = now.commanders.find((each) => each.id === ghost.unit);
  const unit = leader ? markerOf(leader) : now.units.find((each) => each.id === ghost.unit);
  if (!unit || unit.bases.some((base) => base.seen === "held")) return false;
  const turned_deg = Math.abs(((unit.heading_deg - ghost.heading_deg + 540) % 360) - 180);
  return Math.hypot(unit.x_mm - ghost.x_mm, unit.y_mm - ghost.y_mm) < 5 && turned_deg < 5;
}
