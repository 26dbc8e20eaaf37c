/** Wires the replay page: one board state, one film state, one drawing per screen frame. */
import { byId, setText } from "../shared/dom.js";
import { listenToPage } from "../shared/events.js";
import { listenToKeys } from "../shared/keyboard.js";
import { Board } from "../board/board.js";
import * as choosing from "../board/choosing.js";
import { TURN_DEG } from "../board/moves.js";
import { thingAt } from "../board/picking.js";
import { isPoint } from "../board/things.js";
import { wholeTable } from "../board/view.js";
import { drawGame } from "../game/overlay.js";
import { newState } from "../game/state.js";
import { drawRulings } from "../rulings/overlay.js";
import { BranchMoves } from "./branch.js";
import { renderChart } from "./chart.js";
import { listenToReplay, swipedTable } from "./commands.js";
import { Film } from "./film.js";
import { renderReplayLog } from "./log.js";
import { chosenUnitOf, createTablePicture, renderMoment, renderPictureAge, renderUnit } from "./moment.js";
import { createBranchQueries } from "./queries.js";
import { showMoment } from "./scene.js";
import { sourceOfPage } from "./source.js";
import { appendEntries, goTo, newReplay, playOn } from "./state.js";
import { renderStrip, renderTimeline } from "./timeline.js";
import { listenToBranch, renderWhatIf } from "./what_if.js";

/** @typedef {import("./state.js").Replay} Replay */
/** @typedef {import("../game/state.js").State} State */
/** @typedef {import("../shared/keyboard.js").Keys} Keys */

const LOOK_AGAIN_MS = 1500;
const EMPTY_LIVE = "This recording has no entries yet. Start a game at the table, and it will play here by itself.";
const EMPTY = "This recording has no entries: it ended before a game began. Close this page and play another file.";

const source = sourceOfPage();

/** Waits for a recording, then plays it. */
async function begin() {
  for (;;) {
    const recording = await source.film(0).catch((error) => ({ trouble: String(error.message ?? error) }));
    if (recording && "trouble" in recording) say(recording.trouble);
    else if (recording?.facts && recording.entries.length) return play(filmOf(recording));
    else say(source.about.live ? EMPTY_LIVE : EMPTY);
    await new Promise((done) => setTimeout(done, LOOK_AGAIN_MS));
  }
}

/** @type {(recording: import("./film.js").FilmDocument) => Film} */
function filmOf(recording) {
  try {
    return new Film(recording);
  } catch (error) {
    say("This recording is damaged: `tablecam replay FILE --repair OUT` recovers what is readable.");
    throw error;
  }
}

/** @type {(text: string) => void} */
function say(text) {
  setText(byId("nothing-text"), text);
}

/** @type {(film: Film) => void} */
function play(film) {
  const svg = /** @type {SVGSVGElement} */ (/** @type {unknown} */ (byId("board")));
  const facts = {
    ...film.facts,
    simulated: false,
    rules: source.about.rules && !source.offline,
    referee: true,
  };
  const tableFacts = /** @type {import("../board/state.js").TableFacts} */ (facts);
  byId("nothing").hidden = true;
  const state = newState(tableFacts, wholeTable(tableFacts, svg));
  const replay = newReplay(film, source.about.live);
  goToAddress(replay);
  const board = new Board(svg, state);
  const changed = oncePerFrame(
    () => drawTable(board, state, replay),
    () => drawWords(state, replay),
  );
  const moves = new BranchMoves(state, replay, changed);
  onDrawn.push(createTablePicture(state, replay, source, changed), createBranchQueries(state, replay, source, changed));
  listenToTable(board, state, replay, moves, changed);
  const branchKeys = listenToBranch(state, replay, source, moves, changed);
  listenToKeys(either(replay, listenToReplay(state, replay, source, changed), branchKeys, board.keys));
  new ResizeObserver(changed).observe(byId("marks"));
  window.addEventListener("hashchange", () => {
    goToAddress(replay);
    changed();
  });
  keepPlaying(replay, changed);
  if (replay.live) keepUp(replay, changed);
  changed();
}

/** Combines the keys of the recording with those of a branch; `both` apply in either. @type {(replay: Replay, played: Keys, branched: Keys, both: Keys) => Keys} */
function either(replay, played, branched, both) {
  const names = [...new Set([...Object.keys(played), ...Object.keys(branched)])];
  const keys = names.map((name) => [
    name,
    (/** @type {KeyboardEvent} */ event) => (replay.branch ? branched : played)[name]?.(event),
  ]);
  return { ...Object.fromEntries(keys), ...both };
}

/** @type {(() => void)[]} */
const onDrawn = [];

/** Draws the table and the transport. @type {(board: Board, state: State, replay: Replay) => void} */
function drawTable(board, state, replay) {
  showMoment(state, replay);
  board.set(state);
  renderStrip(state, replay);
  renderTimeline(state, replay);
  renderMoment(replay, source.pictureUrl);
  renderPictureAge(state, replay);
}

/** Draws everything beside the table, which takes longer. @type {(state: State, replay: Replay) => void} */
function drawWords(state, replay) {
  renderUnit(state, replay);
  renderReplayLog(replay, chosenUnitOf(state));
  renderChart(state, replay);
  renderWhatIf(state, replay);
  for (const refresh of onDrawn) refresh();
}

/** Batches drawing into one screen frame; `second` runs after the first has been painted. @type {(first: () => void, second: () => void) => () => void} */
function oncePerFrame(first, second) {
  let isDue = false;
  let isSecondDue = false;
  const after = () => {
    isSecondDue = false;
    second();
  };
  return () => {
    if (isDue) return;
    isDue = true;
    requestAnimationFrame(() => {
      isDue = false;
      first();
      if (!isSecondDue) setTimeout(after);
      isSecondDue = true;
    });
  };
}

/** Jumps to the moment in the page's address. @type {(replay: Replay) => void} */
function goToAddress(replay) {
  const number = Number(/^#entry=(\d{1,9})$/.exec(location.hash)?.[1] ?? NaN);
  if (!Number.isNaN(number)) goTo(replay, replay.film.placeOf(number));
}

/** Runs the film while it plays, and lets units slide. @type {(replay: Replay, changed: () => void) => void} */
function keepPlaying(replay, changed) {
  let before_ms = performance.now();
  const frame = (/** @type {number} */ now_ms) => {
    if (replay.playing) playOn(replay, Math.max(0, now_ms - before_ms));
    if (replay.playing || replay.slide) changed();
    before_ms = now_ms;
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
}

/** Loads new entries while the page is open. @type {(replay: Replay, changed: () => void) => Promise<void>} */
async function keepUp(replay, changed) {
  for (;;) {
    await new Promise((done) => setTimeout(done, LOOK_AGAIN_MS));
    if (document.hidden) continue;
    const last = replay.film.entries.at(-1)?.n ?? 0;
    const added = await source.film(last, replay.film.pictureCount).catch(() => undefined);
    byId("lost-connection").hidden = added !== undefined;
    if (added && added.id !== replay.film.id) location.reload();
    if (added?.pictures) replay.film.hearPictures(added.pictures);
    if (added) appendEntries(replay, added.entries);
    changed();
  }
}

/** @type {(board: Board, state: State, replay: Replay, moves: BranchMoves, changed: () => void) => void} */
function listenToTable(board, state, replay, moves, changed) {
  board.on("view", changed);
  board.on("draw", (layers) => {
    drawRulings(board, state);
    drawGame(board, layers, state);
  });
  board.on("tap", (at) => {
    choose(state, replay, thingAt(state, at.x, at.y, { ...at, bases: false }));
    changed();
  });
  board.on("doubleTap", () => board.fit());
  board.on("hover", (at) => {
    const thing = at && thingAt(state, at.x, at.y, { ...at, bases: false });
    state.hover = thing && !isPoint(thing) ? thing : null;
    if (replay.branch) choosing.layTape(state);
    changed();
  });
  board.on("grab", (at) => (replay.branch ? moves.grab(at) : swipedTable(state, replay, at, changed)));
  board.on("wheel", (direction) => {
    if (state.ghost) moves.turn(-direction * TURN_DEG.coarse);
    return state.ghost !== null;
  });
}

/** Chooses a thing: in a branch up to two to measure between, else one unit to follow. @type {(state: State, replay: Replay, thing: string | null) => void} */
function choose(state, replay, thing) {
  if (replay.branch) {
    replay.branch.odds = null;
    replay.branch.error = "";
    if (thing) choosing.choose(state, thing);
  } else if (thing?.startsWith("unit:")) choosing.chooseAlone(state, thing);
  else choosing.clear(state);
}

listenToPage();
void begin();
