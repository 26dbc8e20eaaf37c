/** The first minute of the demo: what to try, ticked off as it is done. */
import { byId, CLICK, PHONE, setText, updateChildren } from "../shared/dom.js";
import { onClick } from "../shared/events.js";
import { counterName, sideName } from "../board/things.js";

/** @typedef {import("../game/state.js").State} State */

const KEPT = "tablecam-tried";
const CLOSED = "closed";
/** Equally long, so that the card keeps its height under the pointer. */
const SIMULATED = "This table is simulated. “Watch a battle” shows hands that move units; it plays no game.";
const TRIED = "You have tried it all: start a game, or “Watch a battle”, in which hands move units.";

/** @type {Set<string>} */
const tried = new Set(JSON.parse(localStorage.getItem(KEPT) ?? "[]"));

/** Whether everything has been tried. */
const isTried = () => ["choose", "measure", "drag", "bump"].every((key) => tried.has(key));

/** Whether everything had been tried before this page was opened. */
const wasTried = isTried();

/** The steps to try, with names from the table, and whether each is done. @type {(state: State) => {key: string, text: string, isDone: boolean}[]} */
function steps(state) {
  const [own, enemy] = state.facts.sides.map((side) => {
    const unit = state.facts.units.find((unit) => unit.side === side);
    const name = unit && state.facts.map ? counterName(state.facts, unit) : unit?.id;
    // Two sides' counters may have the same words on them.
    return name === unit?.id ? name : `${name} of ${sideName(state, side)}`;
  });
  const where = matchMedia(PHONE).matches ? "below, under Demo" : "in the Demo bar";
  return [
    { key: "choose", text: `${CLICK} ${own} to choose it`, isDone: state.chosen.length > 0 },
    { key: "measure", text: `Then ${CLICK.toLowerCase()} ${enemy} to measure`, isDone: state.chosen.length > 1 },
    { key: "drag", text: "Drag a unit and let go", isDone: state.undo.length > 0 },
    { key: "bump", text: `Press “Bump the camera” ${where}`, isDone: false },
  ];
}

/** @type {(state: State, changed: () => void) => void} */
export function listenToTrying(state, changed) {
  if (!state.facts.simulated) return;
  onClick("bump", () => tick("bump"));
  onClick("try-close", () => {
    tick(CLOSED);
    changed();
  });
}

/** @type {(key: string) => void} */
function tick(key) {
  if (tried.has(key)) return;
  tried.add(key);
  localStorage.setItem(KEPT, JSON.stringify([...tried]));
}

/** @type {(state: State) => void} */
export function renderTrying(state) {
  if (!state.facts.simulated) return;
  byId("try").hidden = wasTried || tried.has(CLOSED) || Boolean(state.game.view?.has_begun);
  if (byId("try").hidden) return;
  const all = steps(state);
  for (const { key, isDone } of all) if (isDone) tick(key);
  setText(byId("try-hint"), isTried() ? TRIED : SIMULATED);
  updateChildren(
    byId("try-steps"),
    all,
    ({ key }) => key,
    () => document.createElement("li"),
    (row, { key, text }) => {
      setText(row, text);
      row.classList.toggle("done", tried.has(key));
    },
  );
}
