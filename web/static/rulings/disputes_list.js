/** The disputes of this game, whoever made them: asked for again when their number has changed. */
import * as api from "../shared/api.js";

/** @typedef {import("./state.js").Rulings} Rulings */

/** @type {(rulings: Rulings) => Promise<void>} */
export async function loadDisputes(rulings) {
  try {
    const { disputes, trouble = "" } = await api.disputes();
    Object.assign(rulings, { disputes, trouble, disputesError: null });
  } catch (error) {
    rulings.disputesError = `Past disputes cannot be had now: ${wordsOf(error)}`;
  }
}

/** What went wrong with a request. @type {(error: unknown) => string} */
export function wordsOf(error) {
  if (error instanceof TypeError) return "no connection to the table."; // that is what fetch throws then
  return error instanceof Error ? error.message : String(error);
}
