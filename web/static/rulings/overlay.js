/** Draws the rulings on the table: their evidence, and the shapes that explain the chosen thing. */
import { showsLines } from "../board/state.js";
import { linesShown, sectionsShown } from "./state.js";

/** @typedef {import("./state.js").State} State */
/** @typedef {import("./state.js").Section} Section */
/** @typedef {import("../board/state.js").Shape} Shape */

/** Draws the visible parts of the rulings. @type {(board: import("../board/board.js").Board, state: State) => void} */
export function drawRulings(board, state) {
  board.explain(explanations(state));
  board.shapes(shapesShown(state));
}

/** The shapes that explain the chosen thing; fewer beside rulings, none beside those of a pair or one line's evidence. @type {(state: State) => Shape[]} */
function explanations(state) {
  const { about, rulings } = state;
  const { sheet, proof } = rulings;
  if (sheet?.b !== undefined || proof !== null || !showsLines(state)) return [];
  const shapes = about?.shapes ?? [];
  return sheet ? shapes.filter(({ role }) => role !== "ring") : shapes;
}

/** The shapes of one line, or of all visible sections, without duplicates. @type {(state: State) => Shape[]} */
export function shapesShown({ rulings, isPlaying }) {
  const alone = rulings.proof === null ? undefined : linesShown(rulings).get(rulings.proof)?.answer?.evidence;
  // In a game a length is measured without zones around it, until a line is pointed at.
  const isBare = isPlaying && rulings.sheet?.b !== undefined;
  const shapes = alone?.length ? alone : isBare ? [] : sectionsShown(rulings).flatMap(shapesOf);
  return [...new Map(shapes.map((shape) => [`${shape.role} ${shape.points_mm}`, shape])).values()];
}

/** A section's own shapes, and the evidence of answers that hold or may hold; if none do, of all answers. @type {(section: Section) => Shape[]} */
function shapesOf({ lines, shapes }) {
  const proofs = (lines ?? []).filter((line) => line.answer?.evidence.length);
  const telling = proofs.filter((line) => line.answer?.answer !== "no");
  const drawn = telling.length || shapes.length ? telling : proofs.slice(0, 1);
  return [...shapes, ...drawn.flatMap((line) => line.answer?.evidence ?? [])];
}
