/** Wires the live page: one state, its listeners, and one drawing of it per screen frame. */
import { createCameras } from "../shared/cameras.js";
import { byId, PHONE, setAttr } from "../shared/dom.js";
import { listenToPage, onClick, onClickWithin, openHelp } from "../shared/events.js";
import { listenToKeys } from "../shared/keyboard.js";
import { Board } from "../board/board.js";
import * as choosing from "../board/choosing.js";
import { dropClosedAnswers } from "../board/measuring.js";
import { isAtNewPlace, placings, TURN_DEG } from "../board/moves.js";
import { thingAt } from "../board/picking.js";
import { showsLines, UNCERTAINTY_FACTORS } from "../board/state.js";
import { isPoint, placeOf, properName } from "../board/things.js";
import { toTable, wholeTable } from "../board/view.js";
import { Commands, listenToGame } from "../game/commands.js";
import { drawGame } from "../game/overlay.js";
import { renderGame } from "../game/panel.js";
import { LayingHand } from "../game/setup.js";
import { isNextOfMany, isPlayer, newState } from "../game/state.js";
import { groundShown } from "../game/terrain.js";
import { listenToRulings } from "../rulings/commands.js";
import { renderDisputes } from "../rulings/disputes.js";
import { drawRulings } from "../rulings/overlay.js";
import { renderRulings } from "../rulings/panel.js";
import * as api from "./api.js";
import { listenToMasking, renderMasks } from "./masking.js";
import { addNotices, readNews, renderLog, renderPanel } from "./panel.js";
import { createPicture } from "./picture.js";
import { createQueries } from "./queries.js";
import { RectangleHand } from "./rectangle.js";
import { keepUndo, listenToGrouping, listenToLifting, renderLifting, SimulatedMoves } from "./simulation.js";
import { listenToTrying, renderTrying } from "./try_it.js";

/** @typedef {import("../game/state.js").State} State */
/** @typedef {import("../board/state.js").TableState} TableState */

const ARROW_PX = 60;
const PING_MS = 4000;
/** How long a camera notice covers the table; it stays beside the lamp until it is read or the camera is good again. */
const NEWS_MS = 10_000;

/** @type {import("../board/state.js").TableFacts} */
const facts = JSON.parse(byId("table-facts").textContent ?? "");
const svg = /** @type {SVGSVGElement} */ (/** @type {unknown} */ (byId("board")));
const state = newState(facts, wholeTable(facts, svg));
const board = new Board(svg, state);
const refreshAnswers = createQueries(state, changed);
const refreshPicture = createPicture(state, changed);
const moves = new SimulatedMoves(state, changed);
const commands = new Commands(state, changed);
const laying = new LayingHand(state, changed);
const rectangles = new RectangleHand(state, changed);

let isDue = false;

/** Draws at the next screen frame, however often this is called until then. */
function changed() {
  if (isDue) return;
  isDue = true;
  requestAnimationFrame(() => {
    isDue = false;
    keepUndo(state);
    dropClosedAnswers(state);
    state.ground = groundShown(state);
    board.set(state);
    renderPanel(state);
    renderLifting(state);
    renderTrying(state);
    renderGame(state);
    renderRulings(state);
    renderDisputes(state);
    renderLog(state);
    refreshAnswers();
  });
}

/** @type {(thing: string | null) => void} */
function choose(thing) {
  if (thing && isNextOfMany(state, thing) && !state.chosen.includes(thing)) choosing.chooseAlone(state, thing);
  else if (thing) choosing.choose(state, thing);
  changed();
}

function clear() {
  if (rectangles.cancel()) return;
  if (state.ghost) moves.cancel();
  else if (state.group.length) state.group = [];
  else choosing.clear(state);
  changed();
}

/** Removes a tape of this page, or one that its seat keeps for all. @param {string} index */
function removeTape(index) {
  const { a, b, by } = state.keptTapes[Number(index)];
  state.keptTapes = state.keptTapes.toSpliced(Number(index), 1);
  if (by !== undefined) void moves.tried(() => api.removeTape(a, b));
  changed();
}

/** Declares that the hidden bases of the chosen thing have left the table. */
function takeChosenOff() {
  if (!byId("take-off").hidden) void takeOff(state.chosen[0]);
}

/** @param {string} thing */
async function takeOff(thing) {
  try {
    await api.takeOff(thing);
    choosing.clear(state);
  } catch (error) {
    moves.complain(error);
  }
  changed();
}

function keep() {
  const [a, b] = state.chosen;
  choosing.keep(state);
  if (b && isPlayer(state)) void moves.tried(() => api.keepTape(a, b));
  changed();
}

/** Points at a place, for all to see. @type {(thing: string) => void} */
function pointAt(thing) {
  const [x_mm, y_mm] = placeOf(thing) ?? [0, 0];
  void moves.tried(() => api.ping(x_mm, y_mm));
}

/** Changes the display options. @type {(some: Partial<State["show"]>) => void} */
function show(some) {
  state.show = { ...state.show, ...some };
  refreshPicture();
  changed();
}

/** @type {(picks: "units" | "bases") => void} */
function pick(picks) {
  state.picks = picks;
  changed();
}

function toggleMoving() {
  state.moving = facts.simulated && !state.moving && state.game.view?.seat.kind !== "spectator";
  changed();
}

function nextUncertainty() {
  const all = UNCERTAINTY_FACTORS;
  show({ uncertainty: all[(all.indexOf(state.show.uncertainty) + 1) % all.length] });
}

/** The things chosen before the last tap or long press, to restore on a double tap or a slow drag. @type {string[]} */
let chosenBefore = [];
/** Where the last long press was. @type {object | null} */
let pressed = null;

/** The thing right under a pointer, without a finger's tolerance, and the point of the table. @type {(at: import("../shared/gestures.js").Touch) => [string | null, [number, number]]} */
function spotAt(at) {
  return [thingAt(state, at.x, at.y), toTable(state.view, facts, at.x, at.y)];
}

board.on("view", changed);
board.on("draw", (layers) => {
  rectangles.draw(layers);
  if (facts.simulated)
    setAttr(byId("group"), "aria-pressed", String(rectangles.asker === "group" || state.group.length > 0));
  renderMasks(layers, state, rectangles.asker === "mask", moves);
  drawRulings(board, state);
  drawGame(board, layers, state);
});
board.on("tap", (at) => laying.tap(at));
board.on("tap", (at) => {
  if (commands.tapPlace(...spotAt(at))) return;
  chosenBefore = state.chosen;
  state.hover = null;
  choose(thingAt(state, at.x, at.y, at));
});
board.on("doubleTap", (at) => laying.tap(at));
board.on("doubleTap", (at) => {
  const thing = thingAt(state, at.x, at.y, at);
  if (thing && !isPoint(thing)) return choose(thing);
  state.chosen = chosenBefore;
  choosing.layTape(state);
  board.fit();
});
board.on("longPress", (at) => {
  if (moves.isOnHandle(at)) return;
  const thing = thingAt(state, at.x, at.y, { ...at, bases: true });
  if (thing && isPoint(thing) && isPlayer(state)) pointAt(thing);
  else {
    [chosenBefore, pressed] = [state.chosen, at];
    choose(thing);
  }
  navigator.vibrate?.(15);
});
/** The latest drag, until the mouse has left the place where it ended. @type {{end: {x: number, y: number} | null} | null} */
let drag = null;
const DRAG_ENDED_PX = 20;

/** Whether the mouse still rests where a drag ended, which does not ask about the ground there. @param {{x: number, y: number} | null} at */
function isWhereDragEnded(at) {
  if (!drag || !at) return false;
  drag.end ??= at;
  if (Math.hypot(at.x - drag.end.x, at.y - drag.end.y) > DRAG_ENDED_PX) drag = null;
  return drag !== null;
}

board.on("hover", (at) => {
  if (laying.isDue) return;
  state.hover = at && thingAt(state, at.x, at.y, at);
  if (at && commands.lookAtPlace(...spotAt(at))) state.hover = null;
  if (state.hover && isPoint(state.hover) && (state.chosen.length !== 1 || isWhereDragEnded(at))) state.hover = null;
  choosing.layTape(state);
  changed();
});
board.on("grab", (at) => {
  drag = { end: null };
  if (at === pressed) {
    state.chosen = chosenBefore;
    choosing.layTape(state);
  }
  return rectangles.grab(at) ?? laying.grab(at) ?? moves.grab(at);
});
board.on("wheel", (direction) => {
  if (!state.ghost || state.ghost.sent) return false;
  moves.turn(-direction * TURN_DEG.coarse);
  return true;
});

/** @type {import("../shared/keyboard.js").Keys} */
const keys = {
  ...listenToRulings(state, changed),
  ...board.keys,
  ArrowLeft: () => board.pan(ARROW_PX, 0),
  ArrowRight: () => board.pan(-ARROW_PX, 0),
  ArrowUp: () => board.pan(0, ARROW_PX),
  ArrowDown: () => board.pan(0, -ARROW_PX),
  b: () => pick(state.picks === "units" ? "bases" : "units"),
  m: toggleMoving,
  g: listenToGrouping(state, rectangles, moves),
  p: () => show({ picture: !state.show.picture }),
  l: () => show({ lines: !showsLines(state) }),
  u: nextUncertainty,
  k: keep,
  x: takeChosenOff,
  q: (event) => moves.turn(event.shiftKey ? TURN_DEG.fine : TURN_DEG.coarse),
  e: (event) => moves.turn(event.shiftKey ? -TURN_DEG.fine : -TURN_DEG.coarse),
  undo: () => moves.undo(),
  Escape: clear,
  Enter: () => choose(focusedThing()),
  " ": () => choose(focusedThing()),
  "?": openHelp,
};
listenToKeys(listenToGame(commands, board, keys));

listenToLifting(state, moves);
listenToMasking(state, rectangles, moves);
listenToTrying(state, changed);

/** Briefly shows where seats point. @type {(state: State, pings: State["pings"]) => void} */
function showPings(state, pings) {
  if (!pings.length) return;
  state.pings = [...state.pings, ...pings];
  setTimeout(() => {
    state.pings = state.pings.filter((ping) => !pings.includes(ping));
    changed();
  }, PING_MS);
}

/** @returns {string | null} */
function focusedThing() {
  return document.activeElement?.getAttribute("data-thing") ?? null;
}

onClick("pick-units", () => pick("units"));
onClick("pick-bases", () => pick("bases"));
onClick("moving", toggleMoving);
onClick("keep", keep);
onClick("take-off", takeChosenOff);
if (facts.referee) onClickWithin("game-due", "data-off", (unit) => takeOff(`unit:${unit}`));
onClick("follow-map", () => void moves.tried(() => api.followMap()));
onClick("clear", clear);
onClickWithin("measure-body", "data-tape", removeTape);
onClick("undo", () => moves.undo());
onClick("notice-undo", () => moves.undo());
onClick("pause", () => moves.play(state.now?.simulated?.paused ? "resume" : "stand-still"));
onClick("restart", () => (state.isPlaying ? byId("begin-again").click() : moves.play("restart")));
onClick("bump", () => moves.bump());
onClick("dim", () => moves.dim());
listenToPage();

/** Puts the tools beside the table: a phone's strip has no room for them. */
function placeTools() {
  const isPhone = phone.matches;
  if (isPhone) byId("show").append(byId("picking"));
  else byId("look-back").before(byId("picking"), byId("zooming"));
  if (isPhone) byId("board").after(byId("zooming"));
}

const phone = matchMedia(PHONE);
phone.addEventListener("change", placeTools);
placeTools();
const listCameras = facts.simulated ? null : createCameras();
onClick("health", () => {
  const more = byId("health-more");
  more.hidden = !more.hidden;
  byId("health").setAttribute("aria-expanded", String(!more.hidden));
  if (!more.hidden) {
    readNews(state);
    listCameras?.();
  }
  changed();
});
byId("roster").addEventListener("toggle", changed);
onClickWithin("roster", "data-thing", choose);
onClickWithin("stacks", "data-thing", (thing) => {
  choosing.chooseAlone(state, thing);
  changed();
});

/** @type {(id: string, listener: (input: HTMLInputElement) => void) => void} */
function onInput(id, listener) {
  const input = /** @type {HTMLInputElement} */ (byId(id));
  input.addEventListener("input", () => listener(input));
}

onInput("show-picture", (input) => show({ picture: input.checked }));
onInput("show-terrain", (input) => show({ terrain: input.checked }));
onInput("show-names", (input) => show({ names: input.checked }));
onInput("show-lines", (input) => show({ lines: input.checked }));
onInput("picture-strength", (input) => show({ strength: Number(input.value) / 100 }));
onInput("show-uncertainty", (input) => show({ uncertainty: Number(input.value) }));

document.addEventListener("visibilitychange", refreshPicture);

api.listen(
  (now) => {
    const happened = takeInTable(state, now);
    if (happened) moves.say(happened.text, happened.undo, happened.undo ? undefined : NEWS_MS, happened.found);
    refreshPicture();
    changed();
  },
  (connection) => {
    state.connection = connection;
    changed();
  },
);
changed();

/** Applies a new state of the table; returns the notice to show, if any. @type {(state: State, now: TableState) => State["notice"]} */
export function takeInTable(state, now) {
  const isFirst = state.now === null;
  const fresh = addNotices(state, now.notices);
  const known = (state.now?.pings ?? []).map(({ number }) => number);
  if (!isFirst)
    showPings(
      state,
      now.pings.filter(({ number }) => !known.includes(number)),
    );
  choosing.shareTapes(state, now.tapes);
  state.now = now;
  choosing.dropGone(state);
  const arrived = state.ghost?.sent && isAtNewPlace(now, state.ghost) ? placings(state.ghost) : null;
  if (arrived) state.ghost = null;
  if (isFirst) {
    readNews(state);
    return null;
  }
  const news = fresh.at(-1)?.text;
  if (news) return { text: news, undo: false, found: [] };
  if (!arrived) return null;
  const found = arrived.map(({ unit }) => unit);
  const names = found.map(properName).join(", ");
  return { text: `${names} found at ${found.length > 1 ? "their" : "its"} new place`, undo: true, found };
}
