/** The scrubber: turns as bands, phases as ticks, dramatic moments as signs above them. */
import { byId, setAttr, setText, svgElement, updateChildren } from "../shared/dom.js";
import { sentence } from "../shared/text.js";
import { sideClass, sideName } from "../board/things.js";
import { renderSides, renderTurn } from "../game/strip.js";
import { LONGEST_WAIT_S } from "./film.js";
import { clock } from "./lines.js";

/** @typedef {import("../game/state.js").State} State */
/** @typedef {import("./state.js").Replay} Replay */
/** @typedef {import("./film.js").Moment} Moment */

/** Signs of the moments; their shapes differ, so that they can be told apart without colours. */
export const SIGNS = /** @type {Record<string, {path: string, text: string}>} */ ({
  loss: { path: "M-5 -5L5 5M-5 5L5 -5", text: "a unit is lost" },
  attack: { path: "M-5 -5L0 0L-5 5M0 -5L5 0L0 5", text: "an attack" },
  dispute: { path: "M-4 -3A4 3.6 0 1 1 0 1V3M0 5.5V6", text: "a dispute" },
  overrule: { path: "M0 -6V2M0 5.5V6", text: "an overrule" },
  over: { path: "M-4 6V-6L5 -3L-4 0", text: "the game is over" },
});

const SIGN_PX = 13;
const LABEL_PX = 26;
/** The narrowest turn with room for the name of the game that begins with it. */
const GAME_PX = 52;
const BAND = { y: 19, height: 13 };

/** Updates the scrubber. @type {(state: State, replay: Replay) => void} */
export function renderTimeline(state, replay) {
  const scrub = /** @type {HTMLInputElement} */ (byId("scrub"));
  const { film, at, play_s } = replay;
  setAttr(scrub, "max", String(film.length_s));
  if (Number(scrub.value) !== play_s) scrub.value = String(play_s);
  const entry = film.entries[at];
  const { turn, turn_word, active } = film.standings[at]?.standing ?? {};
  setAttr(
    scrub,
    "aria-valuetext",
    entry
      ? `${turn ? `${turn_word} ${turn}, ${sideName(state, active ?? "")}, ` : ""}${clock(entry.t)}`
      : "nothing yet",
  );
  renderMarks(state, replay);
}

/** Updates the marks; they change only with the film and the page's width. @type {(state: State, replay: Replay) => void} */
function renderMarks(state, { film }) {
  const svg = byId("marks");
  const width_px = svg.clientWidth;
  const drawn = `${film.entries.length} ${width_px}`;
  if (svg.getAttribute("data-drawn") === drawn || !width_px) return;
  setAttr(svg, "data-drawn", drawn);
  const xOf = (/** @type {number} */ at) => (width_px * film.plays[at]) / (film.length_s || 1);
  updateChildren(byId("marks-turns"), bands(state, film, xOf, width_px), ({ key }) => key, makeBand, updateBand);
  const phases = film.moments.filter(({ kind }) => kind === "phase");
  const ticks = phases.map(({ at }) => `M${xOf(at).toFixed(1)} ${BAND.y + BAND.height - 4}v4`).join("");
  setAttr(byId("marks-phases"), "d", ticks);
  updateChildren(byId("marks-moments"), signs(film, xOf), ({ key }) => key, makeSign, updateSign);
}

/** How many games of a recording have begun before the one at a place. @type {(film: import("./film.js").Film, at: number) => number} */
function gamesBefore(film, at) {
  return film.games.slice(1).filter((begins) => begins <= at).length;
}

/** The game, the turn and its side; empty between turns. @type {(film: import("./film.js").Film, at: number) => string} */
function turnAt(film, at) {
  const { turn, active } = film.standings[at].standing ?? {};
  return turn === undefined ? "" : `${gamesBefore(film, at)} ${turn} ${active}`;
}

/** @typedef {{key: string, x: number, width: number, side: string, label: string, text: string}} Band */

/** @type {(state: State, film: import("./film.js").Film, xOf: (at: number) => number, width_px: number) => Band[]} */
function bands(state, film, xOf, width_px) {
  const starts = film.standings.flatMap((_, at) => (at && turnAt(film, at) === turnAt(film, at - 1) ? [] : [at]));
  let free_px = -Infinity;
  return starts.map((at, index) => {
    const next = starts[index + 1];
    const x = xOf(at);
    const width = (next === undefined ? width_px : xOf(next)) - x;
    const { turn: number, turn_word, active = "" } = film.standings[at].standing ?? {};
    const games = gamesBefore(film, at);
    const game = index && games > gamesBefore(film, starts[index - 1]) ? `game ${games + 1}` : "";
    const hasRoom = x - free_px >= LABEL_PX && width > 8;
    const label = game && width > GAME_PX ? game : hasRoom ? String(number ?? "") : "";
    if (label) free_px = x;
    return {
      key: String(at),
      x,
      width,
      side: `${active ? sideClass(state, active) : "nobody"} ${index % 2 ? "odd" : "even"}`,
      label,
      text: [game, number === undefined ? "before the game" : `${turn_word} ${number}: ${sideName(state, active)}`]
        .filter(Boolean)
        .join(", "),
    };
  });
}

/** @type {() => SVGElement} */
function makeBand() {
  const group = svgElement("g");
  group.append(
    svgElement("rect", { y: String(BAND.y), height: String(BAND.height) }),
    svgElement("text", { y: String(BAND.y + BAND.height / 2) }),
    svgElement("title"),
  );
  return group;
}

/** @type {(group: SVGElement, band: Band) => void} */
function updateBand(group, { x, width, side, label, text }) {
  setAttr(group, "class", side);
  setAttr(group.children[0], "x", x.toFixed(1));
  setAttr(group.children[0], "width", Math.max(0.5, width - 1).toFixed(1));
  setAttr(group.children[1], "x", (x + 4).toFixed(1));
  setText(group.children[1], label);
  setText(group.children[2], text);
}

/** @typedef {{key: string, x: number, moment: Moment}} Sign */

/** The signs, without those that would overlap one of their kind. @type {(film: import("./film.js").Film, xOf: (at: number) => number) => Sign[]} */
function signs(film, xOf) {
  /** @type {Map<string, number>} */
  const latest = new Map();
  return film.moments
    .filter(({ kind }) => kind in SIGNS)
    .flatMap((moment, index) => {
      const x = xOf(moment.at);
      if (x - (latest.get(moment.kind) ?? -Infinity) < SIGN_PX) return [];
      latest.set(moment.kind, x);
      return [{ key: `${moment.kind} ${moment.at} ${index}`, x, moment }];
    });
}

/** @type {() => SVGElement} */
function makeSign() {
  const group = svgElement("g");
  group.append(
    svgElement("rect", { class: "reach", x: "-7", y: "-9", width: "14", height: "18" }),
    svgElement("path"),
    svgElement("title"),
  );
  return group;
}

/** @type {(group: SVGElement, sign: Sign) => void} */
function updateSign(group, { x, moment }) {
  setAttr(group, "class", `mark ${moment.kind}`);
  setAttr(group, "data-at", String(moment.at));
  setAttr(group, "transform", `translate(${x.toFixed(1)} 9)`);
  setAttr(group.children[1], "d", SIGNS[moment.kind].path);
  setText(group.children[2], `${sentence(SIGNS[moment.kind].text)}: ${moment.text}`);
}

/** Updates the strips above the table. @type {(state: State, replay: Replay) => void} */
export function renderStrip(state, replay) {
  const { film, at, live, following, playing, speed } = replay;
  const day = film.startedAt.toLocaleDateString([], { dateStyle: "medium" });
  setText(byId("replay-of"), `${day}, ${film.startedAt.toLocaleTimeString([], { timeStyle: "short" })}`);
  const entry = film.entries[at];
  setText(byId("replay-clock"), entry ? clock(entry.t) : "0:00");
  setText(byId("replay-length"), ` of ${clock(film.entries.at(-1)?.t ?? 0)}`);
  byId("follow").hidden = !live || following || !byId("lost-connection").hidden;
  setText(byId("play"), playing ? "Pause" : "Play");
  setAttr(byId("play"), "data-playing", String(playing));
  const select = /** @type {HTMLSelectElement} */ (byId("speed"));
  if (select.value !== String(speed)) select.value = String(speed);
  byId("waits").hidden = !hasWaits(film);
  setText(byId("waits"), `Waits shortened to ${LONGEST_WAIT_S} s`);
  renderRound(state, replay);
}

/** @type {(film: import("./film.js").Film) => boolean} */
function hasWaits(film) {
  return (film.entries.at(-1)?.t ?? 0) - (film.entries[0]?.t ?? 0) > film.length_s + 1;
}

/** @type {(state: State, replay: Replay) => void} */
function renderRound(state, { film, at }) {
  const { standing, question = "", is_over } = film.standings[at] ?? {};
  renderTurn(
    state,
    standing,
    standing?.turn === undefined && !standing?.active ? standing?.phase || "no game yet" : (standing.phase ?? ""),
  );
  setText(byId("turn-question"), is_over ? "The game is over" : sentence(question));
  renderSides(state, standing?.sides ?? []);
}
