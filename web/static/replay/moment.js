/** The moment that is shown: its lines, its pictures, and the chosen unit. */
import { byId, element, separate, setAttr, setText, updateChildren } from "../shared/dom.js";
import { fullName, sideClass, sideName } from "../board/things.js";
import { renderDice } from "../game/dice.js";
import { markerWords } from "../game/words.js";
import { makeRuleNumber, updateRuleNumber } from "../rulings/rule_number.js";
import { clock } from "./lines.js";

/** @typedef {import("./state.js").Replay} Replay */
/** @typedef {import("./lines.js").Line} Line */
/** @typedef {import("../game/state.js").State} State */
/** @typedef {import("./source.js").Source} Source */

const PICTURE_WORDS = /** @type {Record<string, string>} */ ({
  table: "the table",
  before: "before",
  after: "after",
  plain: "as the camera saw it",
  drawn: "with the drawing",
});

const ORDER = Object.keys(PICTURE_WORDS);

/** The lines of the moment: the one being looked at, or all of its entry. @type {(replay: Replay) => Line[]} */
export function linesAt({ lines, at, looked, film }) {
  const own = lines.filter((line) => line.at === at);
  const all = own.length ? own : lines.filter((line) => line.at === film.toldAt(at));
  const alone = all.filter(({ key }) => key === looked);
  return alone.length ? alone : all;
}

/** Updates the words and pictures of the moment. @type {(replay: Replay, pictureUrl: (entry: number, kind: string) => string | null) => void} */
export function renderMoment(replay, pictureUrl) {
  const entry = replay.film.entries[replay.at];
  setText(byId("moment-time"), entry ? clock(entry.t) : "");
  setText(byId("moment-number"), entry ? `entry ${entry.n}` : "");
  const lines = linesAt(replay);
  byId("moment-quiet").hidden = lines.length > 0;
  setAttr(byId("moment-lines"), "aria-live", replay.playing ? "off" : "polite"); // screen readers read steps, but not a running film
  updateChildren(
    byId("moment-lines"),
    lines,
    ({ key }) => key,
    makeLine,
    (node, line) => updateLine(node, line, replay.film.facts?.about.rules),
  );
  renderPictures(replay, lines, pictureUrl);
}

/** @type {() => HTMLElement} */
function makeLine() {
  const line = element("li", "span", "span", "i");
  line.append(makeRuleNumber());
  separate(line);
  line.children[1].className = "dice";
  return line;
}

/** @type {(node: HTMLElement, line: Line, words: import("../rulings/rule_number.js").RuleWords | undefined) => void} */
function updateLine(node, { text, dice, note, rule }, words) {
  const [said, faces, noted, number] = /** @type {HTMLElement[]} */ ([...node.children]);
  setText(said, text);
  renderDice(faces, dice?.values ?? [], "", dice?.sides);
  setText(noted, note);
  updateRuleNumber(number, rule, words);
}

/** Updates the camera's pictures of the moment. @type {(replay: Replay, lines: Line[], pictureUrl: (entry: number, kind: string) => string | null) => void} */
function renderPictures({ film, at }, lines, pictureUrl) {
  const numbers = [...new Set([film.entries[at]?.n, film.entries[lines[0]?.at ?? at]?.n])];
  const pictures = numbers.flatMap((number) => film.pictures.get(number) ?? []).filter(({ kind }) => kind !== "table");
  const sorted = pictures.sort((a, b) => ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind));
  const shown = sorted.flatMap(({ entry, kind }) => {
    const url = pictureUrl(entry, kind);
    return url ? [{ key: `${entry} ${kind}`, kind, url }] : [];
  });
  updateChildren(
    byId("moment-pictures"),
    shown,
    ({ key }) => key,
    makePicture,
    (node, { kind, url }) => {
      setAttr(node.children[0].children[0], "src", url);
      setAttr(node.children[0].children[0], "alt", `The camera's picture: ${PICTURE_WORDS[kind] ?? kind}`);
      setText(node.children[1], PICTURE_WORDS[kind] ?? kind);
    },
  );
}

/** @type {() => HTMLElement} */
function makePicture() {
  const figure = element("figure", "button", "figcaption");
  const [button] = figure.children;
  setAttr(button, "title", "Enlarge, or shrink again");
  button.append(element("img"));
  button.addEventListener("click", () => {
    figure.classList.toggle("large");
  });
  return figure;
}

/** Returns the function that loads the camera's picture of the moment. @type {(state: State, replay: Replay, source: Source, changed: () => void) => () => void} */
export function createTablePicture(state, replay, source, changed) {
  /** @type {string | null} the wanted picture; others that arrive late are not shown */
  let wanted = null;
  return () => {
    const picture = replay.film.pictureAt(replay.at);
    const url = state.show.picture && picture ? source.pictureUrl(picture.entry, "table") : null;
    if (url === wanted) return;
    wanted = url;
    void shown(url).then((isThere) => {
      if (wanted !== url) return;
      state.pictureUrl = isThere ? url : null;
      changed();
    });
  };
}

/** Says how old the picture is, if things have moved since. @type {(state: State, replay: Replay) => void} */
export function renderPictureAge(state, replay) {
  const { film, at, branch } = replay;
  const picture = state.show.picture && state.pictureUrl && !branch ? film.pictureAt(at) : null;
  const isOld = picture !== null && film.liesElsewhere(at, picture.at);
  byId("picture-age").hidden = !isOld;
  if (isOld)
    setText(
      byId("picture-age"),
      `The picture is ${span(film.entries[at].t - film.entries[picture.at].t)} older than the units`,
    );
}

/** A duration in words. @type {(seconds: number) => string} */
function span(seconds) {
  if (seconds < 90) return `${Math.max(1, Math.round(seconds))} s`;
  return `${Math.round(seconds / 60)} min`;
}

/** Loads a picture; false if there is none. @type {(url: string | null) => Promise<boolean>} */
async function shown(url) {
  if (!url) return false;
  const image = new Image();
  image.src = url;
  return image.decode().then(
    () => true,
    () => false,
  );
}

/** The id of the chosen unit. @type {(state: State) => string | null} */
export function chosenUnitOf({ chosen }) {
  const [first] = chosen;
  return first?.startsWith("unit:") ? first.slice("unit:".length) : null;
}

/** Updates the words about the chosen unit. @type {(state: State, replay: Replay) => void} */
export function renderUnit(state, replay) {
  const id = chosenUnitOf(state);
  byId("unit").hidden = id === null || replay.branch !== null;
  if (id === null) return;
  const { film, at, trail } = replay;
  const unit = film.tableAt(at).units.find((candidate) => candidate.id === id);
  const side = state.facts.units.find((candidate) => candidate.id === id)?.side ?? unit?.side ?? "";
  setAttr(byId("unit"), "class", `unit-part ${sideClass(state, side)}`);
  setText(byId("unit-title"), fullName(state, id));
  const markers = markerWords(film.standings[at]?.marks?.[id]);
  const stands = unit ? [unit.arm, unit.formation, markers].filter(Boolean).join(", ") : "not on the table now";
  setText(byId("unit-words"), `${sideName(state, side)}: ${stands}`);
  const moves = film.movesOf(id).length - 1;
  setText(byId("unit-moves"), moves > 0 ? `Show every move (${moves})` : "It never moved");
  setAttr(byId("unit-moves"), "aria-pressed", String(trail === id));
  /** @type {HTMLButtonElement} */ (byId("unit-moves")).disabled = moves < 1;
}
