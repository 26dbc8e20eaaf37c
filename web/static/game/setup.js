/** Setup in the panel and on the table: laying terrain, and hints for moves by hand. */
import { byId, disable, makeButton, setAttr, setText, updateChildren } from "../shared/dom.js";
import { onClick, onClickWithin } from "../shared/events.js";
import { sentence } from "../shared/text.js";
import { toleranceOf } from "../board/picking.js";
import { sideName } from "../board/things.js";
import { toTable } from "../board/view.js";
import { latestChosen, playing } from "./state.js";
import { dragTerrain, editPiece, layAction, layingStep, pieces, tapTerrain } from "./terrain.js";

/** @typedef {import("./state.js").State} State */
/** @typedef {import("../shared/gestures.js").Touch} Touch */
/** @typedef {import("../shared/gestures.js").Drag} Drag */
/** @typedef {import("./commands.js").Commands} Commands */

const TOOLS = [
  { tool: "oval", text: "Oval" },
  { tool: "block", text: "Block" },
  { tool: "strip", text: "Strip" },
  { tool: "corners", text: "Corners" },
];
const HANDLES = [
  { edit: "larger", text: "Larger" },
  { edit: "smaller", text: "Smaller" },
  { edit: "left", text: "Turn ↺" },
  { edit: "right", text: "Turn ↻" },
  { edit: "remove", text: "Remove" },
];

/** Updates the setup. @type {(state: State) => void} */
export function renderSetup(state) {
  renderLaying(state);
  renderHint(state);
}

/** @type {(state: State) => void} */
function renderLaying(state) {
  const due = layingStep(state);
  byId("game-laying").hidden = due === null;
  if (!due) return;
  const { laying, busy } = state.game;
  const all = pieces(state);
  setText(byId("laying-count"), countWords(all.length, { ...due, side: sideName(state, due.side) }));
  const isEnough = all.length >= due.least && all.length <= due.most;
  byId("laying-count").classList.toggle("enough", isEnough);
  updateChildren(
    byId("laying-kinds"),
    due.kinds,
    ({ kind }) => kind,
    makeButton,
    (button, { kind, does }) => {
      setAttr(button, "data-kind", kind);
      setAttr(button, "title", does ?? null);
      setAttr(button, "aria-pressed", String(kind === laying.kind));
      setText(button, sentence(kind.replaceAll("_", " ")));
    },
  );
  setText(byId("laying-does"), does(due.kinds, laying.kind));
  updateChildren(
    byId("laying-tools"),
    TOOLS,
    ({ tool }) => tool,
    makeButton,
    (button, { tool, text }) => {
      setAttr(button, "data-tool", tool);
      setAttr(button, "aria-pressed", String(tool === laying.tool));
      setText(button, text);
    },
  );
  setText(byId("laying-hint"), hintWords(state));
  const drawing =
    laying.tool === "corners"
      ? [
          { edit: "close", text: "Close the shape" },
          { edit: "drop", text: "Remove the last corner" },
        ]
      : [];
  const handles = [
    ...drawing,
    ...(laying.chosen ? HANDLES : []),
    ...(laying.undo.length ? [{ edit: "undo", text: "Undo" }] : []),
    ...(all.length ? [{ edit: "clear", text: "Remove all" }] : []),
  ];
  updateChildren(
    byId("laying-handles"),
    handles,
    ({ edit }) => edit,
    makeButton,
    (button, { edit, text }) => {
      setAttr(button, "data-edit", edit);
      setText(button, text);
      disable(button, edit === "close" && laying.corners.length < 3);
    },
  );
  updateChildren(
    byId("laying-pieces"),
    all,
    ({ id }) => id,
    makeButton,
    (button, { id, kind }) => {
      setAttr(button, "data-piece", id);
      setAttr(button, "aria-pressed", String(id === laying.chosen));
      setText(button, id.startsWith(kind) ? id.replaceAll("_", " ") : `${id}: ${kind.replaceAll("_", " ")}`);
    },
  );
  setText(byId("laying-done"), `Place ${all.length} piece${all.length === 1 ? "" : "s"}`);
  disable(byId("laying-done"), busy !== null || !isEnough);
}

/** @type {(count: number, due: {side: string, least: number, most: number}) => string} */
function countWords(count, { side, least, most }) {
  const now = `${side} places ${least} to ${most} pieces: ${count} now`;
  if (count < least) return `${now}, ${least - count} more`;
  return count > most ? `${now}, ${count - most} too many` : `${now} ✓`;
}

/** @type {(kinds: {kind: string, does?: string}[], kind: string) => string} */
function does(kinds, kind) {
  const words = kinds.find((known) => known.kind === kind)?.does;
  return words ? `${sentence(words)}.` : "No effect on movement, cover or fire.";
}

/** Says what a tap on the table does next. @type {(state: State) => string} */
function hintWords({ game: { laying } }) {
  if (laying.tool === "corners")
    return laying.corners.length
      ? `${laying.corners.length} corners: tap the next, or close the shape.`
      : "Tap its corners on the table, one by one.";
  if (laying.chosen)
    return `${laying.chosen.replaceAll("_", " ")}: drag it, or one of its corners. Tap beside it when it is in place.`;
  return "Tap the table where the next piece goes.";
}

/** Says what players do by hand now. @type {(state: State) => void} */
function renderHint(state) {
  const view = playing(state);
  const isDue = Boolean(view?.is_yours && view.hint && !view.moved.length);
  const words = isDue ? (view?.hint ?? "") : lookingOnWords(state);
  byId("game-hint").hidden = !words;
  setText(byId("game-hint"), words);
}

/** Words for a spectator while there is nothing else to read. @type {(state: State) => string} */
function lookingOnWords({ game: { view } }) {
  if (view?.seat.kind !== "spectator" || latestChosen(view.log ?? [])) return "";
  return view.has_begun ? "What happens will be listed here." : "No game yet: the players start one.";
}

const CORNER_PX = 12;

/** @type {(commands: Commands) => void} */
export function listenToSetup(commands) {
  const { laying } = commands.state.game;
  onClickWithin("laying-kinds", "data-kind", (kind) =>
    commands.change(() => Object.assign(laying, { kind, chosen: null })),
  );
  onClickWithin("laying-tools", "data-tool", (tool) =>
    commands.change(() => Object.assign(laying, { tool, chosen: null, corners: [] })),
  );
  onClickWithin("laying-handles", "data-edit", (edit) => commands.change(() => editPiece(commands.state, edit)));
  onClickWithin("laying-pieces", "data-piece", (piece) =>
    commands.change(() => {
      laying.chosen = laying.chosen === piece ? null : piece;
    }),
  );
  onClick("laying-done", () => {
    const action = layAction(commands.state);
    if (action) commands.act(action, "Placing …");
  });
}

/** Handles pointers on the table while terrain is laid. */
export class LayingHand {
  /** @param {State} state @param {() => void} changed */
  constructor(state, changed) {
    this.state = state;
    this.changed = changed;
  }

  /** Whether terrain is being laid. */
  get isDue() {
    return layingStep(this.state) !== null;
  }

  /** Handles a tap; false if it is not for the terrain. @param {Touch} at @returns {boolean} */
  tap(at) {
    if (!this.isDue) return false;
    tapTerrain(this.state, this.placeOf(at));
    this.changed();
    return true;
  }

  /** Starts a drag of a piece or of a corner. @param {Touch} at @returns {Drag | null} */
  grab(at) {
    if (!this.isDue) return null;
    const tolerance_mm = (CORNER_PX + toleranceOf(at.pointer)) / this.state.view.px_per_mm;
    const carry = dragTerrain(this.state, this.placeOf(at), tolerance_mm);
    if (!carry) return null;
    return {
      move: (to) => {
        carry(this.placeOf(to));
        this.changed();
      },
      end: () => this.changed(),
      cancel: () => {
        editPiece(this.state, "undo");
        this.changed();
      },
    };
  }

  /** @param {Touch} at @returns {import("../board/state.js").Point} */
  placeOf(at) {
    return toTable(this.state.view, this.state.facts, at.x, at.y);
  }
}
