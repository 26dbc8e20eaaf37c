/** What is told of the unit that is chosen: its name, its moves, what it has left. */
import { byId, put, write } from "../shared/dom.js";
import { fullName } from "../board/board.js";
import { sideName, sideNumber } from "../board/things.js";
import { markerWords } from "../game/words.js";

/** @typedef {import("../board/state.js").State} State */
/** @typedef {import("./state.js").Replay} Replay */

/** The id of the unit that is chosen. @type {(state: State) => string | null} */
export function chosenUnitOf({ chosen }) {
  const [first] = chosen;
  return first?.startsWith("unit:") ? first.slice("unit:".length) : null;
}

/** Bring its words up to date. @type {(state: State, replay: Replay) => void} */
export function renderUnit(state, replay) {
  const id = chosenUnitOf(state);
  byId("unit").hidden = id === null || replay.branch !== null;
  if (id === null) return;
  const { film, at, trail } = replay;
  const unit = film.tableAt(at).units.find((each) => each.id === id);
  const side = state.facts.units.find((each) => each.id === id)?.side ?? unit?.side ?? "";
  put(byId("unit"), "class", `unit-part side-${sideNumber(state, side) % 8}`);
  write(byId("unit-title"), fullName(state, id));
  const markers = markerWords(film.standings[at]?.markers?.[id]);
  const stands = unit ? [unit.arm, unit.formation, markers].filter(Boolean).join(", ") : "not on the table now";
  write(byId("unit-words"), `${sideName(state, side)}: ${stands}`);
  const moves = film.movesOf(id).length - 1;
  write(byId("unit-moves"), moves > 0 ? `Show every move (${moves})` : "It never moved");
  put(byId("unit-moves"), "aria-pressed", String(trail === id));
  /** @type {HTMLButtonElement} */ (byId("unit-moves")).disabled = moves < 1;
}
