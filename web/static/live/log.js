/** The log of the camera: what happened to it and to its tags, the latest first. */
import { byId, each, put, write } from "../shared/dom.js";

/** @typedef {import("../board/state.js").State} State */
/** @typedef {import("../board/state.js").Notice} Notice */

/** Bring the log up to date. @type {(state: State) => void} */
export function renderLog({ log }) {
  byId("log").hidden = log.length === 0;
  write(byId("log-count"), log.length ? String(log.length) : "");
  each(byId("log-body"), log.toReversed(), keyOf, makeLine, (line, notice) => {
    put(line.children[0], "datetime", notice.at);
    write(line.children[0], timeOfDay(notice.at));
    write(line.children[1], notice.text);
  });
}

/** A server that began anew counts from 1 again. @type {(notice: Notice) => string} */
function keyOf({ number, at }) {
  return `${number} ${at}`;
}

/** @type {() => HTMLElement} */
function makeLine() {
  const line = document.createElement("li");
  line.append(document.createElement("time"), document.createElement("span"));
  return line;
}

/** @type {(at: string) => string} */
function timeOfDay(at) {
  return new Date(at).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", second: "2-digit" });
}
