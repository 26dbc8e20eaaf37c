/**
 * The state of the replay, and the functions that change it. Nothing here draws or sends requests.
 *
 * @typedef {import("./film.js").Film} Film
 * @typedef {import("./lines.js").Line} Line
 * @typedef {"event" | "turn" | "moment" | "unit"} By
 *
 * @typedef {object} Replay
 * @property {Film} film
 * @property {Line[]} lines
 * @property {number} at  the place of the entry that is shown
 * @property {number} play_s  its time in the film
 * @property {boolean} playing
 * @property {number} speed
 * @property {boolean} live  a table is watched: entries may be added
 * @property {boolean} following  moves on to new entries
 * @property {By} by  the size of a step
 * @property {string | null} looked  the single line being looked at
 * @property {string | null} trail  the unit whose every move is shown
 * @property {boolean} ghosts  whether past moves are drawn
 * @property {boolean} onlyUnit  the log has only lines about the chosen unit
 * @property {string} find  the log has only lines with these words
 * @property {boolean} showsUndone  the log also has actions taken back by the moment shown
 * @property {{from: number, began_ms: number} | null} slide  units slide from their old places to the new ones
 * @property {import("./branch.js").Branch | null} branch
 */
import { linesOf } from "./lines.js";

export const SPEEDS = [1, 2, 5, 10, 20, 60];

/** Units slide across up to this many entries; longer steps are jumps. */
const MOST_SLID = 4;

/** Longer frames count as this: after a pause of the page the film resumes where it was. */
const LONGEST_FRAME_MS = 250;

/** Duration of a slide. */
export const SLIDE_MS = 380;

/** A page at the beginning of a recording, or at the end of a live one. @type {(film: Film, live: boolean) => Replay} */
export function newReplay(film, live) {
  const at = live ? Math.max(0, film.last) : 0;
  return {
    film,
    lines: linesOf(film),
    at,
    play_s: film.plays[at] ?? 0,
    playing: false,
    speed: 5,
    live,
    following: live,
    by: "event",
    looked: null,
    trail: null,
    ghosts: true,
    onlyUnit: false,
    find: "",
    showsUndone: false,
    slide: null,
    branch: null,
  };
}

/** Shows an entry. @type {(replay: Replay, at: number) => void} */
export function goTo(replay, at) {
  const { film } = replay;
  const place = Math.min(Math.max(0, at), Math.max(0, film.last));
  slideTo(replay, place);
  replay.play_s = film.plays[place] ?? 0;
  replay.following = replay.live && place === film.last;
}

/** Shows the entry played at a time. @type {(replay: Replay, play_s: number) => void} */
export function goToTime(replay, play_s) {
  slideTo(replay, replay.film.placeAt(play_s));
  replay.play_s = play_s;
  replay.following = replay.live && replay.at === replay.film.last;
}

/** @type {(replay: Replay, place: number) => void} */
function slideTo(replay, place) {
  if (place === replay.at) return;
  const isNext =
    place > replay.at && place - replay.at <= MOST_SLID && !matchMedia("(prefers-reduced-motion: reduce)").matches;
  replay.slide = isNext ? { from: replay.at, began_ms: performance.now() } : null;
  replay.at = place;
  replay.looked = null;
}

/** The indices that steps go to. @type {(replay: Replay, by: By, unit: string | null) => number[]} */
export function stops({ film }, by, unit) {
  if (by === "turn") return [...film.turns, film.last];
  if (by === "moment") return [0, ...film.dramas, film.last];
  if (by === "unit") return unit ? film.storyOf(unit) : film.steps;
  return film.steps;
}

/** Steps to the next stop that looks different, or back. @type {(replay: Replay, way: 1 | -1, by: By, unit: string | null) => void} */
export function step(replay, way, by, unit) {
  const { film, at: now } = replay;
  const all = stops(replay, by, unit).filter((at) => (way > 0 ? at > now : at < now) && !film.looksLike(at, now));
  const next = way > 0 ? all[0] : all.at(-1);
  replay.playing = false;
  if (next !== undefined) goTo(replay, next);
}

/** Advances the film by the time of a screen frame. @type {(replay: Replay, passed_ms: number) => void} */
export function playOn(replay, passed_ms) {
  const end_s = replay.film.length_s;
  const passed_s = Math.min(passed_ms, LONGEST_FRAME_MS) / 1000;
  goToTime(replay, Math.min(end_s, replay.play_s + passed_s * replay.speed));
  if (replay.play_s >= end_s) replay.playing = false;
}

/** Plays or pauses; at its end the film starts again. @type {(replay: Replay) => void} */
export function togglePlaying(replay) {
  replay.playing = !replay.playing;
  if (replay.playing && replay.at >= replay.film.last) goTo(replay, 0);
}

/** Changes the speed by a step. @type {(replay: Replay, way: 1 | -1) => void} */
export function changeSpeed(replay, way) {
  const place = SPEEDS.indexOf(replay.speed) + way;
  replay.speed = SPEEDS[Math.min(SPEEDS.length - 1, Math.max(0, place))];
}

/** Adds newly recorded entries. @type {(replay: Replay, entries: import("./film.js").Entry[]) => void} */
export function appendEntries(replay, entries) {
  const before = replay.film.entries.length;
  replay.film.add(entries);
  replay.lines = [...replay.lines, ...linesOf(replay.film, before)];
  if (replay.following) goTo(replay, replay.film.last);
}

/** Progress of the slide, 0 to 1; null without one. @type {(replay: Replay) => number | null} */
export function slideProgress(replay) {
  if (!replay.slide) return null;
  const share = (performance.now() - replay.slide.began_ms) / SLIDE_MS;
  if (share >= 1) replay.slide = null;
  return share >= 1 ? null : share;
}

/** The lines of the log: all, those about the chosen unit, or those with the words searched for. @type {(replay: Replay, unit: string | null) => Line[]} */
export function linesShown({ lines, onlyUnit, find, showsUndone, film, at }, unit) {
  const words = find.toLowerCase();
  return lines.filter(
    (line) =>
      (!onlyUnit || !unit || line.isAbout(unit)) &&
      `${line.text} ${line.rule} ${line.note}`.toLowerCase().includes(words) &&
      (showsUndone || words || !film.isUndone(line.at, at)),
  );
}

/** How many actions were taken back by the moment shown. @type {(replay: Replay) => number} */
export function countUndone({ film, at }) {
  return [...film.undone.values()].filter((when) => when <= at).length;
}
