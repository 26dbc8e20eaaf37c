/** What is told of the moment that is shown: its words, its pictures, a link to it. */
import { byId, each, element, put, write } from "../shared/dom.js";
import { renderDice } from "../game/dice.js";
import { clock } from "./lines.js";

/** @typedef {import("./state.js").Replay} Replay */
/** @typedef {import("./lines.js").Line} Line */

const PICTURE_WORDS = /** @type {Record<string, string>} */ ({ table: "the table", before: "before", after: "after", plain: "as the camera saw it", drawn: "with the drawing" });

const ORDER = Object.keys(PICTURE_WORDS);

/** The lines of what is shown: the one that is looked at, or all of its entry. @type {(replay: Replay) => Line[]} */
export function linesAt({ lines, at, looked, film }) {
  const own = lines.filter((line) => line.at === at);
  const told = own.length ? own : lines.filter((line) => line.at === tellingBefore(film, at));
  const alone = told.filter(({ key }) => key === looked);
  return alone.length ? alone : told;
}

/** A position or a picture belongs to the deed before it. @type {(film: import("./film.js").Film, at: number) => number} */
function tellingBefore(film, at) {
  let place = at;
  while (place > 0 && at - place < 4 && ["position", "picture"].includes(film.entries[place]?.kind)) place -= 1;
  return place;
}

/** Bring the words of the moment up to date. @type {(replay: Replay, pictureUrl: (entry: number, kind: string) => string | null) => void} */
export function renderMoment(replay, pictureUrl) {
  const entry = replay.film.entries[replay.at];
  write(byId("moment-time"), entry ? clock(entry.t) : "");
  write(byId("moment-number"), entry ? `entry ${entry.n}` : "");
  const lines = linesAt(replay);
  byId("moment-quiet").hidden = lines.length > 0;
  put(byId("moment-lines"), "aria-live", replay.playing ? "off" : "polite"); // a step is read out, a film is not
  each(byId("moment-lines"), lines, ({ key }) => key, makeLine, updateLine);
  renderPictures(replay, lines, pictureUrl);
}

/** @type {() => HTMLElement} */
function makeLine() {
  const line = element("li", "span", "span", "i", "small");
  line.children[1].className = "dice";
  return line;
}

/** @type {(node: HTMLElement, line: Line) => void} */
function updateLine(node, { text, dice, note, rule }) {
  const [said, faces, noted, by] = /** @type {HTMLElement[]} */ ([...node.children]);
  write(said, text);
  renderDice(faces, dice);
  write(noted, note);
  write(by, rule);
}

/** The camera's pictures of what is shown. @type {(replay: Replay, lines: Line[], pictureUrl: (entry: number, kind: string) => string | null) => void} */
function renderPictures({ film, at }, lines, pictureUrl) {
  const numbers = [...new Set([film.entries[at]?.n, film.entries[lines[0]?.at ?? at]?.n])];
  const kept = numbers.flatMap((number) => film.pictures.get(number) ?? []).filter(({ kind }) => kind !== "table");
  const shown = kept.sort((a, b) => ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind));
  const found = shown.flatMap(({ entry, kind }) => {
    const url = pictureUrl(entry, kind);
    return url ? [{ key: `${entry} ${kind}`, kind, url }] : [];
  });
  each(byId("moment-pictures"), found, ({ key }) => key, makePicture, (node, { kind, url }) => {
    put(node.children[0].children[0], "src", url);
    put(node.children[0].children[0], "alt", `The camera's picture: ${PICTURE_WORDS[kind] ?? kind}`);
    write(node.children[1], PICTURE_WORDS[kind] ?? kind);
  });
}

/** @type {() => HTMLElement} */
function makePicture() {
  const figure = element("figure", "button", "figcaption");
  const [button] = figure.children;
  put(button, "type", "button");
  put(button, "title", "Larger, or smaller again");
  button.append(element("img"));
  button.addEventListener("click", () => { figure.classList.toggle("large"); });
  return figure;
}
