/** A force of the players' own choice: its units, and the cards played for it. */
import { byId, disable, makeButton, setAttr, setText, updateChildren } from "../shared/dom.js";
import { field, onClick, onClickWithin } from "../shared/events.js";
import { playing } from "./state.js";

/** @typedef {import("./commands.js").Commands} Commands */
/** @typedef {import("./state.js").State} State */
/** @typedef {import("./state.js").Action} Action */

/** Updates the force; it is shown while one can be activated. @type {(state: State) => void} */
export function renderForce(state) {
  const view = playing(state);
  const isDue = Boolean(view?.is_yours && view.actions.some(({ action }) => action.type === "activate"));
  byId("game-force").hidden = !isDue;
  if (!view || !isDue) return;
  const { force, busy } = state.game;
  const own = state.facts.units.filter(
    ({ side, id }) => side === view.state.round.active && (state.now?.units ?? []).some((unit) => unit.id === id),
  );
  renderChips(
    "force-units",
    own.map(({ id }) => ({ key: id, text: id })),
    force.units,
  );
  const hand = view.state.hand ?? [];
  renderChips(
    "force-cards",
    hand.map(({ id, title, span_bw }) => ({ key: id, text: `${title} ${span_bw} BW` })),
    force.cards,
  );
  byId("force-spans-part").hidden = hand.length > 0;
  setText(byId("force-activate"), force.units.length ? `Activate ${force.units.join(", ")}` : "Activate");
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

/** The action that activates the force; `spans` is what was typed for printed cards. @type {(state: State, spans: string) => Action} */
export function forceAction({ game }, spans) {
  const { units, cards } = game.force;
  if (cards.length) return { type: "activate", force: units, cards };
  const written = (spans.match(/\d+/g) ?? []).map(Number);
  return { type: "activate", force: units, ...(written.length ? { spans: written } : {}) };
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
  onClick("force-activate", () => commands.act(forceAction(commands.state, field("force-spans").value)));
}
