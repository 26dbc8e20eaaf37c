// @ts-check
/** A hall: its tables as they are told of, by a stream or, where there is none, by asking. */
import { each, put, write } from "./keyed.js";
import { byId, element } from "./panel.js";

/**
 * @typedef {{id: string, game: string, started_at: string, is_playing: boolean, entry: number, headline: string, words: string}} Table
 * @typedef {{version: number, server: string, trouble: string, has_ended: boolean, tables: Table[]}} Hall
 */

/** Those that do not play, as they were told last: a stream tells of them where one is new. @type {Table[]} */
let ended = [];

const ASK_AGAIN_MS = 3000;
const LOST = "The hall's own server does not answer; this is what was known last.";

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

/** Where too many listen already there is no stream: ask now and then. */
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
  write(byId("count"), `${many} playing now`);
  write(byId("server"), server);
  byId("none").hidden = playing.length + ended.length > 0;
  byId("earlier").hidden = ended.length === 0;
  write(byId("earlier-count"), `(${ended.length})`);
  each(byId("playing"), playing, ({ id }) => id, makeCard, renderCard);
  each(byId("ended"), ended, ({ id }) => id, makeCard, renderCard);
}

/** @type {(words: string) => void} */
function trouble(words) {
  byId("trouble").hidden = words === "";
  write(byId("trouble"), words);
}

/** @type {() => HTMLElement} */
function makeCard() {
  const card = element("li", "a");
  const [link] = card.children;
  const picture = element("img");
  picture.className = "shown";
  picture.loading = "lazy";
  picture.addEventListener("error", () => { picture.style.visibility = "hidden"; });
  picture.addEventListener("load", () => { picture.style.visibility = ""; });
  const said = element("div", "span", "h2", "p", "p");
  said.className = "said";
  [said.children[2].className, said.children[3].className] = ["headline", "words"];
  link.append(picture, said);
  return card;
}

/** @type {(node: HTMLElement, table: Table) => void} */
function renderCard(node, { id, game, started_at, is_playing, entry, headline, words }) {
  const [link] = node.children;
  const [picture, said] = link.children;
  const [now, title, standing, last] = said.children;
  put(link, "href", `/tables/${encodeURIComponent(id)}/replay`);
  put(picture, "src", `/api/hall/${encodeURIComponent(id)}/table.jpg?entry=${entry}`);
  put(picture, "alt", "The table from above");
  put(now, "class", is_playing ? "now" : "now ended");
  write(now, is_playing ? "playing" : "over or away");
  write(title, `${game}, ${begun(started_at)}`);
  write(standing, headline);
  write(last, words);
}

/** @type {(at: string) => string} */
function begun(at) {
  return new Date(at).toLocaleString(undefined, { weekday: "short", day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });
}
