/**
 * The source of a recording: the server, or the page itself if it is a file.
 *
 * @typedef {object} AboutPage
 * @property {string} base  the path beneath which the page lies
 * @property {string} name  the players' name for the table, empty without one
 * @property {boolean} live  a table is watched
 * @property {boolean} rules  there are rulings for the game
 * @property {boolean} text  the recording may be copied as a text
 *
 * @typedef {object} Source
 * @property {AboutPage} about
 * @property {boolean} offline
 * @property {(after: number, pictures?: number) => Promise<import("./film.js").FilmDocument | null>} film  the whole film, or the entries after one, for a page that has that many earlier pictures; null: nothing new
 * @property {(entry: number, kind: string) => string | null} pictureUrl
 * @property {() => Promise<string>} text
 * @property {(what: "measure" | "about" | "sheet" | "odds", wanted: object) => Promise<any>} ask  of a branch
 */
import { get, post, request } from "../shared/http.js";

/** The source of this page's recording. @type {() => Source} */
export function sourceOfPage() {
  const about = JSON.parse(document.getElementById("replay-about")?.textContent ?? "{}");
  return document.getElementById("replay-film") ? embedded(about) : served(about);
}

/** @type {(about: AboutPage) => Source} */
function served(about) {
  return {
    about,
    offline: false,
    film: (after, pictures = 0) => get(`${about.base}/api/replay/film?after=${after}&pictures=${pictures}`),
    pictureUrl: (entry, kind) => `${about.base}/api/replay/pictures/${entry}/${kind}`,
    text: async () => (await request(`${about.base}/api/replay/text`)).text(),
    ask: (what, wanted) => post(`${about.base}/api/replay/${what}`, wanted),
  };
}

/** @type {(about: AboutPage) => Source} */
function embedded(about) {
  const read = (/** @type {string} */ id) => JSON.parse(document.getElementById(id)?.textContent ?? "null");
  const pictures = read("replay-pictures") ?? {};
  return {
    about,
    offline: true,
    film: async (after) => (after ? null : read("replay-film")),
    pictureUrl: (entry, kind) => pictures[`${entry} ${kind}`] ?? null,
    text: async () => read("replay-text") ?? "",
    ask: () => Promise.reject(new Error("this page works without tablecam, so it cannot ask")),
  };
}
