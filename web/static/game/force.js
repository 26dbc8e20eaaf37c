/** A force of the players' own choice: which units, and the cards that are played for it. */
import { byId, disable, element, setAttr, setText, updateChildren } from "../shared/dom.js";
import { playing } from "./state.js";

/** @typedef {import("./state.js").State} State */
/** @typedef {import("./state.js").Action} Action */

/** Bring it up to date; it is there while a force is to be activated. @type {(state: State) => void} */
export function renderForce(state) {
  const view = playing(state);
  const isDue = Boolean(view?.is_yours && view.actions.some(({ action }) => action.type === "activate"));
  byId("game-force").hidden = !isDue;
  if (!view || !isDue) return;
  const { force, busy } = state.game;
  const own = state.facts.units.filter(({ side, id }) => side === view.state.round.active && (state.now?.units ?? []).some((unit) => unit.id === id));
  renderChips("force-units", own.map(({ id }) => ({ key: id, text: id })), force.units);
  const hand = view.state.hand ?? [];
  renderChips("force-cards", hand.map(({ id, title, span_bw }) => ({ key: id, text: `${title} ${span_bw} BW` })), force.cards);
  byId("force-spans-part").hidden = hand.length > 0;
  setText(byId("force-activate"), force.units.length ? `Activate ${force.units.join(", ")}` : "Activate");
  disable(byId("force-activate"), busy !== null || force.units.length === 0);
}

/** @type {(id: string, chips: {key: string, text: string}[], pressed: string[]) => void} */
function renderChips(id, chips, pressed) {
  updateChildren(byId(id), chips, ({ key }) => key, () => element("button"), (chip, { key, text }) => {
    setAttr(chip, "type", "button");
    setAttr(chip, "data-chip", key);
    setAttr(chip, "aria-pressed", String(pressed.includes(key)));
    setText(chip, text);
  });
}

/** The action that was put together; the spans of printed cards as they were written. @type {(state: State, spans: string) => Action} */
export function forceAction({ game }, spans) {
  const { units, cards } = game.force;
  if (cards.length) return { type: "activate", force: units, cards };
  const written = (spans.match(/\d+/g) ?? []).map(Number);
  return { type: "activate", force: units, ...(written.length ? { spans: written } : {}) };
}

/** A list with a thing, if it was without it; without it, if not. @type {(list: string[], thing: string) => string[]} */
export function toggled(list, thing) {
  return list.includes(thing) ? list.filter((other) => other !== thing) : [...list, thing];
}
