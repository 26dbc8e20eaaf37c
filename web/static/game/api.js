/** Requests about the game, and its log, of which the server sends only new lines. */
import { get, post } from "../shared/http.js";

/** @typedef {import("./state.js").GameView} GameView */
/** @typedef {import("./state.js").LogLine} LogLine */
/** @typedef {import("./state.js").SeatsView} SeatsView */

/** @typedef {GameView & {log_is_whole?: boolean, log_mark?: string}} PartialView  as the server sends it */

/** Completes the log of each answer with the lines that this page already has. */
export class LogCache {
  /** @type {LogLine[]} */
  #lines = [];
  #mark = "";
  #version = 0;

  /** The query that tells the server where this log ends. */
  get query() {
    return this.#mark ? `?${new URLSearchParams({ after: this.#mark })}` : "";
  }

  /** The game with its whole log; an answer overtaken by a newer one changes nothing here. @param {PartialView} view @returns {GameView} */
  complete(view) {
    const mark = view.log_mark ?? "";
    const isSame = runOf(mark) === runOf(this.#mark);
    const isLate = isSame && view.version < this.#version;
    if (view.log_is_whole === false && (isLate || !isSame)) return { ...view, log: this.#lines };
    if (isLate) return view;
    this.#lines = view.log_is_whole === false ? merged(this.#lines, view.log) : (view.log ?? []);
    [this.#mark, this.#version] = [mark, view.version];
    return { ...view, log: this.#lines };
  }
}

/** The run of the game, and the seat, that a mark belongs to. @type {(mark: string) => string} */
function runOf(mark) {
  return mark.slice(0, mark.lastIndexOf("."));
}

/** Replaces the lines of some actions, in the order of the actions. @type {(lines: LogLine[], fresh: LogLine[]) => LogLine[]} */
function merged(lines, fresh) {
  const replaced = new Set(fresh.map(({ deed }) => deed));
  const kept = lines.filter(({ deed }) => !replaced.has(deed));
  return [...kept, ...fresh].sort((one, other) => one.deed - other.deed);
}

const log = new LogCache();

/** The game as this page's seat may see it. @type {() => Promise<GameView>} */
export async function game() {
  return log.complete(await get(`/api/game${log.query}`));
}

/** Sends a command to the game; the answer is the game after it. @type {(command: "begin" | "agree" | "act" | "pass-all" | "confirm" | "confirm-all" | "accept" | "intend" | "undo" | "redo" | "correct", body: object) => Promise<GameView>} */
export async function sendCommand(command, body) {
  return log.complete(await post(`/api/game/${command}${log.query}`, body));
}

/** The ruling on a move before it is made; null if it is not a move. @type {(unit: string, poses: number[][]) => Promise<import("./state.js").Moved | null>} */
export async function foresee(unit, poses) {
  return (await post("/api/game/foresee", { unit, poses })).moved;
}

/** The alternatives that this seat had to a past action, and the groups of its dice. @type {(action: number) => Promise<{others: import("./state.js").Choice[], dice: import("./state.js").AlikeDice[]}>} */
export function corrections(action) {
  return get(`/api/game/others/${action}`);
}

/** The seats at the table. @type {() => Promise<SeatsView>} */
export function seats() {
  return get("/api/seats");
}

/** Takes another seat. @type {(seat: string) => Promise<void>} */
export async function takeSeat(seat) {
  await post("/api/seat", { seat });
}

/** Stops the script of the simulated table, with or without its hands, resumes it, or starts it again. @type {(command: "stand-still" | "resume" | "restart") => Promise<void>} */
export async function controlScript(command) {
  await post(`/api/simulated/${command}`, {});
}

/** Puts a unit of the simulated table, or everything, where the game has it. A legal move stays, unless `back`. @type {(unit?: string, back?: boolean) => Promise<void>} */
export async function lay(unit, back = false) {
  await post("/api/simulated/lay", unit ? { unit, back } : {});
}
