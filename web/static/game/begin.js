/** The choices before a game, as the table's game describes them. */
import { byId, disable, element, makeButton, setAttr, setText, updateChildren } from "../shared/dom.js";
import { onClick, onClickWithin } from "../shared/events.js";
import { sideClass } from "../board/things.js";
import { isPlayer } from "./state.js";
import { houseWords } from "./words.js";

/** @typedef {import("./commands.js").Commands} Commands */
/** @typedef {import("./state.js").State} State */
/** @typedef {import("../board/state.js").BeginField} BeginField */

/** The place of the choice in a field: the player's, or the default. @type {(state: State, field: BeginField) => number} */
function placeChosen({ facts, game }, { key, choices }) {
  return game.begin[key] ?? Math.max(0, facts.simulated ? choices.findIndex(({ for_demo }) => for_demo) : 0);
}

/** The fields to show, given the choices made so far. @type {(state: State) => BeginField[]} */
function fieldsAsked(state) {
  const fields = state.facts.about.begin;
  const isAsked = (/** @type {BeginField} */ { only_with }) => {
    const other = fields.find(({ key }) => key === only_with?.[0]);
    return !only_with || !other || only_with[1].includes(placeChosen(state, other));
  };
  return fields.filter(isAsked);
}

/** @type {(state: State, field: BeginField) => import("../board/state.js").BeginChoice} */
function chosen(state, field) {
  return field.choices[placeChosen(state, field)];
}

/** The options that result from the choices. @type {(state: State) => Record<string, any>} */
export function beginOptions(state) {
  return Object.assign({}, ...fieldsAsked(state).map((field) => chosen(state, field).options ?? {}));
}

/** Whether players set everything right after the beginning. @type {(state: State) => boolean} */
export function opensSettings(state) {
  return fieldsAsked(state).some((field) => chosen(state, field).opens_settings);
}

/** Updates the choices before a game, and the button that begins it. @type {(state: State) => void} */
export function renderBegin(state) {
  const { game } = state;
  const mayBegin = !game.view?.has_begun || game.view.is_over || game.again;
  const isOpen = Boolean(game.view && mayBegin && game.view.seat.kind !== "spectator");
  byId("game-begin").hidden = !isOpen;
  byId("game").classList.toggle("starting", isOpen && game.again);
  byId("begin-again").hidden = mayBegin || !isPlayer(state);
  if (!isOpen) return;
  updateChildren(
    byId("begin-fields"),
    fieldsAsked(state),
    ({ key }) => key,
    () => element("div", "span", "div", "p"),
    (node, field) => updateField(node, field, state),
  );
  const { files } = state.facts;
  byId("begin-files").hidden = !Object.keys(files).length;
  setText(byId("begin-files"), fileWords(files));
  setAttr(byId("begin-files"), "title", Object.values(files).join("\n"));
  const fields = fieldsAsked(state);
  byId("begin-change").hidden = !fields.length;
  setText(byId("begin-terms"), fields.map((field) => `${field.title}: ${chosen(state, field).text}`).join("\n"));
  byId("begin-back").hidden = !game.again;
  if (state.facts.simulated) renderLie(state);
  byId("begin-running").hidden = state.now?.simulated?.paused !== false;
  setText(byId("begin"), game.view?.has_begun ? "Start another game" : "Start a game");
  disable(byId("begin"), game.busy !== null);
}

/** Whether the demo's units go back to their opening places: a previous game has moved them. @type {(state: State) => boolean} */
export function opensAnew({ facts, game }) {
  // If one side begins, the other has to agree first.
  const mayLay = facts.simulated && Boolean(game.view?.has_begun) && game.view?.seat.kind !== "player";
  return mayLay && game.opensAnew;
}

/**
 * Says whose charts and maps a game would use; the house samples that come with a rulebook are named so.
 * @type {(files: Record<string, string>) => string}
 */
function fileWords(files) {
  const house = Object.keys(files).filter((kind) => files[kind]?.startsWith("house."));
  const own = Object.keys(files).filter((kind) => !house.includes(kind));
  const words = own.length ? `With this table’s own ${own.join(", ")}.` : "";
  return house.length ? `${houseWords(house)} ${words}`.trim() : words;
}

/** @type {(state: State) => void} */
function renderLie(state) {
  const { view } = state.game;
  byId("begin-lie").hidden = !view?.has_begun || view.seat.kind === "player";
  setAttr(byId("lie-opening"), "aria-pressed", String(opensAnew(state)));
  setAttr(byId("lie-so"), "aria-pressed", String(!opensAnew(state)));
  setText(
    byId("lie-hint"),
    opensAnew(state)
      ? "All units go back to where the demo opened; then the game starts."
      : "Nothing moves: the game starts with the units where they are now.",
  );
}

/** @type {(node: HTMLElement, field: BeginField, state: State) => void} */
function updateField(node, field, state) {
  const { key, title, choices } = field;
  const [heading, group, hint] = /** @type {HTMLElement[]} */ ([...node.children]);
  const now = chosen(state, field);
  setAttr(node, "class", "begin-field");
  setAttr(heading, "id", `begin-${key}-title`);
  setText(heading, title);
  setAttr(group, "id", `begin-${key}`);
  setAttr(group, "class", choices.some(({ side }) => side) ? "choice sides" : "choice");
  setAttr(group, "role", "group");
  setAttr(group, "aria-labelledby", `begin-${key}-title`);
  updateChildren(
    group,
    choices.map((choice, index) => ({ choice, index })),
    ({ index }) => String(index),
    makeButton,
    (button, { choice, index }) => {
      setAttr(button, "class", choice.side ? sideClass(state, choice.side) : "");
      setAttr(button, "data-choice", JSON.stringify([key, index]));
      setAttr(button, "aria-pressed", String(choice === now));
      setText(button, choice.text);
    },
  );
  setAttr(hint, "class", "hint");
  hint.hidden = !now.hint;
  setText(hint, now.hint ?? "");
}

/** @type {(commands: Commands) => void} */
export function listenToChoices(commands) {
  const { game, facts } = commands.state;
  const lay = (/** @type {boolean} */ opensAnew) => () => commands.change(() => Object.assign(game, { opensAnew }));
  if (facts.simulated) {
    onClick("lie-opening", lay(true));
    onClick("lie-so", lay(false));
  }
  onClickWithin("begin-fields", "data-choice", (choice) =>
    commands.change(() => {
      const [key, index] = JSON.parse(choice);
      commands.state.game.begin[key] = index;
    }),
  );
}
