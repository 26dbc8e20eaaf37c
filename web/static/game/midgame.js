/**
 * Sets everything on one screen, to join a game in progress, and sends it at once.
 *
 * The values start as the server has them; only differences become an overrule.
 */
import { byId, disable } from "../shared/dom.js";
import { onClick, onClickWithin } from "../shared/events.js";
import { renderRows } from "./overrule.js";
import { commonRows, markedBy, mergedPatch, restated, unitRows } from "./settings.js";
import { playing } from "./state.js";

/** @typedef {import("./commands.js").Commands} Commands */
/** @typedef {import("./settings.js").Row} Row */
/** @typedef {import("./state.js").State} State */

/** Updates the screen of all settings. @type {(state: State) => void} */
export function renderStates(state) {
  const view = playing(state);
  const { states, busy } = state.game;
  byId("game-states").hidden = !view || states === null;
  byId("game").classList.toggle("stating", Boolean(view && states));
  if (!view || !states) return;
  const units = unitsOf(state).flatMap(({ id, side }) => oneRow(unitRows(state, id, states), id, side));
  renderRows(byId("states-body"), [...commonRows(state, states, true), ...units], state, "data-state");
  disable(byId("states-send"), busy !== null);
}

/** The units on the table, the chosen ones first. @type {(state: State) => import("../board/state.js").Unit[]} */
function unitsOf({ now, chosen }) {
  const isChosen = (/** @type {string} */ id) => chosen.includes(`unit:${id}`);
  return [...(now?.units ?? [])].sort((a, b) => Number(isChosen(b.id)) - Number(isChosen(a.id)));
}

/** The settings of a unit in one row, because there may be forty units; a switch is one button. @type {(rows: Row[], unit: string, side: string) => Row[]} */
function oneRow(rows, unit, side) {
  const choices = rows.flatMap(({ title, value, choices }) => {
    const [on, off] = choices;
    const name = title.slice(unit.length + 2);
    if (choices.length === 2 && on.text === "on")
      return [{ ...(on.isSet ? off : on), text: name, isSet: on.isSet, label: title }];
    if (value === undefined) return [{ text: name, set: {}, label: title }, ...choices];
    // The value stands between its buttons, or before the only one.
    const now = { text: `${name} ${value}`, set: {}, label: `${title}: ${value}` };
    return [...choices.slice(0, -1), now, ...choices.slice(-1)];
  });
  return choices.length ? [{ key: `unit ${unit}`, title: unit, side, choices }] : [];
}

/** The units' markers, including those being set. @type {(state: State) => Record<string, import("./state.js").Mark[]>} */
export function markersShown(state) {
  return markedBy(state, state.game.states ?? {});
}

/** The overrule that sets everything; it restarts the turn, so that it holds from its first step. @type {(state: State) => import("./state.js").Action} */
export function statesAction(state) {
  return {
    type: "overrule",
    why: "taken up in the middle of a game",
    ...restated(state, state.game.states ?? {}),
  };
}

/** @type {(commands: Commands) => void} */
export function listenToStates(commands) {
  const { game } = commands.state;
  onClick("states-open", () =>
    commands.change(() => {
      game.states = {};
      byId("panel").scrollTop = 0;
    }),
  );
  onClickWithin("states-body", "data-state", (set) =>
    commands.change(() => {
      game.states = mergedPatch(game.states ?? {}, JSON.parse(set));
    }),
  );
  onClick("states-send", () => {
    void commands.setStates();
  });
  onClick("states-cancel", () =>
    commands.change(() => {
      game.states = null;
    }),
  );
}
