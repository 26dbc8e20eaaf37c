/** Listens to the controls of rulings: the round, sections, a line's evidence, disputes. */
import { byId } from "../shared/dom.js";
import { listenToHover, onClickWithin, valueAt } from "../shared/events.js";
import { errorText } from "../shared/http.js";
import * as api from "./api.js";
import { loadDisputes } from "./disputes.js";
import { chosenUnits, defaultQuestion, glanceAt, nextSide, pin, setActive, toggleSection } from "./state.js";

/** @typedef {import("./state.js").State} State */

/** Listens to the rulings on the page; returns their keys. @type {(state: State, changed: () => void) => import("../shared/keyboard.js").Keys} */
export function listenToRulings(state, changed) {
  if (!state.facts.rules) return {};
  const { rulings } = state;
  const act = (/** @type {() => void} */ change) => {
    change();
    changed();
  };
  const file = (/** @type {string | undefined} */ id) => id && fileDispute(state, id, changed);
  // A game decides whose round it is.
  const turn = (/** @type {string} */ side) => {
    if (!rulings.isFollowing) act(() => setActive(rulings, side));
  };
  onClickWithin("round", "data-side", turn);
  onClickWithin("rulings-body", "data-question", file);
  onClickWithin("disputes-body", "data-dispute", (number) => act(() => openDispute(state, Number(number))));
  listenToDialog(state, changed);
  byId("disputes").addEventListener("toggle", () => loadDisputes(rulings).then(changed));
  return {
    ...listenToSheet(state, changed),
    d: () => file(defaultQuestion(rulings)?.id),
    r: () => turn(nextSide(state)),
  };
}

/** Listens to the sections of a sheet; returns their keys. @type {(state: State, changed: () => void) => import("../shared/keyboard.js").Keys} */
export function listenToSheet(state, changed) {
  onClickWithin("rulings-chips", "data-section", (key) => {
    toggleSection(state.rulings, key);
    changed();
  });
  listenToLines(state, changed);
  return sectionKeys(state, changed);
}

/** The digits toggle the first nine sections. @type {(state: State, changed: () => void) => import("../shared/keyboard.js").Keys} */
function sectionKeys({ rulings }, changed) {
  const toggle = (/** @type {number} */ index) => () => {
    const section = rulings.sheet?.sections[index];
    if (section) toggleSection(rulings, section.key);
    changed();
  };
  return Object.fromEntries(Array.from({ length: 9 }, (_, index) => [String(index + 1), toggle(index)]));
}

/** Shows only a line's evidence on hover or focus; a click on its sentence pins it. @type {(state: State, changed: () => void) => void} */
function listenToLines({ rulings }, changed) {
  const body = byId("rulings-body");
  listenToHover(body, "data-line", (key) => {
    glanceAt(rulings, key);
    changed();
  });
  body.addEventListener("click", (event) => {
    const key = valueAt(event, "data-line");
    if (key === null || !(event.target instanceof Element && event.target.closest(".said"))) return;
    pin(rulings, key);
    changed();
  });
}

/** @type {(state: State, changed: () => void) => void} */
function listenToDialog({ rulings }, changed) {
  const plain = byId("dispute-plain");
  plain.addEventListener("click", () => {
    plain.setAttribute("aria-pressed", String(plain.getAttribute("aria-pressed") !== "true"));
    changed();
  });
  byId("dispute-close").addEventListener("click", () => {
    rulings.open = null;
    changed();
  });
  byId("dispute").addEventListener("close", () => {
    rulings.open = null;
    changed();
  });
}

/** @type {(state: State, number: number) => void} */
function openDispute({ rulings }, number) {
  rulings.open = rulings.disputes.find((dispute) => dispute.number === number) ?? null;
}

/** Files a dispute about a question, with the picture and the position of this moment. @type {(state: State, question: string, changed: () => void) => Promise<void>} */
async function fileDispute(state, question, changed) {
  const { rulings } = state;
  if (rulings.filing || !chosenUnits(state).length) return;
  [rulings.filing, rulings.filingError] = [question, null];
  changed();
  try {
    rulings.open = await api.dispute(question, rulings.active);
    await loadDisputes(rulings);
  } catch (error) {
    rulings.filingError = `This dispute was not saved: ${errorText(error)}`;
  }
  rulings.filing = null;
  changed();
}
