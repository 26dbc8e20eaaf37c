/**
 * Sets all states on one screen, to take up a game in its middle, and sends them at once.
 *
 * The numbers begin as the server has them; only what differs becomes an overrule.
 */
import { byId, disable, element, makeButton, setAttr, setText, updateChildren } from "../shared/dom.js";
import { onClick, onClickWithin } from "../shared/events.js";
import { sentence } from "../shared/text.js";
import { sideClass, sideName } from "../board/things.js";
import { playing } from "./state.js";

/** @typedef {import("./commands.js").Commands} Commands */
/** @typedef {import("./state.js").State} State */
/** @typedef {import("./state.js").GameView} GameView */

/** @typedef {{number?: number, active?: string, morale: Record<string, number>, hands: Record<string, number>, deck?: number, stage?: string, disruption: Record<string, number>, smoke: Record<string, boolean>}} States  what is set otherwise than the game has it */
/** @typedef {{text: string, set: Partial<States>, isSet?: boolean, label: string}} Choice */
/** @typedef {{key: string, title: string, side?: string, choices: Choice[], value?: string}} Row */

const STAGES = [
  ["first", "first"],
  ["second", "second, with Reshuffle"],
  ["last", "last"],
];

/** @type {() => States} */
export function newStates() {
  return { morale: {}, hands: {}, disruption: {}, smoke: {} };
}

/** Updates the screen of all states. @type {(state: State) => void} */
export function renderStates(state) {
  const view = playing(state);
  const { states, busy } = state.game;
  byId("game-states").hidden = !view || states === null;
  byId("game").classList.toggle("stating", Boolean(view && states));
  if (!view || !states) return;
  updateChildren(
    byId("states-body"),
    rows(state, view, states),
    ({ key }) => key,
    () => element("div", "span", "div"),
    (node, { title, side, choices, value }) => {
      setAttr(node, "class", `overrule-row${side === undefined ? "" : ` of-side ${sideClass(state, side)}`}`);
      setText(node.children[0], sentence(title));
      setAttr(node.children[1], "role", "group");
      setAttr(node.children[1], "aria-label", title);
      const shown =
        value === undefined ? choices : [choices[0], { text: value, set: {}, label: value }, ...choices.slice(1)];
      updateChildren(
        node.children[1],
        shown.filter(Boolean),
        ({ label }) => label,
        makeButton,
        (button, choice) => updateChoice(button, choice, busy !== null),
      );
    },
  );
  disable(byId("states-send"), busy !== null);
}

/** @type {(button: HTMLElement, choice: Choice, isBusy: boolean) => void} */
function updateChoice(button, { text, set, isSet, label }, isBusy) {
  const isValue = Object.keys(set).length === 0;
  setAttr(button, "class", isValue ? "value" : "");
  setAttr(button, "data-state", isValue ? null : JSON.stringify(set));
  setAttr(button, "aria-label", label);
  setAttr(button, "aria-pressed", isSet === undefined ? null : String(isSet));
  setText(button, text);
  disable(button, isBusy || isValue);
}

/** @type {(state: State, view: GameView, states: States) => Row[]} */
function rows(state, view, states) {
  const { round, sides, deck, step, options } = view.state;
  const active = states.active ?? round.active;
  const number = states.number ?? round.number;
  // Where tablecam deals, cards that are still to be dealt count as part of a hand.
  const due = (/** @type {string} */ name) => (options?.deck ? drawsDue(step, name) : 0);
  const hands = Object.fromEntries(sides.map(({ name, hand }) => [name, states.hands[name] ?? hand + due(name)]));
  const drawn = options?.deck ? sides.reduce((sum, { name, hand }) => sum + Math.max(0, hands[name] - hand), 0) : 0;
  const left = states.deck ?? Math.max(0, (deck?.left ?? 0) - drawn);
  const stage = states.stage ?? deck?.stage;
  const stepper = (
    /** @type {string} */ key,
    /** @type {string} */ title,
    /** @type {number} */ now,
    /** @type {number} */ least,
    /** @type {(value: number) => Partial<States>} */ set,
    /** @type {string} */ side,
  ) => ({
    key,
    title,
    side,
    value: String(now),
    choices: [
      { text: "−", set: set(Math.max(least, now - 1)), label: `${title}: one less` },
      { text: "+", set: set(now + 1), label: `${title}: one more` },
    ],
  });
  return [
    stepper("number", "round", number, 1, (value) => ({ number: value }), active),
    {
      key: "active",
      title: "active side",
      choices: sides.map(({ name }) => ({
        text: sideName(state, name),
        set: { active: name },
        isSet: name === active,
        label: `${sideName(state, name)}'s round`,
      })),
    },
    ...sides.map(({ name, morale }) =>
      stepper(
        `morale ${name}`,
        `${sideName(state, name)}: morale`,
        states.morale[name] ?? morale,
        1,
        (value) => ({ morale: { [name]: value } }),
        name,
      ),
    ),
    ...sides.map(({ name }) =>
      stepper(
        `hand ${name}`,
        `${sideName(state, name)}: cards in hand`,
        hands[name],
        0,
        (value) => ({ hands: { [name]: value } }),
        name,
      ),
    ),
    stepper("deck", "cards left in the deck", left, 0, (value) => ({ deck: value }), ""),
    {
      key: "stage",
      title: "deck",
      choices: STAGES.map(([key, text]) => ({
        text,
        set: { stage: key },
        isSet: key === stage,
        label: `the ${text} deck`,
      })),
    },
    ...unitsOf(state).flatMap((unit) => unitRows(unit, view, states)),
  ].map((row) => ("side" in row && row.side === "" ? { ...row, side: undefined } : row));
}

/** How many cards a side draws before anything else, as before the first round. @type {(step: any, side: string) => number} */
function drawsDue(step, side) {
  if (step?.type !== "drawing") return 0;
  return (step.side === side ? step.count : 0) + drawsDue(step.then, side);
}

/** The units on the table, the chosen ones first. @type {(state: State) => import("../board/state.js").Unit[]} */
function unitsOf({ now, chosen }) {
  const isChosen = (/** @type {string} */ id) => chosen.includes(`unit:${id}`);
  return [...(now?.units ?? [])].sort((a, b) => Number(isChosen(b.id)) - Number(isChosen(a.id)));
}

/** @type {(unit: import("../board/state.js").Unit, view: GameView, states: States) => Row[]} */
function unitRows({ id, side, arm, bases }, view, states) {
  const markers = view.markers[id] ?? {};
  const level = states.disruption[id] ?? markers.disruption ?? 0;
  const smoke = states.smoke[id] ?? markers.smoke ?? false;
  const levels = Array.from({ length: bases.length + 1 }, (_, index) => index);
  const choices = levels.map((value) => ({
    text: String(value),
    set: { disruption: { [id]: value } },
    isSet: value === level,
    label: `${id}: disruption ${value}`,
  }));
  const cloud =
    arm === "artillery"
      ? [{ text: "smoke", set: { smoke: { [id]: !smoke } }, isSet: smoke, label: `${id}: smoke` }]
      : [];
  return [{ key: `unit ${id}`, title: id, side, choices: [...choices, ...cloud] }];
}

/** The units' markers, with those that are being set. @type {(state: State) => GameView["markers"]} */
export function markersShown(state) {
  const markers = playing(state)?.markers ?? {};
  const { states } = state.game;
  if (!states) return markers;
  const names = new Set([markers, states.disruption, states.smoke].flatMap((byUnit) => Object.keys(byUnit)));
  return Object.fromEntries(
    [...names].map((id) => [
      id,
      { disruption: states.disruption[id] ?? markers[id]?.disruption, smoke: states.smoke[id] ?? markers[id]?.smoke },
    ]),
  );
}

/** Merges a change into the states. @type {(states: States, set: Partial<States>) => States} */
export function mergedStates(states, set) {
  const merged = { ...states, ...set };
  for (const key of /** @type {const} */ (["morale", "hands", "disruption", "smoke"])) {
    Object.assign(merged, { [key]: { ...states[key], ...set[key] } });
  }
  return merged;
}

/** The overrule that sets all states; it restarts the round, so that they hold from its first step. @type {(state: State) => import("./state.js").Action} */
export function statesAction(state) {
  const view = playing(state);
  const states = state.game.states ?? newStates();
  const { number = view?.state.round.number, active = view?.state.round.active, ...others } = states;
  return { type: "overrule", why: "taken up in the middle of a game", ...others, number, active };
}

/** @type {(commands: Commands) => void} */
export function listenToStates(commands) {
  const { game } = commands.state;
  onClick("states-open", () =>
    commands.change(() => {
      game.states = newStates();
      byId("panel").scrollTop = 0;
    }),
  );
  onClickWithin("states-body", "data-state", (set) =>
    commands.change(() => {
      game.states = mergedStates(game.states ?? newStates(), JSON.parse(set));
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
