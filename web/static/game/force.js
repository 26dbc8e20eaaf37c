/** A form in which players compose an action: some units, and cards or numbers for them. */
import { byId, disable, makeButton, setAttr, setText, updateChildren } from "../shared/dom.js";
import { field, onClick, onClickWithin } from "../shared/events.js";
import { playing } from "./state.js";

/** @typedef {import("./commands.js").Commands} Commands */
/** @typedef {import("./state.js").State} State */
/** @typedef {import("./state.js").Action} Action */
/** @typedef {import("./state.js").PickUnits} PickUnits */

/** The form that this seat may fill in now. @type {(state: State) => PickUnits | undefined} */
function formOf(state) {
  return playing(state)?.forms.find((form) => form.form === "pick-units");
}

/** Updates the form; it is shown while such an action is possible. @type {(state: State) => void} */
export function renderForce(state) {
  const form = formOf(state);
  byId("game-force").hidden = !form;
  if (!form) return;
  const { force, busy } = state.game;
  const onTable = new Set((state.now?.units ?? []).map(({ id }) => id));
  const units = form.units.filter((id) => onTable.has(id));
  setText(byId("force-title"), form.title);
  renderChips(
    "force-units",
    units.map((id) => ({ key: id, text: id })),
    force.units,
  );
  renderChips(
    "force-cards",
    (form.cards ?? []).map(({ id, title, badge }) => ({ key: id, text: `${title} ${badge ?? ""}`.trim() })),
    force.cards,
  );
  byId("force-spans-part").hidden = !form.numbers_key;
  setText(byId("force-spans-title"), form.numbers_title ?? "");
  setText(byId("force-activate"), `${form.button} ${force.units.join(", ")}`.trim());
  disable(byId("force-activate"), busy !== null || force.units.length === 0);
}

/** @type {(id: string, chips: {key: string, text: string}[], pressed: string[]) => void} */
function renderChips(id, chips, pressed) {
  updateChildren(
    byId(id),
    chips,
    ({ key }) => key,
    makeButton,
    (chip, { key, text }) => {
      setAttr(chip, "data-chip", key);
      setAttr(chip, "aria-pressed", String(pressed.includes(key)));
      setText(chip, text);
    },
  );
}

/** The action of the filled-in form; `numbers` is what was typed. @type {(state: State, numbers: string) => Action | null} */
export function forceAction(state, numbers) {
  const form = formOf(state);
  if (!form) return null;
  const { units, cards } = state.game.force;
  const action = { ...form.action, [form.units_key]: units };
  if (cards.length && form.cards_key) return { ...action, [form.cards_key]: cards };
  const written = (numbers.match(/\d+/g) ?? []).map(Number);
  return written.length && form.numbers_key ? { ...action, [form.numbers_key]: written } : action;
}

/** Adds a thing to a list, or removes it if it is there. @type {(list: string[], thing: string) => string[]} */
export function toggled(list, thing) {
  return list.includes(thing) ? list.filter((other) => other !== thing) : [...list, thing];
}

/** @type {(commands: Commands) => void} */
export function listenToForce(commands) {
  const { game } = commands.state;
  onClickWithin("force-units", "data-chip", (unit) =>
    commands.change(() => {
      game.force.units = toggled(game.force.units, unit);
    }),
  );
  onClickWithin("force-cards", "data-chip", (card) =>
    commands.change(() => {
      game.force.cards = toggled(game.force.cards, card);
    }),
  );
  onClick("force-activate", () => {
    const action = forceAction(commands.state, field("force-spans").value);
    if (action) commands.act(action);
  });
}
