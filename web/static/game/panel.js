/** The game in the panel: beginning, moves to make, actions, the hand of cards, the log. */
import { byId, disable, element, makeButton, PHONE, setAttr, setText, updateChildren } from "../shared/dom.js";
import { sentence } from "../shared/text.js";
import { sideClass, sideName } from "../board/things.js";
import { renderGameDice } from "./dice.js";
import { renderForce } from "./force.js";
import { renderGameLog } from "./log.js";
import { renderStates } from "./midgame.js";
import { renderOverrule } from "./overrule.js";
import { renderIntents, renderPending } from "./pending.js";
import { renderSeats } from "./seats.js";
import { renderSetup } from "./setup.js";
import { chosenUnit, groupsShown, headingOf, playing } from "./state.js";
import { renderStrip } from "./strip.js";
import { cardKind, groupTitle, markerWords } from "./words.js";

/** @typedef {import("./state.js").State} State */
/** @typedef {import("./state.js").GameView} GameView */
/** @typedef {import("./state.js").Group} Group */
/** @typedef {import("./state.js").Button} Button */

/** Groups of actions that players do by hand first. */
const BY_HAND = new Set(["march", "charge"]);

/** The ways to begin a game. */
const HOW = [
  { how: "stands", text: "As it is", hint: "The first round begins with the table as it is now." },
  {
    how: "setup",
    text: "Set up first",
    hint: "First put all units anywhere on the table. Then roll for terrain, choose edges and deploy.",
  },
  {
    how: "middle",
    text: "Mid-game",
    hint: "A game continues from the table as it is now: you set the round, morale, cards and markers.",
  },
];

/** The decks; the first is the players' own. */
const DECKS = [
  { deck: "", text: "Printed cards" },
  { deck: "house", text: "tablecam deals (house deck)" },
];

/** The choices when players may measure. */
const MEASURING = [
  { measuring: "free", text: "At any time", hint: "" },
  {
    measuring: "declared",
    text: "After declaring",
    hint: "No distance or range is shown before it is declared. A shot, charge or card that does not reach is lost.",
  },
];

/** Updates the game's part of the panel. @type {(state: State) => void} */
export function renderGame(state) {
  if (!state.facts.referee) return;
  const view = playing(state);
  keepFocus(Boolean(view?.is_yours) && state.game.busy === null, () => renderParts(state, view));
  showFromTop(view);
  blockFreshLists(state);
}

/** @type {(state: State, view: GameView | null) => void} */
function renderParts(state, view) {
  renderStrip(state);
  renderSeats(state);
  renderSaid(state);
  renderProposed(state);
  renderOver(state, view);
  renderBegin(state);
  renderPending(state);
  renderIntents(state);
  renderGameDice(state);
  renderActions(state);
  renderForce(state);
  renderTake(state, view);
  renderHand(state, view);
  renderMarked(state, view);
  renderOverrule(state);
  renderSetup(state);
  renderStates(state);
  renderGameLog(state);
}

/** Scrolls the panel to its top: on a phone when its seat is asked something new, on all pages when the game ends. @type {(view: GameView | null) => void} */
function showFromTop(view) {
  const panel = byId("panel");
  const before = panel.dataset.asked;
  panel.dataset.asked = view?.is_over ? "over" : view?.is_yours ? view.question : view ? "others" : "";
  const isNews = panel.dataset.asked !== before && Boolean(view?.is_yours || view?.is_over || !before);
  if (isNews && (view?.is_over || matchMedia(PHONE).matches)) panel.scrollTop = 0;
}

/** @type {(state: State) => void} */
function renderSaid(state) {
  const { game } = state;
  const view = playing(state);
  setText(byId("game-said"), game.busy ?? (game.said || view?.trouble || ""));
  byId("game-said").classList.toggle("waiting", game.busy !== null);
  byId("game").classList.toggle("busy", game.busy !== null);
  const latest = view?.log.findLast(({ undone }) => !undone);
  byId("game-undo").hidden = !view?.can_undo;
  disable(byId("game-undo"), game.busy !== null);
  byId("game-redo").hidden = !view?.can_redo;
  disable(byId("game-redo"), game.busy !== null);
  setAttr(byId("game-undo"), "title", latest ? `Undo: ${latest.text} (Ctrl-Z)` : "Undo the last action (Ctrl-Z)");
}

/** Updates the proposal of one side, to which the other side or the shared screen can agree. @type {(state: State) => void} */
function renderProposed(state) {
  const proposed = playing(state)?.proposed;
  byId("game-proposed").hidden = !proposed;
  if (!proposed) return;
  const waits = proposed.may_agree ? "" : " Waiting for the other side to agree.";
  setText(byId("proposed-what"), `${sideName(state, proposed.by)} proposes: ${proposed.text}.${waits}`);
  byId("agree").hidden = !proposed.may_agree;
  disable(byId("agree"), state.game.busy !== null);
}

/** Updates how the game ended, and both armies' morale. @type {(state: State, view: GameView | null) => void} */
function renderOver(state, view) {
  byId("game-over").hidden = !view?.is_over;
  if (!view?.is_over) return;
  const { round, sides } = view.state;
  setText(byId("over-how"), sentence(view.question));
  setText(byId("over-rounds"), `After ${round.number} ${round.number === 1 ? "round" : "rounds"}`);
  setText(
    byId("over-morale"),
    `Army morale: ${sides.map(({ name, morale }) => `${sideName(state, name)} ${morale}`).join(", ")}`,
  );
}

/** @type {(state: State) => void} */
function renderBegin(state) {
  const { game, facts } = state;
  setText(byId("begin-summary"), game.view?.has_begun ? "Begin another game" : "Begin a game");
  const mayBegin = !game.view?.has_begun || game.view.is_over || game.again;
  const isOpen = Boolean(game.view && mayBegin && game.view.seat.kind !== "spectator");
  byId("game-begin").hidden = !isOpen;
  if (!isOpen) return;
  updateChildren(
    byId("begin-how"),
    HOW,
    ({ how }) => how,
    makeButton,
    (button, { how, text }) => {
      setAttr(button, "data-how", how);
      setAttr(button, "aria-pressed", String(how === game.begin.how));
      setText(button, text);
    },
  );
  setText(byId("begin-how-hint"), HOW.find(({ how }) => how === game.begin.how)?.hint ?? "");
  byId("begin-side-part").hidden = game.begin.how === "setup";
  updateChildren(byId("begin-side"), facts.sides, String, makeButton, (button, side) => {
    setAttr(button, "class", sideClass(state, side));
    setAttr(button, "data-side", side);
    setAttr(button, "aria-pressed", String(side === game.begin.active));
    setText(button, sideName(state, side));
  });
  updateChildren(
    byId("begin-deck"),
    DECKS,
    ({ deck }) => deck,
    makeButton,
    (button, { deck, text }) => {
      setAttr(button, "data-deck", deck);
      setAttr(button, "aria-pressed", String(deck === game.begin.deck));
      setText(button, text);
    },
  );
  updateChildren(
    byId("begin-measuring"),
    MEASURING,
    ({ measuring }) => measuring,
    makeButton,
    (button, { measuring, text }) => {
      setAttr(button, "data-measuring", measuring);
      setAttr(button, "aria-pressed", String(measuring === game.begin.measuring));
      setText(button, text);
    },
  );
  setText(
    byId("begin-measuring-hint"),
    MEASURING.find(({ measuring }) => measuring === game.begin.measuring)?.hint ?? "",
  );
  const isRunning = state.now?.simulated?.paused === false;
  byId("begin-running").hidden = !isRunning;
  setText(byId("begin"), isRunning ? "Pause and begin" : "Begin the game");
  disable(byId("begin"), game.busy !== null);
}

/** @type {(state: State) => void} */
function renderActions(state) {
  const view = playing(state);
  const groups = view?.is_yours ? groupsShown(state) : [];
  updateChildren(
    byId("game-actions"),
    groups,
    ({ group }) => group,
    () => element("section", "h3", "p", "div", "div", "button"),
    (node, group) => updateGroup(node, group, state),
  );
}

/** @type {(node: HTMLElement, group: Group, state: State) => void} */
function updateGroup(node, { group, units, buttons, more }, state) {
  const [title, hint, chips, bunches, moreButton] = /** @type {HTMLElement[]} */ ([...node.children]);
  setAttr(node, "class", `offers group-${group}`);
  setText(title, groupTitle(group));
  setAttr(hint, "class", "hint");
  setText(
    hint,
    BY_HAND.has(group)
      ? "Move the unit by hand, and tablecam says what it sees. Or choose one of its usual moves here, then make it by hand."
      : "",
  );
  setAttr(chips, "class", "chips");
  updateChildren(chips, units, String, makeButton, (chip, unit) => {
    setAttr(chip, "data-unit-chip", unit);
    setAttr(chip, "aria-pressed", String(state.chosen.includes(`unit:${unit}`)));
    setText(chip, unit);
  });
  const names = [...new Set(buttons.map(({ offer }) => headingOf(offer)))];
  updateChildren(
    bunches,
    names,
    String,
    () => element("div", "b", "div"),
    (bunch, name) => {
      const isUnit = state.facts.units.some(({ id }) => id === name);
      setAttr(bunch, "class", `bunch${isUnit ? "" : " told"}${state.chosen.includes(`unit:${name}`) ? " chosen" : ""}`);
      setText(bunch.children[0], wordsOf(name, state));
      const own = buttons.filter(({ offer }) => headingOf(offer) === name);
      updateChildren(
        bunch.children[1],
        own,
        ({ key, offer }) => `${key} ${offer.label}`,
        makeButton,
        (button, offered) => updateOffer(button, offered, name, state),
      );
    },
  );
  setAttr(moreButton, "class", "more");
  setAttr(moreButton, "data-more", group);
  moreButton.hidden = more === 0;
  setText(moreButton, `${more} more`);
}

/** @type {(button: HTMLElement, offered: Button, unit: string, state: State) => void} */
function updateOffer(button, { key, offer }, unit, state) {
  const label = wordsOf(offer.label, state);
  const short =
    unit && offer.label.startsWith(unit) ? wordsOf(offer.label.slice(unit.length).replace(/^:? /, ""), state) : label;
  setAttr(button, "data-offer", key);
  setAttr(button, "aria-label", label);
  setAttr(button, "class", state.game.looked === key ? "looked" : "");
  setText(button, sentence(short) || groupTitle(offer.group));
  disable(button, state.game.busy !== null);
}

/** Replaces ids of this seat's cards by their titles. @type {(label: string, state: State) => string} */
function wordsOf(label, state) {
  const hand = playing(state)?.state.hand ?? [];
  const longestFirst = [...hand].sort((a, b) => b.id.length - a.id.length);
  return longestFirst.reduce((text, { id, title }) => text.replaceAll(id, title), label);
}

/** Updates the button that takes a seat: the shared screen cannot answer what would show a hand. @type {(state: State, view: GameView | null) => void} */
function renderTake(state, view) {
  const isWanted = Boolean(view && view.seat.kind === "shared" && view.asked && !view.is_yours && !view.is_over);
  byId("game-take").hidden = !isWanted;
  if (!isWanted || !view?.asked) return;
  setAttr(byId("game-take"), "data-seat", view.asked);
  setText(byId("game-take"), `Take ${sideName(state, view.asked)}'s seat to answer`);
  disable(byId("game-take"), state.game.busy !== null);
}

/** Updates the hand of this seat, and the button that hides it on a shared screen. @type {(state: State, view: GameView | null) => void} */
function renderHand(state, view) {
  byId("game-leave").hidden = !state.game.seats?.may_change || state.game.seats.own === "shared";
  const hand = view?.state.hand ?? [];
  byId("game-hand-part").hidden = hand.length === 0;
  updateChildren(
    byId("game-hand"),
    hand,
    ({ id }) => id,
    () => element("li", "b", "i", "span", "small"),
    (node, card) => {
      const [title, span, kind, text] = node.children;
      setText(title, card.title);
      setText(span, `${card.span_bw} BW`);
      setText(kind, cardKind(card));
      setText(text, card.text);
    },
  );
}

/** @type {(state: State, view: GameView | null) => void} */
function renderMarked(state, view) {
  const unit = view ? chosenUnit(state) : null;
  const words = unit ? markerWords(view?.markers[unit]) : "";
  byId("game-marked").hidden = !words;
  setText(byId("game-marked"), `${unit}: ${words}`);
}

const ANSWERED = "#game-actions, #game-dice, #game-moved, #game-due";
const NEXT = "#game-actions button, #game-dice-keys button, #game-moved button, #game-due button";

/** Whether keyboard focus was lost because its button went. */
let isLost = false;

/** Keeps keyboard focus on the next answer while the game's part is updated. @type {(mayGoOn: boolean, render: () => void) => void} */
export function keepFocus(mayGoOn, render) {
  const focused = document.activeElement;
  const wasKeyed = Boolean(focused?.closest(ANSWERED) && focused.matches(":focus-visible"));
  render();
  if (wasKeyed && focused && isGone(focused)) isLost = true;
  else if (document.activeElement !== document.body && document.activeElement !== focused) isLost = false;
  if (isLost && mayGoOn && focusNext()) isLost = false;
}

/** @type {(node: Element) => boolean} */
function isGone(node) {
  return !node.isConnected || node.matches(":disabled") || node.getClientRects().length === 0;
}

/** Focuses the next answer, unless the focus has moved elsewhere; false if there is none. @type {() => boolean} */
function focusNext() {
  const { activeElement } = document;
  if (activeElement && activeElement !== document.body && !isGone(activeElement)) return true;
  const next = [...byId("game").querySelectorAll(NEXT)].find((button) => !isGone(button));
  /** @type {HTMLElement | undefined} */ (next)?.focus();
  return next !== undefined;
}

const SETTLE_MS = 400;
const LISTS = ["game-together", "game-astray", "game-moved", "game-dice", "game-actions", "game-take"];
let listed = "";
/** @type {ReturnType<typeof setTimeout> | undefined} */
let settleTimer;

/** Blocks clicks on lists that have just changed: the second of a double click was meant for what is gone. */
export function listenToFreshLists() {
  for (const list of LISTS.map(byId))
    list.addEventListener(
      "click",
      (event) => {
        if (list.ariaDisabled !== "true") return;
        event.preventDefault();
        event.stopPropagation();
      },
      true,
    );
}

/** @type {(isSettled: boolean) => void} */
function setSettled(isSettled) {
  for (const list of LISTS.map(byId)) setAttr(list, "aria-disabled", isSettled ? null : "true");
}

/** Blocks the lists for a moment when they change. @type {(state: State) => void} */
export function blockFreshLists(state) {
  const view = playing(state);
  const lies = view
    ? [
        view.question,
        ...view.actions.map(({ label }) => label),
        ...view.moved.map(({ unit, text }) => `${unit} ${text}`),
        ...state.game.open,
      ].join("\n")
    : "";
  const before = listed;
  listed = lies;
  if (!before || before === lies) return;
  setSettled(false);
  clearTimeout(settleTimer);
  settleTimer = setTimeout(() => setSettled(true), SETTLE_MS);
}
