/** The log of the game, in its own tab: each line with its rule, its drawing, and its corrections. */
import { CLICK, byId, disable, element, makeButton, setAttr, setText, updateChildren } from "../shared/dom.js";
import { listenToHover, onClick, onClickWithin, slidePanel } from "../shared/events.js";
import { sentence } from "../shared/text.js";
import { makeRuleNumber, updateRuleNumber } from "../rulings/rule_number.js";
import { groupWords, makeDie, renderDice } from "./dice.js";
import { closeLine, hasRoomForAll, latestChosen, latestRoll, playing } from "./state.js";

/** @typedef {import("./state.js").State} State */
/** @typedef {import("./state.js").LogLine} LogLine */
/** @typedef {import("./commands.js").Commands} Commands */

const MOST_LINES = 30;
/** How many lines of the latest action to show beside the question, and with room for all. */
const MOST_LATEST = { usual: 4, whole: 8 };

/** Updates the log, the latest action first. @type {(state: State) => void} */
export function renderGameLog(state) {
  const all = latestFirst(state, playing(state)?.log ?? []);
  const { find, showsUndone, wholeLog } = state.game;
  /** @type {Row[]} */
  const folded = find ? all.filter(({ happened }) => isAbout(happened, find)) : withFolds(all, showsUndone);
  const shown = wholeLog || find ? folded : folded.slice(0, MOST_LINES);
  renderTabs(state, all.length);
  renderLatest(state);
  setText(byId("game-log-none"), find && !folded.length ? `Nothing about “${find}” so far.` : "");
  updateChildren(
    byId("game-log-body"),
    shown,
    ({ key }) => key,
    ({ happened }) => (happened ? makeLine() : makeFold()),
    (line, { key, happened, count, follows }) => {
      if (happened) updateLine(line, key, happened, follows ?? false, state);
      else updateFold(line, count ?? 0, state.game.showsUndone);
    },
  );
  byId("game-log-more").hidden = shown.length === folded.length;
}

/** Shows the game or its log; a phone shows one below the other. @type {(state: State, lines: number) => void} */
function renderTabs({ game }, lines) {
  byId("game-tabs").hidden = byId("game-log").hidden = lines === 0;
  byId("panel").classList.toggle("on-log", lines > 0 && game.tab === "tab-log");
  setText(byId("game-log-count"), lines ? String(lines) : "");
  for (const id of TABS) {
    const isShown = id === game.tab;
    setAttr(byId(id), "aria-selected", String(isShown));
    setAttr(byId(id), "tabindex", isShown ? "0" : "-1");
  }
}

const TABS = ["tab-game", "tab-log"];

/** Updates the results of the latest action. @type {(state: State) => void} */
function renderLatest(state) {
  const view = playing(state);
  const log = view?.log ?? [];
  const { moments } = state.facts.about;
  const first = latestChosen(log)?.deed ?? Infinity;
  const latest = log.filter(({ deed, undone }) => deed >= first && !undone);
  // The strip names the phase.
  const shown = latest.filter(({ kind }) => !["detail", "phase"].includes(moments[kind]));
  const isWhole = hasRoomForAll(view);
  // An attack is over when whoever is asked has nothing to answer or to roll.
  const goesOn = !view?.is_yours || view.actions.some(({ group, dice }) => group === "answer" || dice !== null);
  const cause = goesOn ? causeOf(log, latest, moments) : [];
  const all = isWhole ? [...cause, ...latest] : shown.length ? shown : latest;
  const lines = all.slice(0, isWhole ? MOST_LATEST.whole : MOST_LATEST.usual);
  const rolled = view ? latestRoll(view) : undefined;
  byId("game-cast-for").classList.toggle("repeated", rolled !== undefined && lines.includes(rolled));
  byId("game-latest").classList.toggle("whole", isWhole);
  // The dice need not repeat the words above them.
  const roll = view && latestRoll(view);
  byId("game-cast").classList.toggle(
    "repeated",
    lines.slice(0, isWhole ? MOST_LATEST.whole : 2).some((line) => line === roll),
  );
  updateChildren(
    byId("game-latest"),
    lines.map(({ text }, index) => ({ text, index })),
    ({ index }) => String(index),
    () => element("li"),
    (line, { text }) => setText(line, sentence(text)),
  );
  fitLatest(byId("game-latest"), all.length > lines.length);
}

/** The attack that the latest lines continue, if none of them is one: nobody has passed or moved since. @type {(log: LogLine[], latest: LogLine[], moments: Record<string, string>) => LogLine[]} */
export function causeOf(log, latest, moments) {
  const marks = ["attack", "phase", "turn"];
  const isMark = (/** @type {LogLine} */ { kind, undone }) =>
    !undone && (marks.includes(moments[kind]) || kind === "pass" || kind === "move");
  const cause = log.findLast(isMark);
  return cause && moments[cause.kind] === "attack" && !latest.includes(cause) ? [cause] : [];
}

/** In sums longer than this, each term has its own line. */
const LONG = 30;

/** Updates a list of sums: each total, and its terms beside it, or below it if one is long. @type {(node: Element, sums: import("./state.js").Sum[]) => void} */
export function renderSums(node, sums) {
  const isLong = sums.some(({ terms }) => terms.some(({ length }) => length > LONG));
  updateChildren(
    node,
    sums.map((sum, index) => ({ ...sum, index })),
    ({ index }) => String(index),
    () => element("div", "dt", "dd"),
    (row, { title, terms }) => {
      setAttr(row, "class", isLong ? "long" : null);
      setText(row.children[0], title);
      updateChildren(
        row.children[1],
        terms,
        String,
        () => element("span"),
        (term, words) => setText(term, words),
      );
    },
  );
}

/** Refers to the log for lines without room here; measured only when words or room change. @type {(list: HTMLElement, isCut: boolean) => void} */
function fitLatest(list, isCut) {
  const fitted = `${list.textContent} ${list.clientWidth} ${list.className}`;
  if (list.dataset.fitted === fitted) return;
  list.dataset.fitted = fitted;
  byId("game-latest-more").hidden = !isCut && list.scrollHeight <= list.clientHeight + 1; // the two are rounded differently
}

/** Whether a line contains some words. @type {(line: LogLine, words: string) => boolean} */
function isAbout({ text, rule, note }, words) {
  return `${text} ${rule ?? ""} ${note}`.toLowerCase().includes(words.toLowerCase());
}

/** @typedef {{key: string, happened: LogLine, follows: boolean}} LogEntry  a line, and whether it follows another of its action */
/** @typedef {{key: string, happened?: LogLine, follows?: boolean, count?: number}} Row  a line, or a fold over a number of undone actions */

/** The lines by action, the latest first; those of an action in their order. @type {(state: State, log: LogLine[]) => LogEntry[]} */
function latestFirst(state, log) {
  /** @type {LogEntry[][]} */
  const actions = [];
  for (const [index, happened] of log.entries()) {
    // A turn or a phase that begins with an action heads the lines after it, not before it.
    const isHead = ["turn", "phase"].includes(state.facts.about.moments[happened.kind]);
    const follows = happened.deed === log[index - 1]?.deed && !isHead;
    if (!follows) actions.push([]);
    actions.at(-1)?.push({ key: `log ${index}`, happened, follows });
  }
  return actions.reverse().flat();
}

/** @type {(state: State, line: LogLine) => boolean} */
function isNewTurn(state, { kind }) {
  return state.facts.about.moments[kind] === "turn";
}

/** Folds each run of undone actions into a row that opens. @type {(lines: LogEntry[], isOpen: boolean) => Row[]} */
function withFolds(lines, isOpen) {
  /** @type {Row[]} */
  const rows = [];
  for (let first = 0; first < lines.length;) {
    let end = first;
    while (end < lines.length && lines[end].happened.undone) end += 1;
    const run = lines.slice(first, end);
    if (run.length) {
      const count = new Set(run.map(({ happened }) => happened.deed)).size;
      rows.push({ key: `fold ${run[0].key}`, count }, ...(isOpen ? run : []));
      first = end;
    } else {
      rows.push(lines[first]);
      first += 1;
    }
  }
  return rows;
}

/** @type {() => HTMLElement} */
function makeFold() {
  const line = element("li");
  const button = makeButton();
  button.className = "more";
  setAttr(button, "data-fold", "");
  line.className = "fold";
  line.append(button);
  return line;
}

/** @type {(line: HTMLElement, count: number, isOpen: boolean) => void} */
function updateFold(line, count, isOpen) {
  setText(line.children[0], `${isOpen ? "▾" : "▸"} ${count} taken back`);
  setAttr(line.children[0], "aria-expanded", String(isOpen));
}

/** @type {() => HTMLElement} */
function makeLine() {
  const line = element("li", "div");
  const [words] = /** @type {HTMLElement[]} */ ([...line.children]);
  const actions = element("div");
  line.append(makeRuleNumber(), element("dl"), actions);
  setAttr(words, "role", "button");
  setAttr(words, "tabindex", "0");
  words.className = "words";
  words.append(...["b", "span", "span", "i"].map((tag) => element(tag)));
  words.children[2].className = "dice";
  actions.className = "line-actions";
  return line;
}

/** @type {(line: HTMLElement, key: string, happened: LogLine, follows: boolean, state: State) => void} */
function updateLine(line, key, happened, follows, state) {
  const { kind, text, rule, note, undone, evidence, dice, facts } = happened;
  const [words, number, sums, actions] = /** @type {HTMLElement[]} */ ([...line.children]);
  const [mark, said, faces, noted] = /** @type {HTMLElement[]} */ ([...words.children]);
  // The first line of an action carries the note for all its lines.
  const isOverruled = kind === "overrule" || (!follows && note.startsWith("overruled"));
  const marks = [isOverruled ? "overrule" : "", undone ? "undone" : ""].filter(Boolean);
  const isOpen = state.game.line === key;
  setAttr(
    line,
    "class",
    [
      ...marks,
      isNewTurn(state, happened) ? "new-turn" : "",
      follows ? "follows" : "",
      state.game.looked === key ? "looked" : "",
      evidence.length ? "drawn" : "",
      facts.sums?.length ? "summed" : "",
    ]
      .join(" ")
      .trim(),
  );
  setAttr(words, "data-log", key);
  setAttr(words, "aria-expanded", String(isOpen));
  setText(mark, [isOverruled ? "overrule" : "", undone ? "taken back" : ""].filter(Boolean).join(", "));
  setText(said, sentence(text));
  renderDice(faces, dice?.values ?? [], "", dice?.sides);
  setText(noted, follows ? "" : note);
  updateRuleNumber(number, rule, state.facts.about.rules);
  setAttr(sums, "class", "sums");
  renderSums(sums, (isOpen && facts.sums) || []);
  actions.hidden = !isOpen;
  if (isOpen) renderActions(actions, happened, state);
}

/** Whether a line's action may be taken back or corrected. @type {(state: State, line: LogLine) => boolean} */
function mayCorrect(state, { undone, kind }) {
  return Boolean(playing(state)?.can_undo) && !undone && kind !== "put-back";
}

/** Updates the buttons of a line: take it back, correct its dice or its choice. @type {(node: HTMLElement, happened: LogLine, state: State) => void} */
function renderActions(node, happened, state) {
  const { undone, deed, dice, evidence } = happened;
  const { busy, fixing, choosing } = state.game;
  if (!node.children.length) node.append(...makeActions());
  const [hint, back, open, faces, choices, why, fix, other] = /** @type {HTMLElement[]} */ ([...node.children]);
  const may = mayCorrect(state, happened);
  const isFixing = may && fixing?.action === deed;
  setText(hint, undone ? "Taken back; it stays in the record." : evidence.length ? "Drawn on the table." : "");
  back.hidden = !may;
  setAttr(back, "data-back", String(deed));
  open.hidden = !may || !dice || isFixing;
  setAttr(open, "data-fix-open", JSON.stringify({ action: deed, values: dice?.values ?? [] }));
  const known = may && choosing?.action === deed ? choosing : null;
  const offers = known?.isOpen ? known.offers : [];
  setAttr(other, "data-others", "");
  other.hidden = !known?.offers.length || known.isOpen;
  if (offers.length) setText(hint, "What was meant? Everything after it is replayed with the same dice.");
  updateChildren(
    choices,
    offers.map(({ label }, index) => ({ label, index })),
    ({ index, label }) => `${index} ${label}`,
    makeButton,
    (button, { label, index }) => {
      setAttr(button, "data-other", String(index));
      setText(button, label);
      disable(button, busy !== null);
    },
  );
  for (const part of [faces, fix]) part.hidden = !isFixing;
  if (isFixing) setText(hint, `${CLICK} a die to turn it to the next face; the last is followed by the first.`);
  choices.hidden = !offers.length;
  why.hidden = !isFixing && !offers.length;
  for (const button of [back, open, fix, other]) disable(button, busy !== null);
  if (!isFixing || !fixing) return;
  const all = { whose: "", needs: null, goal: "", places: [...fixing.values.keys()] };
  updateChildren(
    faces,
    known?.dice.length ? known.dice : [all],
    ({ places }) => String(places),
    () => element("div", "div", "span"),
    (row, group) => updateFaces(row, group, fixing.values, dice?.sides ?? 6),
  );
}

/** Updates dice of one kind that are being corrected. @type {(row: HTMLElement, group: import("./state.js").AlikeDice, values: number[], sides: number) => void} */
function updateFaces(row, group, values, sides) {
  const [dice, words] = row.children;
  setAttr(row, "class", "alike");
  setAttr(dice, "class", "dice");
  updateChildren(
    dice,
    group.places.map((index) => ({ index, face: values[index] })),
    ({ face, index }) => `${index} ${face}`,
    ({ face }) => makeFace(face, sides),
    (button, { index }) => setAttr(button, "data-turn", String(index)),
  );
  setText(words, groupWords(group, sides));
}

/** @type {() => HTMLElement[]} */
function makeActions() {
  const [hint, back, open, faces, choices, why, fix, other] = [
    "span",
    "button",
    "button",
    "div",
    "div",
    "input",
    "button",
    "button",
  ].map((tag) => element(tag));
  hint.className = "hint";
  setText(back, "Go back to before this");
  setText(open, "Correct the dice …");
  faces.className = "dice turned";
  setAttr(faces, "role", "group");
  setAttr(faces, "aria-label", "Tap each die until it shows the right face");
  for (const [name, value] of Object.entries({
    type: "text",
    maxlength: "200",
    placeholder: "why? (optional)",
    "aria-label": "Reason for the correction",
  }))
    setAttr(why, name, value);
  setAttr(fix, "data-fix", "");
  fix.className = "main";
  setText(fix, "Correct (overrule)");
  setText(other, "Correct the choice …");
  choices.className = "choices";
  setAttr(choices, "role", "group");
  setAttr(choices, "aria-label", "What was meant; a tap records an overrule");
  return [hint, back, open, faces, choices, why, fix, other];
}

/** @type {(face: number, sides?: number) => HTMLElement} */
function makeFace(face, sides) {
  const button = element("button");
  setAttr(button, "aria-label", `shows ${face}; tap for the next face`);
  button.append(makeDie(face, sides));
  return button;
}

/** @type {(commands: Commands) => void} */
export function listenToLog(commands) {
  const { game } = commands.state;
  const turnTo = (/** @type {string} */ tab) =>
    commands.change(() => {
      if (game.tab !== tab) closeLine(game);
      game.tab = tab;
    });
  for (const tab of TABS) onClick(tab, () => turnTo(tab));
  onClick("game-latest-more", () => turnTo("tab-log"));
  byId("game-tabs").addEventListener("keydown", (event) => {
    if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
    event.preventDefault();
    event.stopPropagation();
    const other = TABS.find((tab) => tab !== game.tab) ?? game.tab;
    turnTo(other);
    byId(other).focus();
  });
  const find = /** @type {HTMLInputElement} */ (byId("game-log-find"));
  find.addEventListener("input", () =>
    commands.change(() => {
      game.find = find.value.trim();
    }),
  );
  const body = byId("game-log-body");
  listenToHover(body, "data-log", (key) =>
    commands.change(() => {
      game.looked = key ?? game.line;
    }),
  );
  const open = (/** @type {string} */ key) =>
    commands.change(() => {
      game.line = game.line === key ? null : key;
      Object.assign(game, { looked: game.line, fixing: null, choosing: null });
      if (game.line !== null) uncoverTable(body);
      const happened = playing(commands.state)?.log[Number(game.line?.slice("log ".length))];
      if (happened && mayCorrect(commands.state, happened)) void commands.loadCorrections(key, happened.deed);
    });
  onClickWithin("game-log-body", "data-log", open);
  body.addEventListener("keydown", (event) => {
    const line = event.target instanceof Element ? event.target.getAttribute("data-log") : null;
    if (line === null || (event.key !== "Enter" && event.key !== " ")) return;
    event.preventDefault();
    event.stopPropagation();
    open(line);
  });
  onClick("game-log-more", () =>
    commands.change(() => {
      game.wholeLog = true;
    }),
  );
  onClickWithin("game-log-body", "data-back", (action) => commands.undoTo(Number(action)));
  onClickWithin("game-log-body", "data-fold", () =>
    commands.change(() => {
      game.showsUndone = !game.showsUndone;
    }),
  );
  onClickWithin("game-log-body", "data-fix-open", (fixing) =>
    commands.change(() => {
      game.fixing = JSON.parse(fixing);
    }),
  );
  onClickWithin("game-log-body", "data-turn", (index) => commands.change(() => turnDie(commands, Number(index))));
  onClickWithin("game-log-body", "data-fix", (_, button) => {
    if (game.fixing) commands.correct(game.fixing.action, game.fixing.values, whyBy(button));
  });
  onClickWithin("game-log-body", "data-others", () =>
    commands.change(() => {
      if (game.choosing) game.choosing = { ...game.choosing, isOpen: true };
    }),
  );
  onClickWithin("game-log-body", "data-other", (index, button) => {
    const offer = game.choosing?.offers[Number(index)];
    if (game.choosing && offer) void commands.correctChoice(game.choosing.action, offer.action, whyBy(button));
  });
}

/** The reason typed beside a button. @type {(button: Element) => string} */
function whyBy(button) {
  return button.closest(".line-actions")?.querySelector("input")?.value.trim() ?? "";
}

/** Slides the panel of a phone off the table, where the line is drawn. @type {(body: HTMLElement) => void} */
function uncoverTable(body) {
  const panel = byId("panel");
  if (!panel.classList.contains("open")) return;
  slidePanel(false);
  requestAnimationFrame(() =>
    requestAnimationFrame(() => body.querySelector('[aria-expanded="true"]')?.scrollIntoView({ block: "center" })),
  );
}

/** Turns a die that is being corrected to its next face. @type {(commands: Commands, index: number) => void} */
function turnDie({ state }, index) {
  const { fixing } = state.game;
  if (!fixing) return;
  const dice = playing(state)?.log.find((line) => line.deed === fixing.action && line.dice)?.dice;
  const { sides = 6, lowest = 1 } = dice ?? {};
  state.game.fixing = {
    ...fixing,
    values: fixing.values.map((face, at) => (at === index ? ((face - lowest + 1) % sides) + lowest : face)),
  };
}
