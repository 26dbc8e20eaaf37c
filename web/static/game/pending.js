/** Moves that the game waits for, and moves that the camera saw: to confirm, or to decide. */
import { byId, disable, element, setAttr, setText, updateChildren } from "../shared/dom.js";
import { onClick, onClickWithin } from "../shared/events.js";
import { asTurned, sentence } from "../shared/text.js";
import { inUnit } from "../board/measuring.js";
import { properName, sidePlural, split } from "../board/things.js";
import { badge, figuresWords } from "../rulings/words.js";
import { renderDice } from "./dice.js";
import { cardOf, outOfStep, playing } from "./state.js";

/** @typedef {import("./commands.js").Commands} Commands */
/** @typedef {import("./state.js").State} State */
/** @typedef {import("./state.js").Moved} Moved */

/** @typedef {{way: string, text: string, title?: string, means?: string, main?: boolean}} Way  a button and its effect; `means` is written beside it */

/** The lowest face that decides for the mover. */
export const HOLDS_FROM = 4;

/** The ways to decide a move that is too close to call, with their meaning. @type {(mover: string, enemy: string) => Way[]} */
function closeCalls(mover, enemy) {
  return [
    { way: "intent", text: "As intended", means: `Allowed: the ${mover} said beforehand where it would end.` },
    {
      way: "die",
      text: "Roll for it",
      means: `${HOLDS_FROM} or more: as the ${mover} like. Less: as the ${enemy} like.`,
    },
    { way: "benefit", text: "Benefit of the doubt", means: `Allowed: the ${enemy} leave it to the ${mover}.` },
  ];
}

/** Updates the moves to make and the moves seen. @type {(state: State) => void} */
export function renderPending(state) {
  const view = playing(state);
  updateChildren(
    byId("game-due"),
    view?.to_place ?? [],
    ({ unit }) => `put ${unit}`,
    () => element("li", "span", "button", "button"),
    (row, { unit, text, ghost, lost, moves }) => {
      const [words, byHand, said] = /** @type {HTMLElement[]} */ ([...row.children]);
      setText(words, sentence(text));
      setAttr(byHand, "class", "main");
      setAttr(byHand, ghost.length ? "data-lay" : "data-lift", unit);
      const takesOff = `Take ${lost.length > 1 && ghost.length ? "them" : "it"} off`;
      setText(byHand, lost.length ? (moves ? "Do both" : takesOff) : moves ? "Put it there" : "Do it");
      byHand.hidden = !mayLay(state);
      // Beneath others, the camera does not see it go.
      const isGone = ghost.length + lost.length === 0;
      setAttr(said, "data-off", isGone ? unit : null);
      setText(said, isGone ? "It is off the table" : "");
      said.hidden = !isGone || view?.seat.kind === "spectator";
      disable(said, state.game.busy !== null);
    },
  );
  updateChildren(
    byId("game-placed"),
    state.game.placed,
    ({ unit }) => unit,
    () => element("li"),
    (row, { unit, text }) => {
      setAttr(row, "class", "placed");
      setText(row, `${properName(unit)}: ✓ ${text}`);
    },
  );
  renderTogether(state);
  renderOutOfStep(state);
  const summed = outOfStep(view);
  const unjudged = view ? state.game.judging.split(", ").filter(Boolean) : [];
  renderMoved(
    "game-moved",
    [
      ...(view?.moved ?? []).filter((moved) => !summed.includes(moved) && !unjudged.includes(moved.unit)),
      ...unjudged.map((unit) => ({ unit })),
    ],
    state,
  );
}

/** Whether this page can move units on the table. @type {(state: State) => boolean} */
function mayLay(state) {
  return state.facts.simulated && playing(state)?.seat.kind !== "spectator";
}

/** Updates cards of moves; a new one comes last, so that none moves under the pointer. @type {(id: string, all: (Moved | {unit: string})[], state: State) => void} */
function renderMoved(id, all, state) {
  const shown = [...byId(id).children].map((row) => row.getAttribute("data-unit"));
  const place = (/** @type {{unit: string}} */ { unit }) => (shown.includes(unit) ? shown.indexOf(unit) : shown.length);
  updateChildren(
    byId(id),
    all.toSorted((one, other) => place(one) - place(other)),
    ({ unit }) => unit,
    makeMoved,
    (row, moved) => ("answer" in moved ? updateMoved(row, moved, state) : updateUnjudged(row, moved.unit)),
  );
}

/** Updates the card for all units that are out of step with the game. @type {(state: State) => void} */
function renderOutOfStep(state) {
  const view = playing(state);
  const units = outOfStep(view);
  byId("game-astray").hidden = units.length === 0;
  setText(byId("astray-words"), `${units.length} units are not where the game expects them.`);
  byId("astray-lay").hidden = !mayLay(state);
  for (const id of ["astray-accept", "astray-begin"]) {
    byId(id).hidden = view?.seat.kind === "spectator";
    disable(byId(id), state.game.busy !== null);
  }
  renderMoved("astray-moved", units, state);
}

/** Updates the button that confirms several moves at once. @type {(state: State) => void} */
function renderTogether(state) {
  const view = playing(state);
  const units = view?.is_yours ? view.together : [];
  byId("game-together").hidden = units.length === 0;
  setText(byId("confirm-all"), `Confirm all ${units.length} moves`);
  setText(byId("together-order"), `in this order: ${units.join(", ")}`);
  disable(byId("confirm-all"), state.game.busy !== null);
}

/** @type {() => HTMLElement} */
function makeMoved() {
  const row = element("li", "b", "span", "p", "div", "div");
  const decided = element("p", "span", "span");
  decided.className = "decided";
  row.append(decided);
  row.children[3].className = "row ways";
  const accepting = /** @type {HTMLElement} */ (row.children[4]);
  accepting.className = "row accepting";
  const why = element("input");
  for (const [name, value] of Object.entries({
    type: "text",
    maxlength: "200",
    placeholder: "why? (optional)",
    "aria-label": "Reason for accepting it",
  }))
    setAttr(why, name, value);
  const accept = element("button");
  setAttr(accept, "class", "main");
  setAttr(accept, "data-way", "accept");
  const cancel = element("button");
  setAttr(cancel, "data-way", "accept-close");
  setAttr(cancel, "title", "Accept nothing (Esc)");
  setText(cancel, "Cancel");
  why.addEventListener("keydown", ({ key }) => key === "Enter" && accept.click());
  accepting.append(element("b"), why, accept, cancel);
  return row;
}

/** Updates the card of a move that the referee has yet to judge. @type {(row: HTMLElement, unit: string) => void} */
function updateUnjudged(row, unit) {
  setAttr(row, "class", "moved unjudged");
  setAttr(row, "data-unit", unit);
  setText(row.children[0], "…");
  setText(row.children[1], `${unit}: checking the move …`);
}

/** @type {(row: HTMLElement, moved: Moved, state: State) => void} */
function updateMoved(row, moved, state) {
  const [mark, text, because, ways, accepting, decided] = /** @type {HTMLElement[]} */ ([...row.children]);
  const { answer, unit, ghost } = moved;
  setAttr(row, "class", `moved ${answer.answer}${moved.brings.length ? " harms" : ""}`);
  setAttr(row, "data-unit", unit);
  setAttr(row, "data-look", `moved ${unit}`);
  setAttr(row, "tabindex", "0");
  const isAsked = moved.choices.length > 0;
  setText(mark, isAsked ? "?" : badge(answer));
  setText(text, asTurned(sentence(moved.text), state.view.turn));
  const place = moved.is_back ? "Its previous place" : "The nearest legal place";
  const nearest = ghost.length ? `${place} is drawn on the table.` : "";
  const why = answer.because === moved.text ? "" : sentence(answer.because ?? "");
  const isInDoubt = answer.answer === "too_close" && !isAsked;
  const figures = isInDoubt ? figuresWords(answer, state.facts, "likely to be legal") : "";
  const waits = moved.after.length ? `After ${moved.after.join(", ")}` : "";
  const brings = moved.brings.length ? `Confirmed now: ${moved.brings.join("; ")}` : "";
  setText(because, [waits, brings, why, figures, answer.answer === "yes" ? "" : nearest].filter(Boolean).join(" · "));
  row.classList.toggle("chosen", state.chosen.includes(`unit:${unit}`));
  row.classList.toggle("looked", state.game.looked === `moved ${unit}`);
  updateChildren(
    ways,
    waysOf(moved, state),
    ({ way }) => way,
    () => element("div", "button", "small"),
    (row, { way, title = "", means = "", main, text }) => {
      const [button, words] = /** @type {HTMLElement[]} */ ([...row.children]);
      setAttr(row, "class", means ? "way means" : "way");
      const attribute = { lay: "data-lay", back: "data-lay-back" }[way] ?? "data-way";
      setAttr(button, attribute, attribute === "data-way" ? way : unit);
      setAttr(button, "title", title);
      setAttr(button, "class", main ? "main" : "");
      setText(button, text);
      setText(words, means);
      const isLaid = way === "lay" && state.game.laid.includes(cardOf(state.game.view, unit) ?? "");
      disable(button, isLaid || state.game.busy !== null);
    },
  );
  const isNew = accepting.hidden && state.game.accepting === unit;
  accepting.hidden = state.game.accepting !== unit;
  setText(accepting.children[0], "Not accepted yet: do the players agree?");
  setText(accepting.children[2], `Accept ${unit} here`);
  // Letters typed elsewhere are keys of the page; on a phone the focus would open its keyboard.
  if (isNew && matchMedia("(pointer: fine)").matches) accepting.querySelector("input")?.focus();
  if (isNew) accepting.scrollIntoView({ block: "nearest" });
  renderDecided(decided, moved, state);
}

/** The buttons of a suggestion. @type {(moved: Moved, state: State) => Way[]} */
function waysOf(moved, state) {
  const view = playing(state);
  if (!view || view.seat.kind === "spectator") return [];
  const { answer, is_legal, unit, after } = moved;
  if (after.length || (is_legal && !view.is_yours)) return []; // the side that is asked confirms it
  if (moved.choices.length)
    return view.is_yours ? moved.choices.map(({ label }, index) => ({ way: `choice ${index}`, text: label })) : [];
  const accept = {
    way: "accept-open",
    text: "Accept anyway",
    title: "The players have agreed: it is recorded as an overrule",
  };
  const confirms = is_legal && view.is_yours;
  if (confirms && answer.answer === "yes") {
    const main = !view.together.includes(unit);
    const confirm = { way: "seen", text: "Confirm", title: `Record what ${unit} did`, main };
    return mayLay(state) ? [confirm, { way: "back", text: "Put it back", title: "As before the move" }] : [confirm];
  }
  if (confirms && !isDecided(moved, state)) return closeCalls(...sidesOf(unit, state));
  if (confirms && (state.game.decided?.face ?? 0) >= HOLDS_FROM)
    return [{ way: "held", text: "Confirm", title: "As the die says", main: true }];
  if (state.game.accepting === unit) return [];
  const lay = { way: "lay", text: moved.is_back ? "Put it back" : "Put it there", title: "Move it to the outline" };
  if (!mayLay(state)) return [accept];
  const back = { way: "back", text: "Put it back", title: "As before the move" };
  return moved.ghost.length && !moved.is_back ? [lay, back, accept] : [moved.is_back ? lay : back, accept];
}

/** The names for the players of a unit's side and of the other side. @type {(unit: string, state: State) => [string, string]} */
function sidesOf(unit, state) {
  const own = [...state.facts.units, ...state.facts.commanders].find(({ id }) => id === unit)?.side ?? "";
  const other = state.facts.sides.find((side) => side !== own) ?? "";
  return [sidePlural(state, own), sidePlural(state, other)];
}

/** The key of a die rolled for a move: another margin is another question. @type {(moved: Moved) => string} */
export function decisionKey({ unit, answer }) {
  return `${unit} ${answer.margin_mm.toFixed(1)}`;
}

/** @type {(moved: Moved, state: State) => boolean} */
function isDecided(moved, { game }) {
  return game.decided?.key === decisionKey(moved);
}

/** Updates the die that decided a move. @type {(node: HTMLElement, moved: Moved, state: State) => void} */
function renderDecided(node, moved, state) {
  const decided = isDecided(moved, state) ? state.game.decided : null;
  node.hidden = decided === null;
  renderDice(node.children[0], decided ? [decided.face] : []);
  setText(
    node.children[1],
    (decided?.face ?? 0) >= HOLDS_FROM ? "Allowed." : "Not allowed: put it back, or where the ghost is.",
  );
}

/** Updates the intents; one can be recorded while two units are chosen, the mover first. @type {(state: State) => void} */
export function renderIntents(state) {
  const view = playing(state);
  updateChildren(
    byId("game-intents"),
    view?.intents ?? [],
    ({ unit }) => unit,
    () => element("li", "b", "span", "small"),
    (row, { text, answer }) => {
      setAttr(row, "class", answer?.answer ?? "");
      setText(row.children[0], answer ? badge(answer) : "…");
      setText(row.children[1], `Intent: ${text}`);
      setText(row.children[2], answer ? figuresWords(answer, state.facts) : "");
    },
  );
  const pair = pairChosen(state);
  byId("intent-part").hidden = !pair || !view || view.is_over || view.seat.kind === "spectator";
  if (!pair) return;
  setText(byId("intent-title"), `Before ${pair.unit} moves, say where it will end relative to ${pair.of}:`);
  const { symbol } = state.facts.about.unit;
  updateChildren(
    byId("intent-ranges"),
    state.facts.about.unit.ranges,
    String,
    () => element("div", "b", "button", "button"),
    (row, limit) => {
      const [words, within, outside] = /** @type {HTMLElement[]} */ ([...row.children]);
      setText(words, inUnit(state.facts, limit));
      for (const [button, text, isWithin] of /** @type {[HTMLElement, string, boolean][]} */ ([
        [within, "within", true],
        [outside, "just outside", false],
      ])) {
        setAttr(button, "data-intent", JSON.stringify({ ...pair, limit, symbol, is_within: isWithin }));
        setAttr(button, "aria-label", `${text} ${inUnit(state.facts, limit)}`);
        setText(button, text);
        disable(button, state.game.busy !== null);
      }
    },
  );
}

/** The two chosen units. @type {(state: State) => {unit: string, of: string} | null} */
function pairChosen({ chosen }) {
  if (chosen.length !== 2 || !chosen.every((thing) => thing.startsWith("unit:"))) return null;
  return { unit: split(chosen[0])[1], of: split(chosen[1])[1] };
}

/** @type {(commands: Commands) => void} */
export function listenToMoved(commands) {
  const { game } = commands.state;
  byId("game-placed").addEventListener("animationend", () =>
    commands.change(() => {
      game.placed = [];
    }),
  );
  onClickWithin("intent-ranges", "data-intent", (intent) => commands.intend(JSON.parse(intent)));
  onClickWithin("game-together", "data-confirm-all", () => commands.confirmAll());
  onClick("astray-accept", () => commands.acceptAll());
  byId("astray-shown").addEventListener("toggle", () =>
    commands.change(() => {
      game.showsAstray = /** @type {HTMLDetailsElement} */ (byId("astray-shown")).open;
    }),
  );
  for (const list of ["game-moved", "astray-moved"]) {
    byId(list).addEventListener("keydown", ({ key, target }) => {
      // Elsewhere it is a key of the page.
      if (key === "Escape" && target instanceof HTMLInputElement) commands.close();
    });
    onClickWithin(list, "data-way", (way, button) => {
      const row = button.closest("[data-unit]");
      const unit = row?.getAttribute("data-unit") ?? "";
      if (way === "accept-open")
        commands.change(() => {
          game.accepting = unit;
        });
      else if (way === "accept-close") commands.close();
      else if (way === "accept") commands.accept(unit, row?.querySelector("input")?.value.trim() ?? "");
      else if (way === "die") commands.decide(unit);
      else if (way.startsWith("choice ")) commands.pick(unit, Number(way.split(" ")[1]));
      else if (way === "held") commands.confirm(unit, "die");
      else commands.confirm(unit, way);
    });
  }
}
