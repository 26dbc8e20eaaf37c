/** The log of a recording: every line with its time and rule; a tap jumps there. */
import { byId, element, separate, setAttr, setText, updateChildren } from "../shared/dom.js";
import { renderDice } from "../game/dice.js";
import { makeRuleNumber, updateRuleNumber } from "../rulings/rule_number.js";
import { clock } from "./lines.js";
import { countUndone, linesShown } from "./state.js";

/** @typedef {import("./state.js").Replay} Replay */
/** @typedef {import("./lines.js").Line} Line */

const MARKS = /** @type {Record<string, string>} */ ({
  loss: "✕",
  attack: "»",
  dispute: "?",
  overrule: "!",
  undo: "↶",
  notice: "i",
  over: "⚑",
});

/** Lines grow when a browser first lays them out: scrolling repeats for up to MOST_SCROLLS frames, until the height has been stable for CALM. */
const MOST_SCROLLS = 20;
const CALM = 3;

/** Updates the log. @type {(replay: Replay, unit: string | null) => void} */
export function renderReplayLog(replay, unit) {
  const { film, lines, onlyUnit, find, showsUndone } = replay;
  const body = byId("log-body");
  const filter = byId("log-only");
  filter.hidden = unit === null;
  setAttr(filter, "aria-pressed", String(onlyUnit));
  setText(filter, unit ? `Only ${unit}` : "");
  const undone = countUndone(replay);
  byId("log-undone").hidden = undone === 0;
  setAttr(byId("log-undone"), "aria-pressed", String(showsUndone));
  setText(byId("log-undone"), `${undone} taken back`);
  const drawn = `${lines.length} ${undone} ${showsUndone} ${onlyUnit ? unit : ""} ${find}`;
  if (body.getAttribute("data-drawn") !== drawn) {
    setAttr(body, "data-drawn", drawn);
    const shown = linesShown(replay, unit);
    updateChildren(
      body,
      shown.map((line, index) => ({ line, before: shown[index - 1] })),
      ({ line }) => line.key,
      makeLine,
      (node, { line, before }) => updateLine(node, line, before?.at === line.at, film),
    );
    setText(byId("log-count"), String(shown.length));
    byId("log-none").hidden = shown.length > 0;
    setText(
      byId("log-none"),
      lines.length
        ? `Nothing is recorded about ${find ? `“${find}”` : unit}.`
        : "Units were moved; no game was played.",
    );
  }
  markNow(replay, body);
}

/** @type {() => HTMLElement} */
function makeLine() {
  const line = element("li", "button");
  const button = /** @type {HTMLElement} */ (line.children[0]);
  button.append(...["time", "b", "span", "span", "i"].map((tag) => element(tag)));
  setAttr(button.children[1], "aria-hidden", "true"); // the sentence repeats its sign
  button.children[3].className = "dice";
  separate(button);
  line.append(makeRuleNumber());
  return line;
}

/** Updates a line, which may follow another of its action. @type {(node: HTMLElement, line: Line, follows: boolean, film: import("./film.js").Film) => void} */
function updateLine(node, { at, key, kind, text, dice, note, rule, evidence }, follows, film) {
  const [time, mark, said, faces, noted] = /** @type {HTMLElement[]} */ ([...node.children[0].children]);
  const moment = film.facts?.about.moments[kind] ?? kind;
  const isOwn = !follows || moment === "turn";
  setAttr(node, "class", `of-${moment}${isOwn ? "" : " follows"}${evidence.length ? " drawn" : ""}`);
  setAttr(node, "data-at", String(at));
  setAttr(node.children[0], "data-line", key);
  setText(time, clock(film.entries[at].t));
  setText(mark, MARKS[moment] ?? "");
  setText(said, text);
  renderDice(faces, dice?.values ?? [], "", dice?.sides);
  setText(noted, note);
  updateRuleNumber(/** @type {HTMLElement} */ (node.children[1]), rule, film.facts?.about.rules);
}

/** Marks the lines that are shown, yet to come, or taken back. @type {(replay: Replay, body: HTMLElement) => void} */
function markNow({ film, at, looked }, body) {
  /** @type {Element | null} */
  let latest = null;
  for (const node of body.children) {
    const place = Number(node.getAttribute("data-at"));
    const isLooked = node.children[0].getAttribute("data-line") === looked;
    mark(node, "future", place > at);
    mark(node, "undone", film.isUndone(place, at));
    mark(node, "looked", isLooked);
    if (place <= at) latest = node;
  }
  const isNew = latest !== null && !latest.classList.contains("now");
  for (const node of body.querySelectorAll(".now")) setNow(node, node === latest);
  if (latest) setNow(latest, true);
  if (isNew && latest instanceof HTMLElement) scrollTo(latest);
}

/** @type {(line: Element, isNow: boolean) => void} */
function setNow(line, isNow) {
  mark(line, "now", isNow);
  setAttr(line, "aria-current", isNow ? "true" : null);
}

/** Scrolls to a line, repeatedly until it stays in place. @type {(line: HTMLElement) => void} */
function scrollTo(line) {
  const scroller = byId("log-scroll");
  if (scroller.matches(":hover, :focus-within")) return;
  let [left, height, calm] = [MOST_SCROLLS, 0, 0];
  const centre = () => {
    if (!line.classList.contains("now")) return;
    const [box, own] = [scroller.getBoundingClientRect(), line.getBoundingClientRect()];
    // Shows the beginning of a line that is taller than the log.
    scroller.scrollTop += own.top - box.top - Math.max(0, box.height - own.height) / 2;
    calm = scroller.scrollHeight === height ? calm + 1 : 0;
    height = scroller.scrollHeight;
    left -= 1;
    if (left && calm < CALM) requestAnimationFrame(centre);
  };
  centre();
}

/** @type {(node: Element, name: string, isOn: boolean) => void} */
function mark(node, name, isOn) {
  if (node.classList.contains(name) !== isOn) node.classList.toggle(name, isOn);
}
