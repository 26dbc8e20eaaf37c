/** Draws dice: with pips, as buttons to enter real ones, and the latest roll. */
import { byId, disable, element, setAttr, setText, svgElement, updateChildren } from "../shared/dom.js";
import { sentence } from "../shared/text.js";
import { latestRoll, playing, requestedRoll } from "./state.js";

/** @typedef {import("./state.js").State} State */
/** @typedef {import("./state.js").Offer} Offer */

/** The pips of each face, in steps from its middle. */
const PIPS = /** @type {Record<number, [number, number][]>} */ ({
  1: [[0, 0]],
  2: [
    [-1, -1],
    [1, 1],
  ],
  3: [
    [-1, -1],
    [0, 0],
    [1, 1],
  ],
  4: [
    [-1, -1],
    [1, -1],
    [-1, 1],
    [1, 1],
  ],
  5: [
    [-1, -1],
    [1, -1],
    [0, 0],
    [-1, 1],
    [1, 1],
  ],
  6: [
    [-1, -1],
    [1, -1],
    [-1, 0],
    [1, 0],
    [-1, 1],
    [1, 1],
  ],
});
const APART = 26;

/** A die that shows a face; null is an empty place. Dice with more than six sides show numbers. @type {(face: number | null, sides?: number) => SVGElement} */
export function makeDie(face, sides = 6) {
  const die = svgElement("svg", {
    class: `die${face === null ? " empty" : ""}`,
    viewBox: "-50 -50 100 100",
    role: "img",
  });
  setAttr(die, "aria-label", face === null ? "not rolled yet" : String(face));
  die.append(svgElement("rect", { x: "-45", y: "-45", width: "90", height: "90", rx: "16" }));
  if (face !== null) die.append(...pips(face, sides));
  return die;
}

/** @type {(face: number, sides: number) => SVGElement[]} */
function pips(face, sides) {
  const places = sides > 6 ? undefined : PIPS[face];
  if (places)
    return places.map(([x, y]) => svgElement("circle", { cx: String(APART * x), cy: String(APART * y), r: "10" }));
  const text = svgElement("text", { dy: "0.35em" });
  setText(text, String(face));
  return [text];
}

/** Draws dice in a row. @type {(parent: Element, faces: (number | null)[], name?: string, sides?: number) => void} */
export function renderDice(parent, faces, name = "", sides = 6) {
  updateChildren(
    parent,
    faces.map((face, index) => ({ face, key: `${name} ${index} ${face}` })),
    ({ key }) => key,
    ({ face }) => makeDie(face, sides),
    () => {},
  );
}

/** Updates the dice to enter, or the latest roll. @type {(state: State) => void} */
export function renderGameDice(state) {
  const view = playing(state);
  const roll = requestedRoll(view);
  byId("game-dice").hidden = !roll;
  if (roll) renderEntry(state, roll);
  const line = view ? latestRoll(view) : undefined;
  byId("game-cast").hidden = !line;
  renderDice(byId("game-cast-dice"), line?.dice?.values ?? [], String(line?.deed), line?.dice?.sides);
  // The question beside them has changed by now.
  setText(byId("game-cast-for"), line ? sentence(line.text) : "");
}

/** @type {(state: State, roll: Offer) => void} */
function renderEntry(state, roll) {
  const { faces, busy } = state.game;
  const { count, sides, lowest, groups } = roll.dice ?? { count: 0, sides: 6, lowest: 1, groups: [] };
  setText(byId("game-dice-title"), sentence(roll.label));
  let first = 0;
  const rows = groups.map((group) => ({ group, first: (first += group.places.length) - group.places.length }));
  updateChildren(
    byId("game-dice-entered"),
    rows,
    ({ first }) => String(first),
    () => element("div", "div", "span"),
    (row, { group, first }) => updateGroup(row, group, faces.slice(first), faces.length - first, sides),
  );
  const keys = Array.from({ length: sides }, (_, index) => index + lowest);
  updateChildren(
    byId("game-dice-keys"),
    keys,
    (face) => `${face} of ${sides}`,
    (face) => makeKey(face, sides),
    (key) => disable(key, busy !== null || faces.length === count),
  );
  disable(byId("game-dice-back"), busy !== null || faces.length === 0);
  disable(byId("game-dice-enter"), busy !== null || faces.length < count);
  disable(byId("game-dice-roll"), busy !== null);
  setAttr(byId("game-dice-roll"), "data-offer", `offer ${state.game.view?.actions.indexOf(roll)}`);
}

/** The owner of some dice and the face they need; empty if unknown. @type {(group: import("./state.js").AlikeDice, sides: number) => string} */
export function groupWords({ whose, needs, goal }, sides) {
  if (needs !== null) return needs === sides ? `${whose}: only a ${needs}` : `${needs}+ ${whose}`;
  return [whose, goal].filter(Boolean).join(": ");
}

/** Updates dice of one kind; `next` is the index of the one to enter next. @type {(row: HTMLElement, group: import("./state.js").AlikeDice, faces: number[], next: number, sides: number) => void} */
function updateGroup(row, group, faces, next, sides) {
  const [dice, words] = row.children;
  setAttr(row, "class", "alike");
  setAttr(dice, "class", "dice");
  const shown = group.places.map((_, index) => faces[index] ?? null);
  renderDice(dice, shown, "", sides);
  for (const [index, die] of [...dice.children].entries()) die.classList.toggle("next", index === next);
  setText(words, groupWords(group, sides));
}

/** @type {(face: number, sides: number) => HTMLElement} */
function makeKey(face, sides) {
  const key = element("button");
  setAttr(key, "data-face", String(face));
  setAttr(key, "aria-label", `a ${face}`);
  key.append(makeDie(face, sides));
  return key;
}
