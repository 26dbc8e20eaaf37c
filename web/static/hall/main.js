/** The page of a hall: its tables, kept up to date by a stream or by polling. */
import { byId, element, setAttr, setText, updateChildren } from "../shared/dom.js";

/**
 * @typedef {{name: string, figure: string, colour: number}} Side  `colour` is its number in the palette
 * @typedef {{entry: number, words: string, sides: Side[], turn: string, active: string | null, is_over: boolean}} Standing
 * @typedef {{id: string, name: string, title: string, started_at: string, is_playing: boolean, standing: Standing}} Table
 * @typedef {{version: number, server: string, trouble: string, has_ended: boolean, tables: Table[]}} Hall
 */

/** Tables that have ended; the stream sends them only when there is a new one. @type {Table[]} */
let ended = [];
/** Whether nothing has been shown yet. */
let isFirst = true;

const ASK_AGAIN_MS = 3000;
const LOST = "The hall's own server does not answer; this is the last known state.";

render(JSON.parse(byId("hall-now").textContent ?? ""));
listen();

function listen() {
  const stream = new EventSource("/api/hall/events");
  stream.addEventListener("hall", ({ data }) => render(JSON.parse(data)));
  stream.onerror = () => {
    trouble(LOST);
    if (stream.readyState === EventSource.CLOSED) setTimeout(ask, ASK_AGAIN_MS);
  };
}

/** Polls, for when the server has no stream left. */
async function ask() {
  try {
    render(await (await fetch("/api/hall")).json());
  } catch {
    trouble(LOST);
  }
  setTimeout(ask, ASK_AGAIN_MS);
}

/** @type {(hall: Hall) => void} */
function render({ server, trouble: words, has_ended, tables }) {
  const playing = tables.filter((table) => table.is_playing);
  if (has_ended) ended = tables.filter((table) => !table.is_playing);
  trouble(words);
  const many = playing.length === 1 ? "1 table is" : `${playing.length || "No"} tables are`;
  setText(byId("count"), `${many} playing now`);
  setText(byId("server"), server);
  byId("none").hidden = playing.length + ended.length > 0;
  byId("earlier").hidden = ended.length === 0;
  // Where nobody plays, earlier games are all that there is to see.
  if (isFirst) /** @type {HTMLDetailsElement} */ (byId("earlier")).open = playing.length === 0;
  isFirst = false;
  setText(byId("earlier-count"), `(${ended.length})`);
  updateChildren(byId("playing"), playing, ({ id }) => id, makeCard, renderCard);
  updateChildren(byId("ended"), ended, ({ id }) => id, makeCard, renderCard);
}

/** @type {(words: string) => void} */
function trouble(words) {
  byId("trouble").hidden = words === "";
  setText(byId("trouble"), words);
}

/** @type {() => HTMLElement} */
function makeCard() {
  const card = element("li", "a");
  const [link] = card.children;
  const picture = /** @type {HTMLImageElement} */ (element("img"));
  picture.className = "shown";
  picture.loading = "lazy";
  picture.addEventListener("error", () => {
    picture.style.visibility = "hidden";
  });
  picture.addEventListener("load", () => {
    picture.style.visibility = "";
  });
  const said = element("div", "p", "h2", "p", "ul", "p");
  said.className = "said";
  const [when, title, about, sides, words] = said.children;
  [when.className, about.className, sides.className, words.className] = ["when", "about", "sides", "words"];
  when.append(element("span"), element("span"));
  title.setAttribute("dir", "auto");
  link.append(picture, said);
  return card;
}

/** @type {(node: HTMLElement, table: Table) => void} */
function renderCard(node, table) {
  const { id, is_playing, standing } = table;
  const [link] = node.children;
  const [picture, said] = link.children;
  const [when, title, about, sides, words] = said.children;
  const [now, turn] = when.children;
  setAttr(link, "href", `/tables/${encodeURIComponent(id)}/replay`);
  setAttr(picture, "src", `/api/hall/${encodeURIComponent(id)}/table.jpg?entry=${standing.entry}`);
  setAttr(picture, "alt", "");
  setAttr(now, "class", is_playing && !standing.is_over ? "now" : "now ended");
  setText(now, standing.is_over ? "over" : is_playing ? "playing" : "away");
  setText(turn, standing.turn);
  setAttr(title, "title", titleOf(table));
  setText(title, titleOf(table));
  setText(about, `${table.title} · since ${begun(table.started_at)}`);
  updateChildren(
    sides,
    standing.sides,
    ({ name }) => name,
    makeSide,
    (side, of) => renderSide(side, of, standing),
  );
  setText(words, standing.words);
}

/** A table's name, or else who plays at it. @type {(table: Table) => string} */
function titleOf({ name, title, standing: { sides } }) {
  return name || sides.map((side) => side.name).join(" against ") || title;
}

/** @type {() => HTMLElement} */
function makeSide() {
  const side = element("li", "span", "b", "i");
  side.children[0].setAttribute("dir", "auto");
  return side;
}

/** @type {(node: HTMLElement, side: Side, standing: Standing) => void} */
function renderSide(node, { name, figure, colour }, { active }) {
  const [called, standing, turn] = node.children;
  setAttr(node, "class", `side side-${colour}`);
  setText(called, name);
  setText(standing, figure);
  setText(turn, name === active ? "active" : "");
}

/** @type {(at: string) => string} */
function begun(at) {
  return new Date(at).toLocaleString(undefined, { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });
}
