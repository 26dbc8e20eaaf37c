/** Wires the page together: one state, what changes it, and one drawing of it per screen frame. */
import * as api from "../shared/api.js";
import { byId } from "../shared/dom.js";
import { listenToPointers } from "../shared/gestures.js";
import { listenToKeys } from "../shared/keyboard.js";
import { createBoard } from "../board/board.js";
import * as choosing from "../board/choosing.js";
import { closeTools } from "../board/measuring.js";
import { Moves } from "../board/moves.js";
import { thingAt } from "../board/picking.js";
import { newState, tableChanged, UNCERTAINTY_FACTORS } from "../board/state.js";
import { isPoint } from "../board/things.js";
import { bestTurn, fitted, panned, resized, zoomed } from "../board/view.js";
import { listenToGame } from "../game/commands.js";
import { renderGame } from "../game/panel.js";
import { LayingHand } from "../game/setup_commands.js";
import { listenToRulings } from "../rulings/commands.js";
import { renderDisputes } from "../rulings/disputes.js";
import { renderRulings } from "../rulings/panel.js";
import { listenToLifting, renderLifting } from "./lifting.js";
import { renderLog } from "./log.js";
import { renderPanel } from "./panel.js";
import { createPicture } from "./picture.js";
import { createAsking } from "./queries.js";

/** @typedef {import("../shared/gestures.js").Touch} Touch */

const ARROW_PX = 60;
const ZOOM_STEP = 1.35;

/** @type {import("../board/state.js").TableFacts} */
const facts = JSON.parse(byId("table-facts").textContent ?? "");
const svg = /** @type {SVGSVGElement} */ (/** @type {unknown} */ (byId("board")));
const state = newState(facts, wholeTable());
const renderBoard = createBoard(svg);
const refreshAnswers = createAsking(state, changed);
const refreshPicture = createPicture(state, changed);
const moves = new Moves(state, changed);
const laying = new LayingHand(state, changed);

let isDue = false;

/** Draw at the next screen frame, however often this is called until then. */
function changed() {
  if (isDue) return;
  isDue = true;
  requestAnimationFrame(() => {
    isDue = false;
    closeTools(state);
    renderBoard(state);
    renderPanel(state);
    renderLifting(state);
    renderGame(state);
    renderRulings(state);
    renderDisputes(state);
    renderLog(state);
    refreshAnswers();
  });
}

/** @returns {import("../board/view.js").View} */
function wholeTable(turn = bestTurn(facts, svg.clientWidth, svg.clientHeight)) {
  return fitted(facts, svg.clientWidth, svg.clientHeight, turn);
}

/** @type {(view: import("../board/view.js").View) => void} */
function look(view) {
  state.view = view;
  state.fitted = false;
  changed();
}

/** @type {(dx_px: number, dy_px: number) => void} */
function pan(dx_px, dy_px) {
  look(panned(state.view, facts, dx_px, dy_px));
}

/** @type {(factor: number, x_px?: number, y_px?: number) => void} */
function zoom(factor, x_px = state.view.width_px / 2, y_px = state.view.height_px / 2) {
  look(zoomed(state.view, facts, factor, x_px, y_px));
}

/** @type {(turn?: number) => void} */
function fit(turn = state.view.turn) {
  look(wholeTable(turn));
  state.fitted = true;
}

/** Look from the next side of the table. */
function turnTable() {
  state.turned = true;
  fit((state.view.turn + 1) % 4);
}

/** @type {(thing: string | null) => void} */
function choose(thing) {
  if (thing) choosing.choose(state, thing);
  changed();
}

function clear() {
  if (state.ghost) moves.cancel();
  else choosing.clear(state);
  changed();
}

/** Say that what is hidden of the chosen thing has left the table. */
async function takeOff() {
  const [thing] = state.chosen;
  if (byId("take-off").hidden) return;
  try {
    await api.takeOff(thing);
    choosing.clear(state);
  } catch (error) {
    moves.complain(error);
  }
  changed();
}

function keep() {
  choosing.keep(state);
  changed();
}

/** Change what is shown. @type {(show: Partial<import("../board/state.js").State["show"]>) => void} */
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
  state.moving = facts.simulated && !state.moving && state.game.told?.seat.kind !== "spectator";
  changed();
}

function nextUncertainty() {
  const all = UNCERTAINTY_FACTORS;
  show({ uncertainty: all[(all.indexOf(state.show.uncertainty) + 1) % all.length] });
}

/** What was chosen before the last tap, to go back to when the tap was half of two. @type {string[]} */
let chosenBefore = [];

listenToPointers(svg, {
  tap(at) {
    if (laying.tap(at)) return;
    chosenBefore = state.chosen;
    state.hover = null;
    choose(thingAt(state, at.x, at.y, at));
  },
  doubleTap(at) {
    if (laying.tap(at)) return;
    const thing = thingAt(state, at.x, at.y, at);
    if (thing && !isPoint(thing)) return choose(thing);
    state.chosen = chosenBefore;
    choosing.layTape(state);
    fit();
  },
  longPress(at) {
    if (moves.isOnHandle(at)) return;
    choose(thingAt(state, at.x, at.y, { ...at, bases: true }));
    navigator.vibrate?.(15);
  },
  hover(at) {
    if (laying.isDue) return;
    state.hover = at && thingAt(state, at.x, at.y, at);
    if (state.hover && isPoint(state.hover) && state.chosen.length !== 1) state.hover = null;
    choosing.layTape(state);
    changed();
  },
  grab: (at) => laying.grab(at) ?? moves.grab(at),
  pan,
  zoom,
  wheel(at, delta) {
    if (state.ghost && !state.ghost.sent) moves.turn(Math.sign(delta) * -5);
    else zoom(Math.exp(-delta / 480), at.x, at.y);
  },
});

const keys = {
  ...listenToRulings(state, changed),
  ArrowLeft: () => pan(ARROW_PX, 0),
  ArrowRight: () => pan(-ARROW_PX, 0),
  ArrowUp: () => pan(0, ARROW_PX),
  ArrowDown: () => pan(0, -ARROW_PX),
  "+": () => zoom(ZOOM_STEP),
  "=": () => zoom(ZOOM_STEP),
  "-": () => zoom(1 / ZOOM_STEP),
  0: () => fit(),
  t: turnTable,
  b: () => pick(state.picks === "units" ? "bases" : "units"),
  m: toggleMoving,
  p: () => show({ picture: !state.show.picture }),
  u: nextUncertainty,
  k: keep,
  x: takeOff,
  q: (event) => moves.turn(event.shiftKey ? 1 : 5),
  e: (event) => moves.turn(event.shiftKey ? -1 : -5),
  undo: () => moves.undo(),
  Escape: clear,
  Enter: () => choose(focusedThing()),
  " ": () => choose(focusedThing()),
  "?": () => openHelp(),
};
listenToKeys(listenToGame(state, changed, keys));

listenToLifting(state, moves);

/** @returns {string | null} */
function focusedThing() {
  return document.activeElement?.getAttribute("data-thing") ?? null;
}

function openHelp() {
  /** @type {HTMLDialogElement} */ (byId("help")).showModal();
}

/** @type {(id: string, deed: () => void) => void} */
function onClick(id, deed) {
  document.getElementById(id)?.addEventListener("click", deed);
}

onClick("zoom-in", () => zoom(ZOOM_STEP));
onClick("zoom-out", () => zoom(1 / ZOOM_STEP));
onClick("fit", () => fit());
onClick("turn", turnTable);
onClick("pick-units", () => pick("units"));
onClick("pick-bases", () => pick("bases"));
onClick("moving", toggleMoving);
onClick("keep", keep);
onClick("take-off", takeOff);
onClick("clear", clear);
onClick("undo", () => moves.undo());
onClick("notice-undo", () => moves.undo());
onClick("pause", () => moves.play(state.now?.simulated?.paused ? "resume" : "pause"));
onClick("restart", () => moves.play("restart"));
onClick("bump", () => moves.bump());
onClick("dim", () => moves.dim());
onClick("help-open", openHelp);
onClick("help-close", () => /** @type {HTMLDialogElement} */ (byId("help")).close());
onClick("health", () => {
  const more = byId("health-more");
  more.hidden = !more.hidden;
  byId("health").setAttribute("aria-expanded", String(!more.hidden));
  changed();
});
onClick("panel-grip", () => {
  const isOpen = byId("panel").classList.toggle("open");
  byId("panel-grip").setAttribute("aria-expanded", String(isOpen));
});
byId("roster").addEventListener("toggle", changed);
byId("roster").addEventListener("click", (event) => {
  const button = event.target instanceof Element ? event.target.closest("[data-thing]") : null;
  if (button) choose(button.getAttribute("data-thing"));
});

/** @type {(id: string, deed: (input: HTMLInputElement) => void) => void} */
function onInput(id, deed) {
  const input = /** @type {HTMLInputElement} */ (byId(id));
  input.addEventListener("input", () => deed(input));
}

onInput("show-picture", (input) => show({ picture: input.checked }));
onInput("show-terrain", (input) => show({ terrain: input.checked }));
onInput("show-names", (input) => show({ names: input.checked }));
onInput("picture-strength", (input) => show({ strength: Number(input.value) / 100 }));
onInput("show-uncertainty", (input) => show({ uncertainty: Number(input.value) }));

new ResizeObserver(() => {
  if (state.fitted) fit(state.turned ? state.view.turn : bestTurn(facts, svg.clientWidth, svg.clientHeight));
  else look(resized(state.view, svg.clientWidth, svg.clientHeight));
}).observe(svg);

document.addEventListener("visibilitychange", refreshPicture);

api.listen(
  (now) => {
    const happened = tableChanged(state, now);
    if (happened) moves.say(happened.text, happened.undo);
    refreshPicture();
    changed();
  },
  (connection) => {
    state.connection = connection;
    changed();
  },
);
changed();
