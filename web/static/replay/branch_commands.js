/** What a player does in a branch: begins and ends it, turns units, asks for odds. */
import { byId } from "../shared/dom.js";
import { choose, clear, layTape } from "../board/choosing.js";
import { listenToSheet } from "../rulings/commands.js";
import { beginBranch, endBranch, layBack } from "./branch.js";
import { askOdds } from "./queries.js";

/** @typedef {import("../board/state.js").State} State */
/** @typedef {import("./state.js").Replay} Replay */
/** @typedef {import("./source.js").Source} Source */

/** Listen to the page; what keys do in a branch. @type {(state: State, replay: Replay, source: Source, moves: import("./branch.js").BranchMoves, changed: () => void) => import("../shared/keyboard.js").Keys} */
export function listenToBranch(state, replay, source, moves, changed) {
  const act = (/** @type {() => void} */ deed) => () => { deed(); changed(); };
  const end = act(() => endBranch(state, replay));
  const onClick = (/** @type {string} */ id, /** @type {() => void} */ deed) => byId(id).addEventListener("click", deed);
  onClick("branch", act(() => beginBranch(state, replay)));
  onClick("branch-end", end);
  onClick("branch-again", act(() => { layBack(state, replay); layTape(state); }));
  if (state.facts.rules) listenToOdds(replay, source, changed);
  return {
    ...(state.facts.rules ? listenToSheet(state, changed) : {}),
    w: end,
    q: (event) => moves.turn(event.shiftKey ? 1 : 5),
    e: (event) => moves.turn(event.shiftKey ? -1 : -5),
    Enter: act(() => chooseFocused(state)),
    Escape: act(() => {
      if (state.ghost) moves.cancel();
      else if (state.chosen.length) clear(state);
      else endBranch(state, replay);
    }),
    "?": () => /** @type {HTMLDialogElement} */ (byId("help")).showModal(),
  };
}

/** @type {(state: State) => void} */
function chooseFocused(state) {
  const thing = document.activeElement?.getAttribute("data-thing");
  if (thing) choose(state, thing);
}

/** @type {(replay: Replay, source: Source, changed: () => void) => void} */
function listenToOdds(replay, source, changed) {
  byId("odds-deeds").addEventListener("click", ({ target }) => {
    const wanted = target instanceof Element ? target.closest("[data-wanted]")?.getAttribute("data-wanted") : null;
    if (wanted && replay.branch) void askOdds(replay.branch, source, JSON.parse(wanted)).then(changed);
  });
}
