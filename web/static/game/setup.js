/** Setting up in the panel: the terrain in hand with its kinds and tools, and how deploying goes. */
import { byId, disable, each, makeButton, put, write } from "../shared/dom.js";
import { sideName } from "../board/things.js";
import { playing } from "./state.js";
import { layingDue, pieces } from "./terrain.js";
import { sentence } from "./words.js";

/** @typedef {import("../board/state.js").State} State */

const TOOLS = [
  { tool: "oval", text: "Oval" },
  { tool: "block", text: "Block" },
  { tool: "strip", text: "Strip" },
  { tool: "corners", text: "Corners" },
];
const HANDLES = [
  { deed: "larger", text: "Larger" },
  { deed: "smaller", text: "Smaller" },
  { deed: "left", text: "Turn ↺" },
  { deed: "right", text: "Turn ↻" },
  { deed: "remove", text: "Remove" },
];

/** Bring the setup up to date. @type {(state: State) => void} */
export function renderSetup(state) {
  renderLaying(state);
  renderDeploying(state);
}

/** @type {(state: State) => void} */
function renderLaying(state) {
  const due = layingDue(state);
  byId("game-laying").hidden = due === null;
  if (!due) return;
  const { laying, busy } = state.game;
  const all = pieces(state);
  write(byId("laying-count"), countWords(all.length, { ...due, side: sideName(state, due.side) }));
  const isEnough = all.length >= due.least && all.length <= due.most;
  byId("laying-count").classList.toggle("enough", isEnough);
  each(byId("laying-kinds"), due.kinds, ({ kind }) => kind, makeButton, (button, { kind, does }) => {
    put(button, "data-kind", kind);
    put(button, "title", does);
    put(button, "aria-pressed", String(kind === laying.kind));
    write(button, sentence(kind.replaceAll("_", " ")));
  });
  write(byId("laying-does"), does(due.kinds, laying.kind));
  each(byId("laying-tools"), TOOLS, ({ tool }) => tool, makeButton, (button, { tool, text }) => {
    put(button, "data-tool", tool);
    put(button, "aria-pressed", String(tool === laying.tool));
    write(button, text);
  });
  write(byId("laying-hint"), hintWords(state));
  const drawing = laying.tool === "corners" ? [{ deed: "close", text: "Close the shape" }, { deed: "drop", text: "One corner back" }] : [];
  const handles = [...drawing, ...(laying.chosen ? HANDLES : []), ...(laying.undo.length ? [{ deed: "undo", text: "Back" }] : []), ...(all.length ? [{ deed: "clear", text: "All off" }] : [])];
  each(byId("laying-handles"), handles, ({ deed }) => deed, makeButton, (button, { deed, text }) => {
    put(button, "data-handle-deed", deed);
    write(button, text);
    disable(button, deed === "close" && laying.corners.length < 3);
  });
  each(byId("laying-pieces"), all, ({ id }) => id, makeButton, (button, { id, kind }) => {
    put(button, "data-piece", id);
    put(button, "aria-pressed", String(id === laying.chosen));
    write(button, id.startsWith(kind) ? id.replaceAll("_", " ") : `${id}: ${kind.replaceAll("_", " ")}`);
  });
  write(byId("laying-done"), `Lay ${all.length} piece${all.length === 1 ? "" : "s"}`);
  disable(byId("laying-done"), busy !== null || !isEnough);
}

/** @type {(count: number, due: {side: string, least: number, most: number}) => string} */
function countWords(count, { side, least, most }) {
  const now = `${side} lays ${least} to ${most} pieces: ${count} now`;
  if (count < least) return `${now}, ${least - count} more`;
  return count > most ? `${now}, ${count - most} too many` : `${now} ✓`;
}

/** @type {(kinds: {kind: string, does: string}[], kind: string) => string} */
function does(kinds, kind) {
  const words = kinds.find((each) => each.kind === kind)?.does;
  return words ? `${sentence(words)}.` : "No effect on movement, cover or fire.";
}

/** What a tap on the table does next. @type {(state: State) => string} */
function hintWords({ game: { laying } }) {
  if (laying.tool === "corners") return laying.corners.length ? `${laying.corners.length} corners: tap the next, or close the shape.` : "Tap its corners on the table, one after the other.";
  if (laying.chosen) return `${laying.chosen.replaceAll("_", " ")}: drag it, or one of its corners. Tap beside it when it lies well.`;
  return "Tap the table where the next piece lies.";
}

/** Who deploys where, and that hands do it. @type {(state: State) => void} */
function renderDeploying(state) {
  const told = playing(state);
  const isDue = Boolean(told?.is_yours && told.state.step?.type === "deploying");
  byId("game-deploying").hidden = !isDue;
  if (!told || !isDue) return;
  const side = sideName(state, told.state.step?.side ?? "");
  const words = told.moved.length ? "" : "Put every unit, and the commander, by hand into the zone that is drawn on the table: tablecam sees when all lie well.";
  write(byId("game-deploying"), `${side} deploys. ${words}`.trim());
}
