/** The number of a rule: a press opens the rule in our own words beside it. */
import { element, makeButton, setText } from "../shared/dom.js";

/** @typedef {Record<string, {title: string, text: string}>} RuleWords  by the rule's number */

const WORDS_ID = "rule-words";
const MARGIN_PX = 8;
const NUMBER = /[A-Z]+-[A-Z0-9]+(?:\.\d+)*[a-z]?/g;

/** A new button for a rule's number, still empty. @type {() => HTMLElement} */
export function makeRuleNumber() {
  const button = makeButton();
  button.className = "rule";
  return button;
}

/** Shows the number of a rule; it cannot be pressed if the game gives no words for the rule. @type {(button: HTMLElement, rule: string | null | undefined, words: RuleWords | undefined) => void} */
export function updateRuleNumber(button, rule, words = {}) {
  button.hidden = !rule;
  setText(button, rule ?? "");
  const known = (rule?.match(NUMBER) ?? []).filter((number) => number in words);
  /** @type {HTMLButtonElement} */ (button).disabled = known.length === 0;
  if (!known.length) return;
  /** @type {HTMLButtonElement} */ (button).popoverTargetElement = sheet();
  button.title = words[known[0]].title;
  // Before the browser opens it, which follows the click.
  button.onclick = () => {
    sheet().replaceChildren(...known.map((number) => ruleOf(number, words[number])));
    sheet().ontoggle = () => putBeside(sheet(), button);
  };
}

/** The sheet that shows rules. @type {() => HTMLElement} */
function sheet() {
  const known = document.getElementById(WORDS_ID);
  if (known) return known;
  const made = element("div");
  made.id = WORDS_ID;
  made.className = "rule-words";
  made.popover = "auto";
  made.setAttribute("role", "status");
  document.body.append(made);
  return made;
}

/** @type {(number: string, words: {title: string, text: string}) => HTMLElement} */
function ruleOf(number, { title, text }) {
  const rule = element("section", "h3", "p");
  setText(rule.children[0], `${number} ${title}`);
  setText(rule.children[1], text);
  return rule;
}

/** Puts the sheet below its number, or above the entry of the number, within the screen. @type {(shown: HTMLElement, button: HTMLElement) => void} */
function putBeside(shown, button) {
  const at = button.getBoundingClientRect();
  const { width, height } = shown.getBoundingClientRect();
  const below = at.bottom + MARGIN_PX / 2;
  const entry = (button.closest("li") ?? button).getBoundingClientRect();
  const top = below + height + MARGIN_PX > innerHeight ? entry.top - height - MARGIN_PX / 2 : below;
  shown.style.top = `${Math.max(MARGIN_PX, top)}px`;
  shown.style.left = `${Math.max(MARGIN_PX, Math.min(at.left, innerWidth - width - MARGIN_PX))}px`;
}
