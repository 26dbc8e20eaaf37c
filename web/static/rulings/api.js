/** Requests about rulings and disputes. */
import { get, post } from "../shared/http.js";

/** @typedef {import("./state.js").Sheet} Sheet */
/** @typedef {import("./state.js").Dispute} Dispute */

/** The rulings on a unit or two, in some sections (`only`) or all. @type {(units: string[], active: string, only?: string[]) => Promise<Sheet>} */
export function sheetOf([a, b], active, only) {
  const asked = { active, ...(only && { only: only.join() }) };
  return b === undefined
    ? get(`/api/rulings/unit?${new URLSearchParams({ unit: a, ...asked })}`)
    : get(`/api/rulings/pair?${new URLSearchParams({ a, b, ...asked })}`);
}

/** Files a dispute: the server saves the picture and the position behind the answer. @type {(question: string, active: string) => Promise<Dispute>} */
export function dispute(question, active) {
  return post("/api/disputes", { question, active });
}

/** All disputes of this game, the newest last, and why some may not be on the disk. @type {() => Promise<{disputes: Dispute[], trouble?: string}>} */
export function disputes() {
  return get("/api/disputes");
}
