/** What the page asks of the server, and the stream of news from it. */

import { KeptLog } from "../game/log.js";

/** @typedef {import("../board/state.js").TableState} TableState */
/** @typedef {import("../board/state.js").Measured} Measured */
/** @typedef {import("../board/state.js").About} About */
/** @typedef {import("../board/state.js").Placing} Placing */
/** @typedef {import("../rulings/state.js").Sheet} Sheet */
/** @typedef {import("../rulings/state.js").Dispute} Dispute */
/** @typedef {import("../game/state.js").GameNow} GameNow */
/** @typedef {import("../game/state.js").SeatsNow} SeatsNow */

const SILENCE_MS = 12_000;
const RETRY_MS = 1_500;
const POLL_MS = 500;

/** What this page has been told of the game's log. */
const log = new KeptLog();

/** The distance between two things. @type {(a: string, b: string, ranges_bw: number[]) => Promise<Measured>} */
export function measure(a, b, ranges_bw) {
  return get(`/api/measure?${new URLSearchParams({ a, b, within_bw: ranges_bw.join(",") })}`);
}

/** The drawings that explain a thing. @type {(thing: string) => Promise<About>} */
export function about(thing) {
  return get(`/api/about?${new URLSearchParams({ thing })}`);
}

/** What the rulebook says of a unit. @type {(unit: string, active: string) => Promise<Sheet>} */
export function unitSheet(unit, active) {
  return get(`/api/rulings/unit?${new URLSearchParams({ unit, active })}`);
}

/** What the rulebook says of two units. @type {(a: string, b: string, active: string) => Promise<Sheet>} */
export function pairSheet(a, b, active) {
  return get(`/api/rulings/pair?${new URLSearchParams({ a, b, active })}`);
}

/** Dispute an answer: freezes the picture and the position that it was given for. @type {(question: string, active: string) => Promise<Dispute>} */
export function dispute(question, active) {
  return send("/api/disputes", { question, active });
}

/** All that was disputed in this game, the newest last, and why some of it may not be on the disk. @type {() => Promise<{disputes: Dispute[], trouble?: string}>} */
export function disputes() {
  return get("/api/disputes");
}

/** The game as this page's seat may see it. @type {() => Promise<GameNow>} */
export async function game() {
  return log.whole(await get(`/api/game${log.query}`));
}

/** Do something in the game; what it is then. @type {(deed: "begin" | "agree" | "act" | "confirm" | "confirm-all" | "accept" | "intend" | "undo" | "redo" | "correct", body: object) => Promise<GameNow>} */
export async function playGame(deed, body) {
  return log.whole(await send(`/api/game/${deed}${log.query}`, body));
}

/** What else this seat might have chosen where it made a deed of the log. @type {(deed: number) => Promise<import("../game/state.js").Choice[]>} */
export async function othersOf(deed) {
  return (await get(`/api/game/others/${deed}`)).others;
}

/** The seats at the table. @type {() => Promise<SeatsNow>} */
export function seats() {
  return get("/api/seats");
}

/** Take another seat. @type {(seat: string) => Promise<void>} */
export async function takeSeat(seat) {
  await send("/api/seat", { seat });
}

/** Say that what is hidden of a thing has left the table. @type {(thing: string) => Promise<void>} */
export async function takeOff(thing) {
  await send("/api/take-off", { thing });
}

/** Put a unit of the simulated table somewhere else. @type {(place: Placing) => Promise<void>} */
export async function moveUnit({ unit, x_mm, y_mm, heading_deg }) {
  await send("/api/simulated/move", { unit, x_mm, y_mm, heading_deg });
}

/** Take a unit of the simulated table off it, or one of its bases. @type {(lifted: import("../live/lifting.js").Lifted) => Promise<void>} */
export async function liftOff(lifted) {
  await send("/api/simulated/take-off", lifted);
}

/** Put back what was taken off the simulated table. @type {(lifted: import("../live/lifting.js").Lifted) => Promise<void>} */
export async function putBack(lifted) {
  await send("/api/simulated/put-back", lifted);
}

/** Stop the script of the simulated table, without its hands too, let it go on, or begin again. @type {(deed: "pause" | "stand-still" | "resume" | "restart") => Promise<void>} */
export async function play(deed) {
  await send(`/api/simulated/${deed}`, {});
}

/** Knock the camera over the simulated table. @type {(right_px: number, down_px: number) => Promise<void>} */
export async function bumpCamera(right_px, down_px) {
  await send("/api/simulated/bump", { right_px, down_px });
}

/** Dim the lamp over the simulated table to a share of its light. @type {(light: number) => Promise<void>} */
export async function dimLamp(light) {
  await send("/api/simulated/light", { light });
}

/**
 * Listen to the table for as long as the page lives, over streams as they come and go.
 *
 * Where no stream can be had, it asks again and again. A stream that is silent for longer than the
 * server ever is, is dead, whatever the browser thinks.
 *
 * @param {(state: TableState) => void} onState
 * @param {(connection: import("../board/state.js").Connection) => void} onConnection
 */
export function listen(onState, onConnection) {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let watchdog;
  const open = () => {
    const stream = new EventSource("/api/events");
    const heard = () => {
      clearTimeout(watchdog);
      watchdog = setTimeout(again, SILENCE_MS);
    };
    const again = async () => {
      stream.close();
      clearTimeout(watchdog);
      await poll(onState, onConnection);
      setTimeout(open, RETRY_MS);
    };
    stream.addEventListener("open", () => { heard(); onConnection("live"); });
    stream.addEventListener("alive", heard);
    stream.addEventListener("state", (event) => { heard(); onState(JSON.parse(event.data)); });
    stream.addEventListener("error", again);
    heard();
  };
  open();
}

/** Ask for news a few times, in place of a stream; stops at once when nobody answers, or when this seat's link counts no more. @type {(onState: (state: TableState) => void, onConnection: (connection: import("../board/state.js").Connection) => void) => Promise<void>} */
async function poll(onState, onConnection) {
  for (let times = 0, after = -1; times < 20; times += 1) {
    try {
      const response = await fetch(`/api/state?after=${after}`, { signal: AbortSignal.timeout(4000) });
      if (response.status === 403) return onConnection("refused");
      if (!response.ok) throw new Error(response.statusText);
      onConnection("polling");
      if (response.status === 200) {
        const state = await response.json();
        after = state.version;
        onState(state);
      }
    } catch {
      onConnection("lost");
      return;
    }
    await new Promise((done) => setTimeout(done, POLL_MS));
  }
}

/** @type {(address: string) => Promise<any>} */
async function get(address) {
  return answer(await fetch(address).catch(unanswered));
}

/** @type {(address: string, body: object) => Promise<any>} */
async function send(address, body) {
  const headers = { "Content-Type": "application/json" };
  return answer(await fetch(address, { method: "POST", headers, body: JSON.stringify(body) }).catch(unanswered));
}

/** Browsers say no more than "Failed to fetch" where nobody answers. @type {() => never} */
function unanswered() {
  throw new Error("tablecam does not answer: is it still running?");
}

/** What the server says where it does not do what it was asked. */
export class Answered extends Error {
  /** @param {number} status @param {string} message */
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

/** @type {(response: Response) => Promise<any>} */
async function answer(response) {
  if (response.status === 204) return null;
  const document = await response.json();
  if (!response.ok) throw new Answered(response.status, document.error ?? response.statusText);
  return document;
}
