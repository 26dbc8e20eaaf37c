/**
 * A recording as a film: the positions and the status of the game after each entry. Nothing here
 * draws or sends requests.
 *
 * @typedef {import("../board/state.js").Shape} Shape
 * @typedef {import("../board/state.js").Point} Point
 * @typedef {import("../board/state.js").TableFacts} TableFacts
 * @typedef {import("./positions.js").Position} Position
 *
 * @typedef {object} Event  one line of an action's results
 * @property {string} kind
 * @property {string} text
 * @property {string | null} rule
 * @property {Record<string, any>} facts
 * @property {Shape[]} evidence
 * @property {string} [note]
 * @property {import("../game/state.js").Cast | null} [dice]
 *
 * @typedef {object} Status  the game after an action
 * @property {string} [question]
 * @property {string | null} [asked]
 * @property {boolean} [is_over]
 * @property {import("../game/state.js").Standing} [standing]
 * @property {Record<string, import("../game/state.js").Mark[]>} [marks]
 * @property {Record<string, string[]>} [stacks]  the counters of hexes with several, the top one first
 *
 * @typedef {object} Entry  as `tablecam.replay.film` writes it
 * @property {number} n
 * @property {number} t  seconds since the recording began
 * @property {"position" | "move" | "picture" | "play" | "deed" | "ruling" | "dispute" | "notice"} kind
 * @property {import("./positions.js").Change} [change]
 * @property {Position | null} [position]
 * @property {Event[]} [events]
 * @property {Status} [after]
 * @property {number | null} [deed]
 * @property {number[]} [undoes]
 * @property {string} [unit]
 * @property {string} [text]
 * @property {[number, number, number, number][]} [path]  seconds, mm, mm, degrees
 * @property {import("../rulings/state.js").RuleAnswer | null} [answer]
 * @property {import("./positions.js").BaseDocument[]} [ghost]  where a move would have been legal
 * @property {any} [dispute]
 * @property {number} [of]
 * @property {string[]} [pictures]
 *
 * @typedef {{id: string, game: string, started_at: string, facts: TableFacts | null, entries: Entry[], pictures?: Record<string, string[]>}} FilmDocument  `pictures`: those of entries already sent, by the entries' numbers
 *
 * @typedef {object} Moment  something to be marked on the scrubber
 * @property {number} at  the entry's place
 * @property {"turn" | "phase" | "attack" | "loss" | "detail" | "dispute" | "overrule" | "over"} kind
 * @property {string} text
 */
import { applyChange, basesOf, haveMoved, unitsOf } from "./positions.js";

/** Longer waits are shortened to this. */
export const LONGEST_WAIT_S = 5;

/** Moments of every game, by the kind of their event. @type {Record<string, Moment["kind"]>} */
const MOMENTS = { overrule: "overrule", over: "over" };

/** The moments that people jump between. */
const DRAMATIC = new Set(["loss", "attack", "dispute", "overrule", "over"]);

/** A recording; entries may be added while it is watched. */
export class Film {
  /** @param {FilmDocument} document */
  constructor(document) {
    this.id = document.id;
    this.game = document.game;
    this.startedAt = new Date(document.started_at);
    this.facts = document.facts;
    /** @type {Entry[]} */
    this.entries = [];
    /** @type {number[]} when each entry is played, without long waits, s */
    this.plays = [];
    /** @type {(Position | null)[]} the position after each entry */
    this.positions = [];
    /** @type {Status[]} the game after each entry */
    this.standings = [];
    /** @type {Moment[]} */
    this.moments = [];
    /** @type {Map<string, {places: number[], lies: import("./positions.js").BaseDocument[]}>} the moves of each unit, and where the last of them led */
    this.moves = new Map();
    /** @type {Map<number, number>} where an action was taken back, by the place of its entry */
    this.undone = new Map();
    /** @type {number[]} where each game begins: at its first action, once there is one */
    this.games = [];
    /** @type {Map<number, number>} the entries of the actions of the newest game */
    this.actions = new Map();
    /** @type {Map<number, {entry: number, kind: string}[]>} the pictures of an entry, by its number */
    this.pictures = new Map();
    /** @type {{at: number, entry: number}[]} the places from which a new picture of the table holds, and the entries that have it */
    this.tablePictures = [];
    this.add(document.entries);
  }

  /** The index of the last entry. @returns {number} */
  get last() {
    return this.entries.length - 1;
  }

  /** Duration without long waits. @returns {number} */
  get length_s() {
    return this.plays.at(-1) ?? 0;
  }

  /** Adds newly recorded entries. @param {Entry[]} entries */
  add(entries) {
    for (const entry of entries) this.addOne(entry);
  }

  /** @param {Entry} entry */
  addOne(entry) {
    const at = this.entries.length;
    const waited_s = at ? Math.max(0, entry.t - this.entries[at - 1].t) : 0;
    this.entries.push(entry);
    this.plays.push(at ? this.plays[at - 1] + Math.min(waited_s, LONGEST_WAIT_S) : 0);
    this.positions.push(this.positionAfter(entry, this.positions[at - 1] ?? null));
    this.standings.push(entry.after ?? this.standings[at - 1] ?? {});
    if (entry.kind === "play") {
      this.actions = new Map();
      this.games.push(at);
    }
    if (typeof entry.deed === "number") {
      // Before its first action, hands put the table back.
      if (!this.actions.size) this.games.splice(-1, 1, at);
      this.actions.set(entry.deed, at);
    }
    for (const action of entry.undoes ?? []) {
      const taken = this.actions.get(action);
      if (taken !== undefined) this.undone.set(taken, at);
      this.moments = this.moments.filter((moment) => moment.at !== taken);
    }
    this.addMoves(at);
    this.addPictures(entry, at);
    this.moments.push(...momentsOf(entry, at, this.facts?.about.moments ?? {}));
  }

  /** @param {Entry} entry @param {Position | null} before @returns {Position | null} */
  positionAfter(entry, before) {
    if (entry.change) return applyChange(before, entry.change);
    return before ?? entry.position ?? null;
  }

  /** @param {Entry} entry @param {number} at */
  addPictures(entry, at) {
    if (!entry.pictures) return;
    const of = entry.of ?? entry.n;
    const kinds = entry.pictures.map((kind) => ({ entry: entry.n, kind }));
    this.pictures.set(of, [...(this.pictures.get(of) ?? []), ...kinds]);
    // A picture is recorded a little after the moment that it shows.
    if (entry.pictures.includes("table"))
      this.tablePictures.push({ at: Math.min(at, this.placeOf(of)), entry: entry.n });
  }

  /** The number of known pictures. @returns {number} */
  get pictureCount() {
    return this.entries.reduce((sum, { pictures = [] }) => sum + pictures.length, 0);
  }

  /** Replaces the list of pictures: some reach a hall later than their entries. @param {Record<string, string[]>} kindsByNumber */
  hearPictures(kindsByNumber) {
    this.pictures = new Map();
    this.tablePictures = [];
    this.entries.forEach((entry, at) => {
      entry.pictures = kindsByNumber[entry.n];
      this.addPictures(entry, at);
    });
  }

  /** The index of an entry by its number, or of the last one before it. @param {number} number @returns {number} */
  placeOf(number) {
    return Math.max(
      0,
      lastAtOrBefore(this.entries.length, (at) => this.entries[at].n <= number),
    );
  }

  /** The index of the entry played at a time. @param {number} play_s @returns {number} */
  placeAt(play_s) {
    return Math.max(
      0,
      lastAtOrBefore(this.entries.length, (at) => this.plays[at] <= play_s),
    );
  }

  /** The units and commanders on the table at an entry. @param {number} at */
  tableAt(at) {
    const position = this.positions[at];
    return position ? unitsOf(position) : { units: [], commanders: [] };
  }

  /** The latest picture of the table: the entry that has it, and the entry since which it holds. @param {number} at @returns {{at: number, entry: number} | null} */
  pictureAt(at) {
    const newest = lastAtOrBefore(this.tablePictures.length, (index) => this.tablePictures[index].at <= at);
    return this.tablePictures[newest] ?? null;
  }

  /** Whether anything has moved since an earlier entry. @param {number} at @param {number} before @returns {boolean} */
  liesElsewhere(at, before) {
    const [now, past] = [this.positions[at], this.positions[before]];
    if (!now || !past || now === past) return false;
    const [bases, old] = [basesOf(now), basesOf(past)];
    return bases.size !== old.size || [...bases].some(([id, placed]) => haveMoved(placed, old.get(id) ?? []));
  }

  /** Whether an entry had been taken back by then. @param {number} place @param {number} at */
  isUndone(place, at) {
    const undone = this.undone.get(place);
    return undone !== undefined && undone <= at;
  }

  /** The entry whose lines are shown at an entry: a position or a picture belongs to the action before it. @param {number} at @returns {number} */
  toldAt(at) {
    let place = at;
    while (place > 0 && at - place < 4 && ["position", "picture"].includes(this.entries[place]?.kind)) place -= 1;
    return place;
  }

  /** Whether two entries look and read alike. @param {number} at @param {number} other @returns {boolean} */
  looksLike(at, other) {
    const isTold = this.toldAt(at) === this.toldAt(other);
    return isTold && this.standings[at] === this.standings[other] && !this.liesElsewhere(at, other);
  }

  /** The indices of entries that say or show something; a move by hand is shown with its path. @returns {number[]} */
  get steps() {
    return this.entries.flatMap((entry, at) =>
      entry.kind === "picture" || isSilent(entry) || this.entries[at + 1]?.kind === "move" ? [] : [at],
    );
  }

  /** The first index, and those at which turns and further games begin. @returns {number[]} */
  get turns() {
    const turns = this.moments.filter(({ kind }) => kind === "turn").map(({ at }) => at);
    return [...new Set([0, ...this.games.slice(1), ...turns])].toSorted((a, b) => a - b);
  }

  /** The indices of dramatic moments. @returns {number[]} */
  get dramas() {
    return this.moments.filter(({ kind }) => DRAMATIC.has(kind)).map(({ at }) => at);
  }

  /** A unit's first index, and those at which it moves. @param {string} id @returns {number[]} */
  movesOf(id) {
    return this.moves.get(id)?.places ?? [];
  }

  /** Records which units an entry moved. @param {number} at */
  addMoves(at) {
    const [before, now] = [this.positions[at - 1] ?? null, this.positions[at]];
    if (!now || now === before) return;
    const known = new Set(before?.units);
    for (const unit of now.units) {
      if (known.has(unit)) continue;
      const { places, lies } = this.moves.get(unit.id) ?? { places: [], lies: [] };
      if (!places.length || haveMoved(unit.bases, lies))
        this.moves.set(unit.id, { places: [...places, at], lies: unit.bases });
    }
  }

  /** The indices at which something happens to a unit. @param {string} id @returns {number[]} */
  storyOf(id) {
    const mentions = this.entries.flatMap((entry, at) => (isAbout(entry, id) ? [at] : []));
    return [...new Set([...this.movesOf(id), ...mentions])].sort((a, b) => a - b);
  }
}

/** Whether an entry is about a unit. @param {Entry} entry @param {string} id @returns {boolean} */
export function isAbout(entry, id) {
  if (entry.unit === id) return true;
  return (entry.events ?? []).some((event) => isEventAbout(event, id));
}

/** Whether an event is about a unit. @param {Event} event @param {string} id @returns {boolean} */
export function isEventAbout({ facts, text }, id) {
  const named = [facts.unit, facts.target, facts.enemy, ...(Array.isArray(facts.force) ? facts.force : [])];
  return named.includes(id) || new RegExp(`(^|[^\\w-])${id.replace(/[^\w]/g, "\\$&")}($|[^\\w-])`).test(text);
}

/** Whether an entry has nothing to see or read. @type {(entry: Entry) => boolean} */
function isSilent(entry) {
  if (entry.change) return !entry.change.whole && !entry.change.changed && !entry.change.gone;
  return entry.kind === "deed" && !entry.events?.length && !entry.undoes?.length;
}

/** @type {(entry: Entry, at: number, kinds: Record<string, string>) => Moment[]} */
function momentsOf(entry, at, kinds) {
  if (entry.kind === "dispute") return [{ at, kind: "dispute", text: entry.dispute?.question?.text ?? "a dispute" }];
  return (entry.events ?? []).flatMap((event) => {
    const kind = MOMENTS[event.kind] ?? /** @type {Moment["kind"] | undefined} */ (kinds[event.kind]);
    const moments = kind ? [{ at, kind, text: event.text }] : [];
    return isOverruled(event) ? [...moments, { at, kind: "overrule", text: `${event.text}: ${event.note}` }] : moments;
  });
}

/** @type {(position: Position, id: string) => import("./positions.js").UnitDocument | undefined} */
function findUnit(position, id) {
  return position.units.find((unit) => unit.id === id);
}

/** The last index that meets a condition met only by the first ones (binary search); −1 if none. @type {(count: number, holds: (place: number) => boolean) => number} */
function lastAtOrBefore(count, holds) {
  let [low, high] = [-1, count - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (holds(middle)) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** Whether players corrected the action behind an event. @param {Event} event @returns {boolean} */
export function isOverruled({ note = "" }) {
  return note.startsWith("overruled");
}
