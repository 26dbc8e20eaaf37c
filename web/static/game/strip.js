/** The strip under the header: whose turn it is, who is asked what, the sides' figures. */
import { byId, element, setAttr, setText, svgElement, updateChildren } from "../shared/dom.js";
import { briefName, sentence } from "../shared/text.js";
import { sideClass, sideName, sidePlural } from "../board/things.js";
import { playing } from "./state.js";
import { seatName, turnWords } from "./words.js";

/** @typedef {import("./state.js").State} State */
/** @typedef {import("./state.js").GameView} GameView */
/** @typedef {import("./state.js").Standing} Standing */

/** The signs of figures, drawn in a square of 20. @type {Record<string, string>} */
const SIGNS = {
  flag: "M4 18V2H16L13 6.5L16 11H4",
  card: "M5 2H15V18H5Z",
  star: "M10 2L12.4 7.4L18 8L13.8 12L15 18L10 15L5 18L6.2 12L2 8L7.6 7.4Z",
  coin: "M10 3A7 7 0 1 1 9.99 3M10 6V14",
  skull: "M10 2A7 7 0 0 0 5 14V17H15V14A7 7 0 0 0 10 2M7.5 9V11M12.5 9V11",
};

/** Updates the strip. @type {(state: State) => void} */
export function renderStrip(state) {
  const view = playing(state);
  document.body.classList.toggle("playing", view !== null);
  document.body.classList.toggle("looking-on", state.game.view?.seat.kind === "spectator");
  setAttr(byId("game-strip"), "data-version", String(state.game.view?.version ?? ""));
  const standing = view?.standing;
  renderTurn(state, standing, view ? (standing?.phase ?? "") : "no game yet");
  setText(byId("turn-question"), questionWords(state));
  setText(byId("turn-who"), view ? turnWords(view, (side) => sidePlural(state, side)) : "");
  byId("turn-who").classList.toggle("yours", Boolean(view?.is_yours));
  fitWords(byId("turn-words"));
  renderSides(state, standing?.sides ?? []);
  const own = state.game.seats?.own;
  byId("seat-open").hidden = own === undefined;
  setText(byId("seat-own"), own === undefined ? "" : seatName(state, own));
  setAttr(
    byId("seat-open"),
    "class",
    `seat-open ${sideClass(state, own ?? "")}${state.facts.sides.includes(own ?? "") ? " of-side" : ""}`,
  );
}

/** Shrinks words that do not fit into the strip; measured only when words or room change. @type {(words: HTMLElement) => void} */
function fitWords(words) {
  const fitted = `${words.textContent} ${words.clientWidth}`;
  if (words.dataset.fitted === fitted) return;
  words.dataset.fitted = fitted;
  words.classList.remove("long");
  words.classList.toggle("long", words.scrollHeight > words.clientHeight + 1); // the two are rounded differently
}

/** @type {(state: State) => string} */
function questionWords(state) {
  const view = playing(state);
  if (state.game.error) return state.game.error;
  if (view) return sentence(view.question);
  if (state.now?.health.state === "lost") return "The camera is lost: a game can begin when it is back.";
  return state.game.view ? "Measure anything, or start a game." : "Asking the referee …";
}

/** Updates whose turn it is; `otherwise` is shown between turns. @type {(state: State, standing: Standing | undefined, otherwise: string) => void} */
export function renderTurn(state, standing, otherwise) {
  const { turn, turn_word = "", active } = standing ?? {};
  const isTurn = turn !== undefined;
  setAttr(byId("turn-round"), "class", `turn-round ${isTurn && active ? sideClass(state, active) : "none"}`);
  // Colours alone do not say whose phase it is.
  const words = [isTurn && active ? sideName(state, active) : "", otherwise];
  setText(byId("turn-active"), words.filter(Boolean).join(": "));
  byId("turn-word").hidden = !isTurn;
  setText(byId("turn-word"), `${active || otherwise ? " · " : ""}${turn_word}`);
  setText(byId("turn-number"), isTurn ? String(turn) : "");
}

/** @type {(state: State, sides: NonNullable<Standing["sides"]>) => void} */
export function renderSides(state, sides) {
  updateChildren(
    byId("turn-sides"),
    sides,
    ({ name, figures = [] }) => `${name} ${figures.map(({ label }) => label)}`,
    makeSide,
    (node, { name, figures = [] }) => {
      const words = figures.map(({ label, value }) => `${label} ${value}`).join(", ");
      setAttr(node, "class", `turn-side ${sideClass(state, name)}`);
      setAttr(node, "aria-label", `${sideName(state, name)}: ${words}`);
      setAttr(node, "title", words);
      const [side, brief] = node.children;
      setText(side, sideName(state, name));
      setText(brief, briefName(sideName(state, name)));
      const values = [...node.querySelectorAll("b")];
      figures.forEach(({ value }, index) => setText(values[index], String(value)));
    },
  );
}

/** @type {(side: {figures?: import("./state.js").Figure[]}) => HTMLElement} */
function makeSide({ figures = [] }) {
  const side = element("li", "span", "span");
  const [name, brief] = side.children;
  name.className = "wide";
  brief.className = "brief";
  for (const { label, sign } of figures) {
    const words = element("span");
    words.className = "wide";
    setText(words, label);
    side.append(sign && SIGNS[sign] ? makeSign(SIGNS[sign]) : words, element("b"));
  }
  return side;
}

/** @type {(path: string) => SVGElement} */
function makeSign(path) {
  const sign = svgElement("svg", { class: "sign", viewBox: "0 0 20 20", "aria-hidden": "true" });
  sign.append(svgElement("path", { d: path }));
  return sign;
}
