/** Keeps the page's answers up to date: asks again when the things concerned move. */
import { settled } from "../shared/http.js";
import { createQuestion } from "../shared/question.js";
import { isOpen } from "../board/measuring.js";
import { keyInHand, posesInHand } from "../board/moves.js";
import { commanderOf, isPoint, unitOf } from "../board/things.js";
import * as gameApi from "../game/api.js";
import { BEGINNING, receiveView } from "../game/state.js";
import { sheetOf } from "../rulings/api.js";
import { loadDisputes } from "../rulings/disputes.js";
import { chosenUnits, sheetKey, shownKeys, takeSheet } from "../rulings/state.js";
import * as api from "./api.js";

/** @typedef {import("../game/state.js").State} State */
/** @typedef {import("../board/state.js").Tape} Tape */

/** Returns a function that repeats the questions whose answers may have changed. @type {(state: State, changed: () => void) => () => void} */
export function createQueries(state, changed) {
  /** @type {Map<string, ReturnType<typeof createQuestion>>} */
  const questions = new Map();
  const refresh = () => {
    const wanted = currentQuestions(state, changed);
    for (const slot of questions.keys()) if (!wanted.has(slot)) questions.delete(slot);
    for (const [slot, { text, ask }] of wanted) {
      const question = questions.get(slot) ?? createQuestion(refresh);
      questions.set(slot, question);
      question(text, () =>
        ask().then((isAnswered) => {
          changed();
          return isAnswered;
        }),
      );
    }
  };
  return refresh;
}

/** The current questions, by slot; a question is asked again when its text changes. @type {(state: State, changed: () => void) => Map<string, {text: string, ask: () => Promise<boolean | void>}>} */
function currentQuestions(state, changed) {
  const wanted = new Map();
  const tapes = state.tape ? [state.tape, ...state.keptTapes] : state.keptTapes;
  for (const tape of tapes.filter(({ a, b }) => isOpen(state, a, b))) {
    const slot = tape.kept ? `kept ${tape.a} ${tape.b}` : `tape ${tape.a}`;
    const text = `${poseKey(state, tape.a)} ${poseKey(state, tape.b)}`;
    wanted.set(slot, { text, ask: () => askTape(state, tape) });
  }
  const [first] = state.chosen;
  if (first && isOpen(state, first))
    wanted.set(`about ${first}`, { text: poseKey(state, first), ask: () => askAbout(state, first) });
  if (state.facts.rules && state.now) {
    wanted.set("disputes", { text: String(state.now.disputes), ask: () => loadDisputes(state.rulings) });
  }
  if (state.facts.referee && state.now && isServerThere(state)) {
    // A server that is back may have another game: slots that were gone ask again.
    wanted.set("game", { text: String(state.now.game), ask: () => askGame(state) });
    wanted.set("seats", { text: "seats", ask: () => askSeats(state) });
  }
  const { ghost } = state;
  const isUnit = state.facts.units.some(({ id }) => id === ghost?.unit);
  if (
    ghost &&
    isUnit &&
    !ghost.sent &&
    !ghost.mates.length &&
    ghost.from.arm !== "leader" &&
    state.isPlaying &&
    state.isByHand &&
    isOpen(state, `unit:${ghost.unit}`)
  ) {
    wanted.set("foreseen", { text: keyInHand(ghost), ask: () => askForeseen(state, ghost) });
  }
  const units = chosenUnits(state);
  if (units.length && isServerThere(state) && isOpen(state, ...state.chosen)) {
    const text = sheetKey(state);
    wanted.set(`sheet ${units.join(" ")}`, { text, ask: () => askSheet(state, units, text, changed) });
  }
  return wanted;
}

/** @type {(state: State, tape: Tape) => Promise<void>} */
async function askTape(state, { a, b, kept }) {
  const [measured, error] = await settled(api.measure(a, b));
  const fill = (/** @type {Tape} */ tape) => ({ ...tape, measured: measured ?? tape.measured, error });
  if (kept) {
    state.keptTapes = state.keptTapes.map((tape) => (tape.a === a && tape.b === b ? fill(tape) : tape));
  } else if (state.tape?.a === a && (state.tape.b === b || (isPoint(b) && isPoint(state.tape.b)))) {
    state.tape = fill(state.tape);
  }
}

/** @type {(state: State, thing: string) => Promise<void>} */
async function askAbout(state, thing) {
  const [about, error] = await settled(api.about(thing));
  if (state.chosen[0] !== thing) return;
  state.about = about ?? state.about;
  state.aboutError = error;
}

/** @type {(state: State) => Promise<boolean>} */
async function askGame(state) {
  const before = state.game.view;
  const [now, error] = await settled(gameApi.game());
  state.game.error = error;
  // Until the demo has laid the table for a new game, nothing that lies there was moved by a player.
  if (now && state.game.busy !== BEGINNING) receiveView(state, now, before);
  return now !== null;
}

/** Keeps the ruling unless the ghost has moved on meanwhile. @type {(state: State, ghost: import("../board/state.js").Ghost) => Promise<void>} */
async function askForeseen(state, ghost) {
  const of = keyInHand(ghost);
  const [moved] = await settled(gameApi.foresee(ghost.unit, posesInHand(ghost)));
  if (!state.ghost || state.ghost.sent || keyInHand(state.ghost) !== of) return;
  const answer = moved?.is_legal ? moved.answer.answer : "no";
  const because = moved?.answer.because ?? "";
  const text = because === moved?.text ? because : `${moved?.text} ${because}`;
  state.foreseen = moved && { of, answer, text, limit: because };
}

/** @type {(state: State) => Promise<boolean>} */
async function askSeats(state) {
  const [seats] = await settled(gameApi.seats());
  state.game.seats = seats ?? state.game.seats;
  return seats !== null;
}

/** Asks for the visible sections, then for all: their buttons summarise them. @type {(state: State, units: string[], text: string, changed: () => void) => Promise<void>} */
async function askSheet(state, units, text, changed) {
  const { active } = state.rulings;
  takeSheet(state, units, text, await settled(sheetOf(units, active, shownKeys(state.rulings, units))));
  changed();
  takeSheet(state, units, text, await settled(sheetOf(units, active)));
}

/** A text that changes whenever answers about a thing may change. @type {(state: State, thing: string) => string} */
function poseKey(state, thing) {
  const bases = unitOf(state, thing)?.bases ?? [commanderOf(state, thing)];
  const written = bases.map((b) => b && [b.x_mm, b.y_mm, "heading_deg" in b ? b.heading_deg : 0, b.seen].join());
  return `${thing} ${written.join(";")}`;
}

/** Whether the server answers this page. @type {(state: State) => boolean} */
function isServerThere({ connection }) {
  return connection !== "lost" && connection !== "refused";
}
