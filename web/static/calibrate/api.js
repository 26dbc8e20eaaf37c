/** Requests of the calibration page. */
import { get, loadPicture, post } from "../shared/http.js";

/** @typedef {[number, number]} Point */
/** @typedef {"take-now" | "forget-best-focus" | "drop" | "undo-drop" | "finish-lens" | "back-to-lens" | "place-table" | "finish-table" | "start-over" | "learn-bases" | "leave-bases"} Command */
/** @typedef {"flat" | "left" | "right" | "top" | "bottom"} Tilt */
/** @typedef {{name: string, corners: number, tilt: Tilt, outline_px: Point[], rms_px: number | null, rejected_because: string | null}} View */
/** @typedef {{views: View[], cells: boolean[][], tilts: Record<Tilt, number>, rms_px: number | null, sigma_px: number | null, usual_px: number | null, sigma_mm: number | null, usual_mm: number | null, wanting: string[], is_enough: boolean, has_lens: boolean, problem: string, can_undo: boolean}} Lens */
/** @typedef {{corners_px: Point[], held: number, taken: string | null, focus: number, best_focus: number, blur_px: number | null, target: {cell: Point | null, tilt: Tilt, outline_px: Point[]}}} Seen */
/** @typedef {{tags: {id: number, corners_px: Point[], off_mm: number | null, used: boolean}[], missing: number[], rms_px: number | null, mean_mm: number | null, worst_mm: number | null, with_lens_mm: number | null, notes: string[], problem: string}} Table */
/** @typedef {{path: string, name: string, kept: string | null, has_table: boolean, is_new: boolean, lens_rms_px: number | null, mean_mm: number | null, worst_mm: number | null}} Saved */
/** @typedef {{version: number, frame: number, width_px: number, height_px: number, stage: "lens" | "table" | "done" | "bases", has_table: boolean, tag_size_mm: number | null, hexes: string[], source: {name: string, state: string, message: string, frames_per_s: number}, warnings: string[], say: string, tone: string, lens: Lens, seen: Seen | null, table: Table | null, saved: Saved | null, bases: Bases | null}} State */
/** @typedef {{held: number, taken: number, news: {line: string, is_taken: boolean} | null, done: number, total: number, rows: [string, number, number][], corner_px: Point[], sigma_mm: number | null, sigma_deg: number | null}} Bases  `rows` are a unit, its bases that are done, and all of them */
/** @typedef {{measured_mm: number, true_mm: number, sigma_mm: number, off_mm: number, off_sigmas: number}} Check */
/** @typedef {{residuals: {hex: string, off_mm: number, share: number, is_off: boolean}[], problem: string, better: string, section: string}} MapFit  `section` is empty if there is a problem */

const PATIENCE_MS = 8000;
const PAUSE_MS = 100;

/** Waits for a state newer than `after`; null when nothing has changed. @type {(after: number) => Promise<State | null>} */
export async function ask(after) {
  const asked_ms = performance.now();
  const signal = AbortSignal.timeout(PATIENCE_MS);
  const news = await get(`/api/calibration?after=${after}`, { signal });
  // A server with too many listeners answers at once that there is nothing new.
  const isHasty = news === null && performance.now() - asked_ms < PAUSE_MS;
  if (isHasty) await new Promise((done) => setTimeout(done, PAUSE_MS));
  return news;
}

/** Sends a command or a measurement. @type {(what: "act" | "ruler" | "hexmap", body: object) => Promise<any>} */
export function send(what, body) {
  return post(`/api/calibration/${what}`, body);
}

/** @type {string[]} */
const shown = [];

/** Loads a picture that can be shown at once. @type {(frame: number, whole: boolean) => Promise<{url: string, image: HTMLImageElement}>} */
export async function picture(frame, whole) {
  const signal = AbortSignal.timeout(PATIENCE_MS);
  const { url, image } = await loadPicture(`/picture.jpg?v=${frame}&whole=${whole ? 1 : 0}`, { signal });
  shown.push(url);
  // The previous picture may still be on the screen.
  while (shown.length > 3) URL.revokeObjectURL(shown.shift() ?? "");
  return { url, image };
}
