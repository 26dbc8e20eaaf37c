/** The strips above the table: which recording, which moment of it, whose round, who has what left. */
import { byId, put, write } from "../shared/dom.js";
import { sideName, sideNumber } from "../board/things.js";
import { renderSides } from "../game/strip.js";
import { sentence } from "../game/words.js";
import { LONGEST_WAIT_S } from "./film.js";
import { clock } from "./lines.js";

/** @typedef {import("../board/state.js").State} State */
/** @typedef {import("./state.js").Replay} Replay */

/** Bring the strips up to date. @type {(state: State, replay: Replay) => void} */
export function renderStrip(state, replay) {
  const { film, at, live, following, playing, speed } = replay;
  const day = film.startedAt.toLocaleDateString([], { dateStyle: "medium" });
  write(byId("replay-of"), `${day}, ${film.startedAt.toLocaleTimeString([], { timeStyle: "short" })} · ${film.game}`);
  const entry = film.entries[at];
  write(byId("replay-clock"), entry ? clock(entry.t) : "0:00");
  write(byId("replay-length"), ` of ${clock(film.entries.at(-1)?.t ?? 0)}`);
  byId("follow").hidden = !live;
  put(byId("follow"), "aria-pressed", String(following));
  write(byId("follow"), following ? "● live" : "Go to now");
  write(byId("play"), playing ? "Pause" : "Play");
  put(byId("play"), "data-playing", String(playing));
  const select = /** @type {HTMLSelectElement} */ (byId("speed"));
  if (select.value !== String(speed)) select.value = String(speed);
  byId("waits").hidden = !hasWaits(film);
  write(byId("waits"), `Waits shortened to ${LONGEST_WAIT_S} s`);
  renderRound(state, replay);
}

/** @type {(film: import("./film.js").Film) => boolean} */
function hasWaits(film) {
  return (film.entries.at(-1)?.t ?? 0) - (film.entries[0]?.t ?? 0) > film.length_s + 1;
}

/** @type {(state: State, replay: Replay) => void} */
function renderRound(state, { film, at }) {
  const { round = {}, question = "", sides = [], is_over } = film.standings[at] ?? {};
  const { number, active = "" } = round;
  put(byId("turn-round"), "class", `turn-round ${active ? `side-${sideNumber(state, active) % 8}` : "none"}`);
  write(byId("turn-active"), active ? sideName(state, active) : "no game yet");
  write(byId("turn-number"), number === undefined ? "" : String(number));
  byId("turn-word").hidden = number === undefined;
  write(byId("turn-question"), is_over ? "The game is over" : sentence(question));
  renderSides(state, sides.length ? /** @type {any} */ ({ state: { sides } }) : null);
}
