/** Lets players overrule the game: its settings, and the places of units. */
import { byId, disable, element, makeButton, setAttr, setText, updateChildren } from "../shared/dom.js";
import { sentence } from "../shared/text.js";
import { sideClass } from "../board/things.js";
import { commonRows, unitRows } from "./settings.js";
import { chosenUnit, playing } from "./state.js";

/** @typedef {import("./state.js").State} State */
/** @typedef {import("./settings.js").Choice} Choice */
/** @typedef {import("./settings.js").Row} Row */

/** Updates the overrules. @type {(state: State) => void} */
export function renderOverrule(state) {
  const view = playing(state);
  const part = /** @type {HTMLDetailsElement} */ (byId("game-overrule"));
  part.hidden = !view || view.seat.kind === "spectator" || state.game.states !== null;
  byId("states-open").hidden = !view?.settings.length;
  if (part.hidden || !part.open) return;
  byId("overrule-hint").hidden = chosenUnit(state) !== null;
  renderRows(byId("overrule-body"), rows(state), state, "data-set");
}

/** Updates rows of buttons; each button's attribute holds the values it sets. @type {(body: HTMLElement, rows: Row[], state: State, attribute: string) => void} */
export function renderRows(body, rows, state, attribute) {
  updateChildren(
    body,
    rows,
    ({ key }) => key,
    () => element("div", "span", "div"),
    (node, { title, side, value, choices }) => {
      setAttr(node, "class", `overrule-row${side === undefined ? "" : ` of-side ${sideClass(state, side)}`}`);
      setText(node.children[0], sentence(title));
      setAttr(node.children[1], "role", "group");
      setAttr(node.children[1], "aria-label", title);
      const now = { text: value ?? "", set: {}, label: value ?? "" };
      // The value stands between its buttons, or before the only one.
      const shown = value === undefined ? choices : [...choices.slice(0, -1), now, ...choices.slice(-1)];
      updateChildren(
        node.children[1],
        shown,
        ({ label }) => label,
        makeButton,
        (button, choice) => updateChoice(button, choice, state, attribute),
      );
    },
  );
}

/** @type {(button: HTMLElement, choice: Choice, state: State, attribute: string) => void} */
function updateChoice(button, { text, set, isSet, label, title, side }, state, attribute) {
  const isValue = Object.keys(set).length === 0;
  setAttr(button, "class", isValue ? "value" : side === undefined ? "" : sideClass(state, side));
  setAttr(button, attribute, isValue ? null : JSON.stringify(set));
  setAttr(button, "aria-label", label);
  setAttr(button, "aria-pressed", isSet === undefined ? null : String(isSet));
  setAttr(button, "title", title ?? null);
  setText(button, text);
  disable(button, isValue || state.game.busy !== null);
}

/** The settings that can be overruled now, a chosen unit's first. @type {(state: State) => Row[]} */
function rows(state) {
  const unit = chosenUnit(state);
  const places = {
    key: "lies",
    title: `${unit}: position`,
    choices: [
      { text: "as seen", set: { accept: unit }, label: "as seen", title: "Accept it where the camera sees it" },
      { text: "off the table", set: { off: [unit] }, label: "off the table", title: "It is out of the game" },
    ],
  };
  return [...(unit ? [...unitRows(state, unit, {}), places] : []), ...commonRows(state, {}, false)];
}
