/** Requests about the table, and the stream of its states. */
import { get, post } from "../shared/http.js";

/** @typedef {import("../board/state.js").TableState} TableState */
/** @typedef {import("../board/state.js").Measured} Measured */
/** @typedef {import("../board/state.js").About} About */
/** @typedef {import("../board/state.js").Placing} Placing */
/** @typedef {import("../board/state.js").Connection} Connection */
/** @typedef {import("../board/state.js").Lifted} Lifted */

const SILENCE_MS = 12_000;
const RETRY_MS = 1_500;
const POLL_MS = 500;

/** The distance between two things. @type {(a: string, b: string) => Promise<Measured>} */
export function measure(a, b) {
  return get(`/api/measure?${new URLSearchParams({ a, b, within: "usual" })}`);
}

/** The drawings and lines that explain a thing. @type {(thing: string) => Promise<About>} */
export function about(thing) {
  return get(`/api/about?${new URLSearchParams({ thing })}`);
}

/** Keeps a tape for all seats to see. @type {(a: string, b: string) => Promise<void>} */
export async function keepTape(a, b) {
  await post("/api/tapes", { a, b });
}

/** Removes a tape that this seat has kept. @type {(a: string, b: string) => Promise<void>} */
export async function removeTape(a, b) {
  await post("/api/tapes/remove", { a, b });
}

/** Points at a place for all seats to see. @type {(x_mm: number, y_mm: number) => Promise<void>} */
export async function ping(x_mm, y_mm) {
  await post("/api/ping", { x_mm, y_mm });
}

/** Follows the hex map to where it has slipped. @type {() => Promise<void>} */
export async function followMap() {
  await post("/api/map/follow", {});
}

/** Stops looking at a part of the table. @type {(outline_mm: import("../board/state.js").Point[]) => Promise<void>} */
export async function mask(outline_mm) {
  await post("/api/masks", { outline_mm });
}

/** Looks again at a part of the table. @type {(outline_mm: import("../board/state.js").Point[]) => Promise<void>} */
export async function unmask(outline_mm) {
  await post("/api/masks/remove", { outline_mm });
}

/** Tells the server that the hidden bases of a thing have left the table. @type {(thing: string) => Promise<void>} */
export async function takeOff(thing) {
  await post("/api/take-off", { thing });
}

/** Moves units of the simulated table together; returns a sentence about each that slid off another. @type {(moves: Placing[]) => Promise<string[]>} */
export async function moveUnits(moves) {
  return (await post("/api/simulated/move-together", { moves })).slid;
}

/** Takes a unit, or one of its bases, off the simulated table. @type {(lifted: Lifted) => Promise<void>} */
export async function liftOff(lifted) {
  await post("/api/simulated/take-off", lifted);
}

/** Puts a unit or base back on the simulated table. @type {(lifted: Lifted) => Promise<void>} */
export async function putBack(lifted) {
  await post("/api/simulated/put-back", lifted);
}

/** Knocks the camera over the simulated table. @type {(right_px: number, down_px: number) => Promise<void>} */
export async function bumpCamera(right_px, down_px) {
  await post("/api/simulated/bump", { right_px, down_px });
}

/** Dims the lamp over the simulated table to a share of its light. @type {(light: number) => Promise<void>} */
export async function dimLamp(light) {
  await post("/api/simulated/light", { light });
}

/**
 * Listens to the table for as long as the page lives, and reopens the stream when it breaks.
 *
 * Without a free stream it polls. A stream that is silent for longer than the server ever is counts
 * as dead, whatever the browser thinks.
 *
 * @param {(state: TableState) => void} onState
 * @param {(connection: Connection) => void} onConnection
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
    stream.addEventListener("open", () => {
      heard();
      onConnection("live");
    });
    stream.addEventListener("alive", heard);
    stream.addEventListener("state", (event) => {
      heard();
      onState(JSON.parse(event.data));
    });
    stream.addEventListener("error", again);
    heard();
  };
  open();
}

/** Polls a few times in place of a stream; stops at once if nobody answers or this seat's link is no longer valid. @type {(onState: (state: TableState) => void, onConnection: (connection: Connection) => void) => Promise<void>} */
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
