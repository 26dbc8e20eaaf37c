/** The game in the panel: beginning, moves to make, actions, the hand of cards, the log. */
import { byId, disable, element, makeButton, PHONE, setAttr, setText, updateChildren } from "../shared/dom.js";
import { asTurned, beginning, sentence } from "../shared/text.js";
import { properName, sideName, sidePlural } from "../board/things.js";
import { renderBegin } from "./begin.js";
import { renderGameDice } from "./dice.js";
import { renderForce } from "./force.js";
import { renderGameLog, renderSums } from "./log.js";
import { renderStates } from "./midgame.js";
import { renderOverrule } from "./overrule.js";
import { renderIntents, renderPending } from "./pending.js";
import { renderSeats } from "./seats.js";
import { renderSetup } from "./setup.js";
import { groupsShown, headingOf, isAbout, latestChosen, lostBy, playing, requestedRoll } from "./state.js";
import { renderStrip } from "./strip.js";
import { groupTitle, houseWords } from "./words.js";

/** @typedef {import("./state.js").State} State */
/** @typedef {import("./state.js").GameView} GameView */
/** @typedef {import("./state.js").Group} Group */
/** @typedef {import("./state.js").Button} Button */

/** Updates the game's part of the panel. @type {(state: State) => void} */
export function renderGame(state) {
  if (!state.facts.referee) return;
  const view = playing(state);
  keepFocus(Boolean(view?.is_yours) && state.game.busy === null, () => renderParts(state, view));
  showFromTop(view);
  showVerdict(state);
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
  renderOverrule(state);
  renderSetup(state);
  renderStates(state);
  renderGameLog(state);
}

/** Scrolls the panel to its top: on a phone when its seat gets a new question, on all pages when the game ends. @type {(view: GameView | null) => void} */
function showFromTop(view) {
  const panel = byId("panel");
  const before = panel.dataset.asked;
  panel.dataset.asked = view?.is_over ? "over" : view?.is_yours ? view.question : view ? "others" : "";
  const isNews = panel.dataset.asked !== before && Boolean(view?.is_yours || view?.is_over || !before);
  if (isNews) panel.scrollTop = 0;
}

/** The units whose moves on this page were waiting for the referee when it was last drawn. */
let unjudged = "";

/** Scrolls a phone's panel to the referee's ruling on a move on this page. @type {(state: State) => void} */
function showVerdict({ game: { judging } }) {
  const [unit] = (judging || unjudged).split(", ");
  const card = [...byId("game-moved").children].find((row) => row.getAttribute("data-unit") === unit);
  if (judging !== unjudged && matchMedia(PHONE).matches) card?.scrollIntoView({ block: "start" });
  unjudged = judging;
}

/** The button that was pressed last. @type {Element | null} */
let pressed = null;

/** The maximum width of a letter of its words. */
const WIDEST_PX = 10;

/** @type {(state: State) => void} */
function renderSaid(state) {
  const { game } = state;
  const view = playing(state);
  const amiss = game.said || sentence(view?.trouble ?? "");
  setText(byId("game-said"), amiss || (game.busy ?? ""));
  // The button that was pressed says it too, and nothing moves.
  byId("game-said").classList.toggle("unseen", !amiss);
  // A passing error covers the latest event; a lasting one has its own place.
  byId("game-said").classList.toggle("passing", game.said !== "");
  // They take the button's own room, or shrink to dots.
  const hasRoom = (pressed?.clientWidth ?? 0) >= WIDEST_PX * (game.busy?.length ?? 0);
  if (pressed) setAttr(pressed, "data-busy", hasRoom ? game.busy : "…");
  const house = view?.house ?? [];
  byId("game-house").hidden = !house.length;
  setText(byId("game-house"), houseWords(house));
  byId("game").classList.toggle("busy", game.busy !== null);
  const latest = latestChosen(view?.log ?? []);
  byId("game-undo").hidden = !view?.can_undo;
  disable(byId("game-undo"), game.busy !== null);
  byId("game-redo").hidden = !view?.can_redo;
  disable(byId("game-redo"), game.busy !== null);
  setAttr(byId("game-undo"), "title", `Take back: ${latest?.text ?? "the last action"} (Ctrl-Z)`);
}

/** Updates the proposal of one side, to which the other side or the shared screen can agree. @type {(state: State) => void} */
function renderProposed(state) {
  const proposed = playing(state)?.proposed;
  byId("game-proposed").hidden = !proposed;
  if (!proposed) return;
  const waits = proposed.may_agree ? "" : " Waiting for the other side to agree.";
  setText(byId("proposed-what"), `${sidePlural(state, proposed.by)} propose: ${proposed.text}.${waits}`);
  byId("agree").hidden = !proposed.may_agree;
  disable(byId("agree"), state.game.busy !== null);
}

/** Updates the result of the game, and the figures of the sides. @type {(state: State, view: GameView | null) => void} */
function renderOver(state, view) {
  byId("game-over").hidden = !view?.is_over;
  if (!view?.is_over) return;
  const { turn, turn_word, sides = [] } = view.standing;
  setText(byId("over-how"), sentence(view.question));
  setText(byId("over-rounds"), turn === undefined ? "" : `After ${turn} ${turn_word}${turn === 1 ? "" : "s"}`);
  const figures = sides.flatMap(({ name, figures: own = [] }) =>
    own.slice(0, 1).map(({ label, value }) => `${sideName(state, name)}: ${label} ${value}`),
  );
  setText(byId("over-figures"), figures.join(", "));
}

/** @type {(state: State) => void} */
function renderActions(state) {
  const view = playing(state);
  renderSums(byId("game-sums"), view?.sums ?? []);
  const groups = view?.is_yours ? groupsShown(state) : [];
  const isCounted = Boolean(view?.is_yours && (view.sums?.length || requestedRoll(view)));
  const isAnswering = isCounted || groups.some(({ buttons }) => buttons.some(({ offer }) => isAbout(state, offer)));
  byId("panel").classList.toggle("answering", isAnswering);
  byId("game-actions").classList.toggle("only", isOnlyStep(view));
  updateChildren(
    byId("game-actions"),
    groups,
    ({ group }) => group,
    () => element("section", "h3", "p", "div", "div", "button"),
    (node, group) => updateGroup(node, group, state),
  );
  const whyMissing = sentence(view?.is_yours ? (view.why_missing ?? "") : "");
  const shown = state.game.open.includes("why") ? whyMissing : beginning(whyMissing);
  byId("game-missing").hidden = !whyMissing;
  setText(byId("missing-words"), shown);
  byId("missing-more").hidden = shown === whyMissing;
}

/** Whether the game waits only for a single button. @type {(view: GameView | null) => boolean} */
function isOnlyStep(view) {
  const { actions = [], hint = "", pass_all = "", to_place = [] } = view ?? {};
  return actions.length === 1 && !hint && !pass_all && !to_place.length;
}

/** @type {(node: HTMLElement, group: Group, state: State) => void} */
function updateGroup(node, { group, units, buttons, more }, state) {
  // What a chosen unit may do stands above the choice of another.
  const [title, hint, bunches, chips, moreButton] = /** @type {HTMLElement[]} */ ([...node.children]);
  const { hint: byHand = "", is_main = false, is_end = false } = state.facts.about.groups[group] ?? {};
  const isMain = is_main || (!byHand && isOnlyStep(playing(state)));
  const looks = `${byHand ? " by-hand" : ""}${isMain ? " main-choice" : ""}${is_end ? " ends" : ""}`;
  setAttr(node, "class", `offers group-${group}${looks}`);
  setText(title, groupTitle(state, group));
  setAttr(hint, "class", "hint");
  setText(hint, byHand);
  setAttr(chips, "class", "chips");
  updateChildren(chips, units, String, makeButton, (chip, unit) => {
    setAttr(chip, "data-unit-chip", unit);
    setAttr(chip, "aria-pressed", String(state.chosen.includes(`unit:${unit}`)));
    setText(chip, unit);
  });
  // Below its own title, one button would seem to head those without one.
  const isMixed = buttons.some(({ offer }) => !headingOf(offer));
  const headed = buttons.map(({ key, offer }) => {
    const heading = headingOf(offer);
    return { key, offer, name: isMixed && !isThing(state, heading) ? "" : heading };
  });
  const names = [...new Set(headed.map(({ name }) => name))];
  updateChildren(
    bunches,
    names,
    String,
    () => element("div", "b", "div"),
    (bunch, name) => {
      const isUnit = isThing(state, name);
      setAttr(
        bunch,
        "class",
        `bunch${isUnit ? "" : " titled"}${state.chosen.includes(`unit:${name}`) ? " chosen" : ""}`,
      );
      setText(bunch.children[0], isUnit ? name : wordsOf(name, state));
      const own = headed.filter((button) => button.name === name);
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
  moreButton.hidden = more === "";
  setText(moreButton, more);
}

/** Whether a heading is the name of a unit or a commander. @type {(state: State, heading: string) => boolean} */
function isThing({ facts }, heading) {
  return [...facts.units, ...facts.commanders].some(({ id }) => id === heading || properName(id) === heading);
}

/** @type {(button: HTMLElement, offered: Button, unit: string, state: State) => void} */
function updateOffer(button, { key, offer }, unit, state) {
  const asksOthers = offer.passes_to && offer.passes_to !== playing(state)?.asked;
  const words = wordsOf(offer.label, state);
  const open = state.game.warned === key ? lostBy(state, offer) : [];
  const label = open.length
    ? `${open.join(", ")} not settled yet: ${words} anyway?`
    : asksOthers
      ? `${sidePlural(state, playing(state)?.asked ?? "")}: ${words}, then ask the ${sidePlural(state, offer.passes_to ?? "")}`
      : words;
  const short =
    unit && offer.label.startsWith(unit) ? wordsOf(offer.label.slice(unit.length).replace(/^:? /, ""), state) : label;
  setAttr(button, "data-offer", key);
  setAttr(button, "aria-label", label);
  // A tap on the table leads to one button, which still has to be pressed.
  const tapped = playing(state)?.actions.filter((other) => isAbout(state, other)) ?? [];
  const isOnly = tapped.length === 1 && tapped[0] === offer && state.facts.about.groups[offer.group]?.is_main;
  const isAnswer = tapped.includes(offer) && offer.action.unit === undefined;
  const looks = isOnly ? "main" : isAnswer ? "answers" : "";
  setAttr(button, "class", `${looks}${state.game.looked === key ? " looked" : ""}`);
  setText(button, sentence(short) || groupTitle(state, offer.group));
  disable(button, state.game.busy !== null);
}

/** A label with titles for ids of this seat's cards, and facings as seen in this view. @type {(label: string, state: State) => string} */
function wordsOf(label, state) {
  const hand = playing(state)?.hand ?? [];
  const longestFirst = [...hand].sort((a, b) => b.id.length - a.id.length);
  const words = longestFirst.reduce((text, { id, title }) => text.replaceAll(id, title), label);
  return asTurned(words, state.view.turn);
}

/** Updates the buttons that pass for all and that change seats: the shared screen cannot answer if that would show a hand. @type {(state: State, view: GameView | null) => void} */
function renderTake(state, view) {
  const { kind = "spectator" } = view?.seat ?? {};
  const { may_change: mayChange = false } = state.game.seats ?? {};
  const other = view && kind !== "spectator" && !view.is_yours && !view.is_over ? view.asked : null;
  // Whoever sits at another screen answers there, unless this screen has both seats.
  const asked = view?.asked ?? "";
  const isElsewhere = !view?.is_yours && Boolean(view?.elsewhere?.includes(asked));
  const isAlone = state.facts.simulated;
  const passAll = view?.pass_all ?? "";
  byId("game-pass").hidden = !passAll;
  byId("game-pass").classList.toggle("main", !isElsewhere);
  setText(byId("game-pass"), passAll);
  byId("game-elsewhere").hidden = !isElsewhere;
  setText(byId("game-elsewhere"), isElsewhere ? `${sidePlural(state, asked)} answer on their own screen.` : "");
  // Nor may one tap show the hand of a player at another screen.
  const takes = isElsewhere ? null : other;
  byId("game-take").hidden = kind !== "shared" || !takes;
  byId("game-take").classList.toggle("main", !passAll && !isAlone);
  setAttr(byId("game-take"), "data-seat", other);
  setText(byId("game-take"), other ? `Take the ${sideName(state, other)} seat to answer` : "");
  byId("game-both").hidden = !takes || !mayChange;
  byId("game-both").classList.toggle("main", kind === "shared" && !passAll && isAlone);
  byId("game-next").hidden = !takes || !mayChange || kind !== "player";
  setText(byId("game-next"), other ? `Hand this screen to the ${sidePlural(state, other)}` : "");
  byId("game-leave").hidden = !mayChange || kind === "shared" || !byId("game-next").hidden;
  setText(byId("game-leave"), kind === "both" ? "Hide both hands" : "Hide the hand");
  // A tap while an answer is on its way would be lost.
  for (const id of ["game-pass", "game-next", "game-take", "game-both", "game-leave"])
    disable(byId(id), state.game.busy !== null);
}

/** Updates the hand that this seat sees. @type {(state: State, view: GameView | null) => void} */
function renderHand(state, view) {
  const hand = view?.hand ?? [];
  byId("game-hand-part").hidden = hand.length === 0;
  const isBoth = view?.seat.kind === "both" && view.asked;
  setText(byId("game-hand-title"), isBoth ? `Hand of the ${sidePlural(state, view.asked ?? "")}` : "Your hand");
  updateChildren(
    byId("game-hand"),
    hand,
    ({ id }) => id,
    () => element("li", "b", "i", "span", "small"),
    (node, card) => {
      const [title, span, kind, text] = node.children;
      setText(title, card.title);
      setText(span, card.badge ?? "");
      setText(kind, card.kind ?? "");
      setText(text, card.text ?? "");
    },
  );
}

const ANSWERED = "#game-actions, #game-dice, #game-moved, #game-due";
const NEXT = "#game-actions button, #game-dice-keys button, #game-moved button, #game-due button";

/** Whether keyboard focus was lost because its button disappeared. */
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
const LISTS = ["game-due", "game-dice", "game-seats", "game-actions", "game-seen"];
let listed = "";
/** @type {ReturnType<typeof setTimeout> | undefined} */
let settleTimer;

/** Blocks clicks on lists that have just changed: the second click of a double click was meant for the old list. */
export function listenToFreshLists() {
  const press = (/** @type {Event} */ { target }) => {
    if (pressed) setAttr(pressed, "data-busy", null);
    pressed = target instanceof Element ? target.closest("button") : null;
  };
  byId("game").addEventListener("click", press, true);
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
        ...view.moved.map(({ unit, text, is_legal }) => `${unit} ${text} ${is_legal}`),
        ...view.to_place.map(({ text }) => text),
        ...view.together,
        ...state.game.open,
        ...state.game.place,
        state.game.warned,
      ].join("\n")
    : "";
  const before = listed;
  listed = lies;
  if (!before || before === lies) return;
  setSettled(false);
  clearTimeout(settleTimer);
  settleTimer = setTimeout(() => setSettled(true), SETTLE_MS);
}
