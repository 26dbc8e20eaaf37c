/** Requests about rulings and disputes. */
import { get, post } from "../shared/http.js";

/** @typedef {import("./state.js").Sheet} Sheet */
/** @typedef {import("./state.js").Dispute} Dispute */

/** What the rulebook says of a unit. @type {(unit: string, active: string) => Promise<Sheet>} */
export function unitSheet(unit, active) {
  return get(`/api/rulings/unit?${new URLSearchParams({ unit, active })}`);
}

/** What the rulebook says of two units. @type {(a: string, b: string, active: string) => Promise<Sheet>} */
export function pairSheet(a, b, active) {
  return get(`/api/rulings/pair?${new URLSearchParams({ a, b, active })}`);
}

/** Files a dispute: the server keeps the picture and the position behind the answer. @type {(question: string, active: string) => Promise<Dispute>} */
export function dispute(question, active) {
  return post("/api/disputes", { question, active });
}

/** All disputes of this game, the newest last, and why some may not be on the disk. @type {() => Promise<{disputes: Dispute[], trouble?: string}>} */
export function disputes() {
  return get("/api/disputes");
}
