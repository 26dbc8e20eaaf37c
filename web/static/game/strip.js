/** The strip under the header: whose round it is, who is asked what, the sides' morale and cards. */
import { byId, element, setAttr, setText, svgElement, updateChildren } from "../shared/dom.js";
import { briefName, sentence } from "../shared/text.js";
import { sideClass, sideName } from "../board/things.js";
import { playing } from "./state.js";
import { seatName, turnWords } from "./words.js";

/** @typedef {import("./state.js").State} State */
/** @typedef {import("./state.js").GameView} GameView */

/** The steps before the first round. */
const SETUP_STEPS = new Set([
  "rolling-terrain",
  "laying-terrain",
  "choosing-edge",
  "choosing-order",
  "deploying",
  "rolling-first-round",
]);
const FLAG = "M4 18V2H16L13 6.5L16 11H4";
const CARD = "M5 2H15V18H5Z";

/** Updates the strip. @type {(state: State) => void} */
export function renderStrip(state) {
  const view = playing(state);
  document.body.classList.toggle("playing", view !== null);
  document.body.classList.toggle("looking-on", state.game.view?.seat.kind === "spectator");
  setAttr(byId("game-strip"), "data-version", String(state.game.view?.version ?? ""));
  setAttr(
    byId("turn-round"),
    "class",
    view && !SETUP_STEPS.has(view.state.step?.type ?? "")
      ? `turn-round ${sideClass(state, view.state.round.active)}`
      : "turn-round none",
  );
  const isSetup = Boolean(view && SETUP_STEPS.has(view.state.step?.type ?? ""));
  setText(
    byId("turn-active"),
    isSetup ? "setting up" : view ? sideName(state, view.state.round.active) : "no game yet",
  );
  byId("turn-word").hidden = view === null || isSetup;
  setText(byId("turn-number"), isSetup ? "" : String(view?.state.round.number ?? ""));
  setText(byId("turn-question"), questionWords(state));
  setText(byId("turn-who"), view ? turnWords(view, (side) => sideName(state, side)) : "");
  byId("turn-who").classList.toggle("yours", Boolean(view?.is_yours));
  fitWords(byId("turn-words"));
  renderSides(state, view);
  const own = state.game.seats?.own;
  byId("seat-open").hidden = own === undefined;
  setText(byId("seat-own"), own === undefined ? "" : seatName(state, own));
  setAttr(
    byId("seat-open"),
    "class",
    `seat-open ${sideClass(state, own ?? "")}${state.facts.sides.includes(own ?? "") ? " of-side" : ""}`,
  );
}

/** Writes words that do not fit into the strip smaller; measured only when words or room change. @type {(words: HTMLElement) => void} */
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
  return state.game.view ? "The referee is ready: begin a game in the panel." : "Asking the referee …";
}

/** @type {(state: State, view: GameView | null) => void} */
export function renderSides(state, view) {
  updateChildren(
    byId("turn-sides"),
    view?.state.sides ?? [],
    ({ name }) => name,
    makeSide,
    (node, { name, morale, hand }) => {
      setAttr(node, "class", `turn-side ${sideClass(state, name)}`);
      setAttr(node, "aria-label", `${sideName(state, name)}: morale ${morale}, ${hand} cards`);
      const [side, brief, , standing, , held] = node.children;
      setText(side, sideName(state, name));
      setText(brief, briefName(sideName(state, name)));
      setText(standing, String(morale));
      setText(held, String(hand));
      setAttr(node, "title", "Army morale, and cards in hand");
    },
  );
}

/** @type {() => HTMLElement} */
function makeSide() {
  const side = element("li", "span", "span", "b", "b");
  const [name, brief, standing, held] = side.children;
  name.className = "wide";
  brief.className = "brief";
  standing.before(makeSign(FLAG));
  held.before(makeSign(CARD));
  return side;
}

/** @type {(path: string) => SVGElement} */
function makeSign(path) {
  const sign = svgElement("svg", { class: "sign", viewBox: "0 0 20 20", "aria-hidden": "true" });
  sign.append(svgElement("path", { d: path }));
  return sign;
}
