/** The log of the game: each line with its rule, its drawing, and the way back to before it. */
import { byId, disable, each, element, put, write } from "../shared/dom.js";
import { makeDie, renderDice } from "./dice.js";
import { playing } from "./state.js";
import { sentence } from "./words.js";

/** @typedef {import("../board/state.js").State} State */
/** @typedef {import("./state.js").Happened} Happened */

const MOST_LINES = 15;

/** Bring the log up to date, the latest first. @type {(state: State) => void} */
export function renderGameLog(state) {
  const told = playing(state);
  const all = (told?.log ?? []).map((happened, index) => ({ key: `log ${index}`, happened })).reverse();
  const shown = state.game.wholeLog ? all : all.slice(0, MOST_LINES);
  byId("game-log").hidden = all.length === 0;
  write(byId("game-log-count"), all.length ? String(all.length) : "");
  each(byId("game-log-body"), shown, ({ key }) => key, makeLine, (line, { key, happened }) => updateLine(line, key, happened, state));
  byId("game-log-more").hidden = shown.length === all.length;
}

/** @type {() => HTMLElement} */
function makeLine() {
  const line = element("li", "div", "div");
  const [words, deeds] = /** @type {HTMLElement[]} */ ([...line.children]);
  put(words, "role", "button");
  put(words, "tabindex", "0");
  words.className = "words";
  words.append(...["b", "span", "span", "i", "small"].map((tag) => element(tag)));
  words.children[2].className = "dice";
  deeds.className = "deeds";
  return line;
}

/** @type {(line: HTMLElement, key: string, happened: Happened, state: State) => void} */
function updateLine(line, key, happened, state) {
  const { kind, text, rule, note, undone, evidence, dice } = happened;
  const [words, deeds] = /** @type {HTMLElement[]} */ ([...line.children]);
  const [mark, said, faces, noted, by] = /** @type {HTMLElement[]} */ ([...words.children]);
  const marks = [kind === "overrule" || note.startsWith("overruled") ? "overrule" : "", undone ? "undone" : ""].filter(Boolean);
  const isOpen = state.game.line === key;
  put(line, "class", [...marks, state.game.looked === key ? "looked" : "", evidence.length ? "drawn" : ""].join(" ").trim());
  put(words, "data-log", key);
  put(words, "aria-expanded", String(isOpen));
  write(mark, marks.join(", "));
  write(said, sentence(text));
  renderDice(faces, dice?.values ?? []);
  write(noted, note);
  write(by, rule ?? "");
  deeds.hidden = !isOpen;
  if (isOpen) renderDeeds(deeds, happened, state);
}

/** What may be done about a line: go back to before it, or say what its dice really showed or what was meant. @type {(node: HTMLElement, happened: Happened, state: State) => void} */
function renderDeeds(node, { undone, deed, dice, evidence, kind }, state) {
  const { busy, fixing, choosing } = state.game;
  if (!node.children.length) node.append(...madeDeeds());
  const [hint, back, open, faces, choices, why, fix, other] = /** @type {HTMLElement[]} */ ([...node.children]);
  const may = Boolean(playing(state)?.can_undo) && !undone;
  const isFixing = may && fixing?.deed === deed;
  write(hint, undone ? "It was taken back, and stays in the record." : evidence.length ? "It is drawn on the table." : "");
  back.hidden = !may;
  put(back, "data-back", String(deed));
  open.hidden = !may || !dice || isFixing;
  put(open, "data-fix-open", JSON.stringify({ deed, values: dice?.values ?? [] }));
  const offers = may && choosing?.deed === deed ? choosing.offers : null;
  put(other, "data-others", String(deed));
  other.hidden = !may || Boolean(dice) || kind === "overrule" || choosing?.deed === deed;
  if (offers) write(hint, offers.length ? "What was meant? What followed is done again, with the dice that were thrown." : "Nothing else of its kind could be chosen there.");
  each(choices, (offers ?? []).map(({ label }, index) => ({ label, index })), ({ index, label }) => `${index} ${label}`, makeChoice, (button, { label, index }) => {
    put(button, "data-other", String(index));
    write(button, label);
    disable(button, busy !== null);
  });
  for (const part of [faces, fix]) part.hidden = !isFixing;
  choices.hidden = !offers?.length;
  why.hidden = !isFixing && !offers?.length;
  for (const button of [back, open, fix, other]) disable(button, busy !== null);
  if (!isFixing || !fixing) return;
  const numbered = fixing.values.map((face, index) => ({ face, index }));
  each(faces, numbered, ({ face, index }) => `${index} ${face}`, ({ face }) => makeFace(face), (button, { index }) => put(button, "data-turn", String(index)));
}

/** @type {() => HTMLElement[]} */
function madeDeeds() {
  const [hint, back, open, faces, choices, why, fix, other] = ["span", "button", "button", "div", "div", "input", "button", "button"].map((tag) => element(tag));
  hint.className = "hint";
  for (const button of [back, open, fix, other]) put(button, "type", "button");
  write(back, "Back to before this");
  write(open, "The dice were read wrong …");
  faces.className = "dice turned";
  put(faces, "role", "group");
  put(faces, "aria-label", "Tap a die until it shows what it really was");
  for (const [name, value] of Object.entries({ type: "text", maxlength: "200", placeholder: "why? (may be left out)", "aria-label": "Why is it corrected?" })) put(why, name, value);
  put(fix, "data-fix", "");
  fix.className = "main";
  write(fix, "Correct: an overrule");
  write(other, "Something else was meant …");
  choices.className = "choices";
  put(choices, "role", "group");
  put(choices, "aria-label", "What was meant: tapped, it is an overrule");
  return [hint, back, open, faces, choices, why, fix, other];
}

/** @type {() => HTMLElement} */
function makeChoice() {
  const button = element("button");
  put(button, "type", "button");
  return button;
}

/** @type {(face: number) => HTMLElement} */
function makeFace(face) {
  const button = element("button");
  put(button, "type", "button");
  put(button, "aria-label", `shows ${face}: the next face`);
  button.append(makeDie(face));
  return button;
}
