/** The panel of a branch: its measurements and odds. */
import { byId, element, makeButton, setAttr, setText, updateChildren } from "../shared/dom.js";
import { onClick, onClickWithin, openHelp } from "../shared/events.js";
import { sentence } from "../shared/text.js";
import { choose, clear, layTape } from "../board/choosing.js";
import { inUnit, lengthWords, written } from "../board/measuring.js";
import { TURN_DEG } from "../board/moves.js";
import { fullName, isPoint, pointWords, unitOf } from "../board/things.js";
import { listenToSheet } from "../rulings/commands.js";
import { renderRulings } from "../rulings/panel.js";
import { beginBranch, endBranch, resetBranch } from "./branch.js";
import { clock } from "./lines.js";
import { askOdds } from "./queries.js";

/** @typedef {import("../game/state.js").State} State */
/** @typedef {import("./state.js").Replay} Replay */
/** @typedef {import("./branch.js").Odds} Odds */
/** @typedef {import("./source.js").Source} Source */

const ANSWERS = { yes: "✓ yes", no: "✗ no", too_close: "≈ too close to call" };

/** Updates the panel of the branch. @type {(state: State, replay: Replay) => void} */
export function renderWhatIf(state, replay) {
  const { branch } = replay;
  document.body.classList.toggle("branching", branch !== null);
  byId("branch-banner").hidden = branch === null;
  byId("what-if").hidden = branch === null;
  const rulings = document.getElementById("rulings");
  if (rulings) rulings.hidden = branch === null || state.chosen.length === 0;
  if (!branch) return;
  const entry = replay.film.entries[replay.at];
  setText(byId("branch-from"), `from ${clock(entry?.t ?? 0)}: nothing is recorded`);
  byId("branch-again").hidden = branch.laid.size === 0;
  setText(byId("what-if-title"), titleOf(state));
  setText(byId("what-if-error"), state.tape?.error ?? branch.error);
  renderMeasured(state);
  if (!state.facts.rules) return;
  renderRulings(state);
  renderOdds(state, branch.odds);
}

/** @type {(state: State) => string} */
function titleOf(state) {
  if (!state.chosen.length) return "Choose units, or drag them";
  return state.chosen
    .map((thing) => (isPoint(thing) ? pointWords(state, thing) : fullName(state, thing.replace(/^\w+:/, ""))))
    .join(" – ");
}

/** @type {(state: State) => void} */
function renderMeasured({ tape, facts }) {
  const measured = tape?.measured;
  const sigma = measured?.sigma_mm ? lengthWords(measured) : `${measured?.distance_mm.toFixed(0)} mm`;
  const rows = measured ? [{ key: "length", text: written(facts, measured.distance_mm), more: sigma }] : [];
  const within = (measured?.within ?? []).map(({ range = 0, answer }) => ({
    key: `${range}`,
    text: `within ${inUnit(facts, range)}`,
    more: ANSWERS[answer],
  }));
  updateChildren(
    byId("what-if-measured"),
    [...rows, ...within],
    ({ key }) => key,
    () => element("p", "b", "span"),
    (row, { key, text, more }) => {
      setAttr(row, "class", key === "length" ? "measured" : "within");
      setText(row.children[0], text);
      setText(row.children[1], more);
    },
  );
}

/** The odds that can be asked for the chosen units. @type {(state: State) => {label: string, wanted: object}[]} */
export function oddsOffered(state) {
  const [a, b] = state.chosen.map((thing) => unitOf(state, thing));
  const marks = state.game.view?.marks?.[a?.id ?? ""] ?? [];
  const named = (/** @type {string} */ text) =>
    text
      .replace("{a}", a?.id ?? "")
      .replace("{b}", b?.id ?? "")
      .replace("{active}", state.rulings.active);
  const isOpen = {
    table: true,
    unit: a !== undefined && (!b || b.side === a.side),
    enemies: a !== undefined && b !== undefined && b.side !== a.side,
  };
  return state.facts.about.odds
    .filter(({ of, marker }) => isOpen[of] && (!marker || marks.some(({ kind }) => kind === marker)))
    .map(({ label, wanted }) => ({
      label: named(label),
      wanted: Object.fromEntries(Object.entries(wanted).map(([key, value]) => [key, named(value)])),
    }));
}

/** @type {(state: State, odds: Odds | null) => void} */
function renderOdds(state, odds) {
  updateChildren(
    byId("odds-offers"),
    oddsOffered(state),
    ({ label }) => label,
    makeButton,
    (button, { label, wanted }) => {
      setAttr(button, "data-wanted", JSON.stringify(wanted));
      setText(button, label);
    },
  );
  const tables = (odds?.tables ?? []).map((table) => ({ key: JSON.stringify(table), table }));
  updateChildren(
    byId("odds"),
    tables,
    ({ key }) => key,
    ({ table }) => makeTable(table),
    () => {},
  );
}

/** @type {(table: Odds["tables"][number]) => HTMLElement} */
function makeTable({ title, caption = "", heads, rows }) {
  const table = element("table", "caption", "thead", "tbody");
  table.className = "odds";
  setText(table.children[0], caption ? `${title}. ${sentence(caption)}` : title);
  table.children[1].append(row("th", heads));
  for (const cells of rows) table.children[2].append(row("td", cells));
  return table;
}

/** @type {(tag: string, texts: string[]) => HTMLElement} */
function row(tag, texts) {
  const made = element("tr", ...texts.map(() => tag));
  texts.forEach((text, index) => setText(made.children[index], text));
  return made;
}

/** Listens to the page; returns the keys of a branch. @type {(state: State, replay: Replay, source: Source, moves: import("./branch.js").BranchMoves, changed: () => void) => import("../shared/keyboard.js").Keys} */
export function listenToBranch(state, replay, source, moves, changed) {
  const act = (/** @type {() => void} */ change) => () => {
    change();
    changed();
  };
  const end = act(() => endBranch(state, replay));
  onClick(
    "branch",
    act(() => beginBranch(state, replay)),
  );
  onClick("branch-end", end);
  onClick(
    "branch-again",
    act(() => {
      resetBranch(state, replay);
      layTape(state);
    }),
  );
  if (state.facts.rules) listenToOdds(replay, source, changed);
  return {
    ...(state.facts.rules ? listenToSheet(state, changed) : {}),
    w: end,
    q: (event) => moves.turn(event.shiftKey ? TURN_DEG.fine : TURN_DEG.coarse),
    e: (event) => moves.turn(event.shiftKey ? -TURN_DEG.fine : -TURN_DEG.coarse),
    Enter: act(() => chooseFocused(state)),
    Escape: act(() => {
      if (state.ghost) moves.cancel();
      else if (state.chosen.length) clear(state);
      else endBranch(state, replay);
    }),
    "?": openHelp,
  };
}

/** @type {(state: State) => void} */
function chooseFocused(state) {
  const thing = document.activeElement?.getAttribute("data-thing");
  if (thing) choose(state, thing);
}

/** @type {(replay: Replay, source: Source, changed: () => void) => void} */
function listenToOdds(replay, source, changed) {
  onClickWithin("odds-offers", "data-wanted", (wanted) => {
    if (replay.branch) void askOdds(replay.branch, source, JSON.parse(wanted)).then(changed);
  });
}
