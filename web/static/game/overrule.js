/** Lets players overrule the game: markers, positions, morale, hands, the next step. */
import { byId, disable, element, makeButton, setAttr, setText, updateChildren } from "../shared/dom.js";
import { sentence } from "../shared/text.js";
import { sideClass, sideName } from "../board/things.js";
import { chosenUnit, playing } from "./state.js";

/** @typedef {import("./state.js").State} State */

/** @typedef {{text: string, set: Record<string, any>, isSet?: boolean, title?: string, side?: string}} Setting  a button, and what of an overrule it sends */
/** @typedef {{key: string, title: string, settings: Setting[]}} Row */

const MOST_DISRUPTION = 4;
const STEPS = [
  ["volleys", "Volleys"],
  ["command", "The command"],
  ["end", "End of round"],
];

const STAGES = [
  ["first", "first", "Before the first reshuffle"],
  ["second", "second", "With the Reshuffle card in it"],
  ["last", "last", "The Reshuffle card is out: it is not shuffled again"],
];

/** Updates the overrules. @type {(state: State) => void} */
export function renderOverrule(state) {
  const view = playing(state);
  const part = /** @type {HTMLDetailsElement} */ (byId("game-overrule"));
  part.hidden = !view || view.seat.kind === "spectator";
  if (part.hidden || !part.open) return;
  byId("overrule-hint").hidden = chosenUnit(state) !== null;
  updateChildren(
    byId("overrule-body"),
    rows(state),
    ({ key }) => key,
    () => element("div", "span", "div"),
    (node, row) => {
      setAttr(node, "class", "overrule-row");
      setText(node.children[0], sentence(row.title));
      setAttr(node.children[1], "role", "group");
      setAttr(node.children[1], "aria-label", row.title);
      updateChildren(
        node.children[1],
        row.settings,
        ({ text, set }) => `${text} ${Object.keys(set)}`,
        makeButton,
        (button, setting) => updateSetting(button, setting, state),
      );
    },
  );
}

/** @type {(button: HTMLElement, setting: Setting, state: State) => void} */
function updateSetting(button, { text, set, isSet, title, side }, state) {
  setAttr(button, "data-set", JSON.stringify(set));
  setAttr(button, "aria-pressed", isSet === undefined ? null : String(isSet));
  setAttr(button, "title", title ?? null);
  setAttr(button, "class", side === undefined ? "" : sideClass(state, side));
  setText(button, text);
  disable(button, state.game.busy !== null);
}

/** The settings that can be overruled now. @type {(state: State) => Row[]} */
function rows(state) {
  const view = playing(state);
  if (!view) return [];
  const unit = chosenUnit(state);
  const { sides, round } = view.state;
  return [
    ...(unit ? unitRows(unit, view.markers[unit] ?? {}) : []),
    ...sides.map(({ name, morale }) =>
      stepper(`morale ${name}`, `${sideName(state, name)}: morale`, morale, 1, (value) => ({
        morale: { [name]: value },
      })),
    ),
    // Where tablecam deals, a hand is a set of cards, not a number.
    ...(view.state.options?.deck
      ? []
      : sides.map(({ name, hand }) =>
          stepper(`hand ${name}`, `${sideName(state, name)}: cards`, hand, 0, (value) => ({
            hands: { [name]: value },
          })),
        )),
    ...(view.state.options?.deck
      ? []
      : [stepper("deck", "Cards left", view.state.deck?.left ?? 0, 0, (value) => ({ deck: value }))]),
    {
      key: "stage",
      title: "Deck",
      settings: STAGES.map(([stage, text, title]) => ({
        text,
        title,
        set: { stage },
        isSet: stage === view.state.deck?.stage,
      })),
    },
    stepper("number", "Round", round.number, 1, (value) => ({ number: value })),
    { key: "step", title: "Continue with", settings: STEPS.map(([step, text]) => ({ text, set: { step } })) },
    {
      key: "round",
      title: "Active side",
      settings: sides.map(({ name }) => ({
        text: sideName(state, name),
        set: { active: name },
        isSet: name === round.active,
        side: name,
      })),
    },
  ];
}

/** @type {(unit: string, markers: {disruption?: number, smoke?: boolean}) => Row[]} */
function unitRows(unit, { disruption = 0, smoke = false }) {
  const levels = Array.from({ length: MOST_DISRUPTION + 1 }, (_, level) => level);
  return [
    {
      key: "disruption",
      title: `${unit}: disruption`,
      settings: levels.map((level) => ({
        text: String(level),
        set: { disruption: { [unit]: level } },
        isSet: level === disruption,
      })),
    },
    {
      key: "smoke",
      title: `${unit}: smoke`,
      settings: [true, false].map((on) => ({
        text: on ? "on" : "off",
        set: { smoke: { [unit]: on } },
        isSet: on === smoke,
      })),
    },
    {
      key: "lies",
      title: `${unit}: position`,
      settings: [
        { text: "as seen", set: { accept: unit }, title: "Accept it where the camera sees it" },
        { text: "off the table", set: { off: [unit] }, title: "It is out of the game" },
      ],
    },
  ];
}

/** A row that counts a number up or down. @type {(key: string, title: string, now: number, least: number, set: (value: number) => Record<string, any>) => Row} */
function stepper(key, title, now, least, set) {
  const down = now > least ? [{ text: "−", set: set(now - 1), title: `${now - 1}` }] : [];
  return { key, title: `${title} ${now}`, settings: [...down, { text: "+", set: set(now + 1), title: `${now + 1}` }] };
}
