/** What a mover says before he moves: near whom he will end, or not; and whether it came to be so. */
import { byId, disable, each, element, put, write } from "../shared/dom.js";
import { split } from "../board/things.js";
import { badge, figuresWords } from "../rulings/words.js";
import { playing } from "./state.js";

/** @typedef {import("../board/state.js").State} State */

/** Bring the intents up to date; one can be said while two units are chosen, the mover first. @type {(state: State) => void} */
export function renderIntents(state) {
  const told = playing(state);
  each(byId("game-intents"), told?.intents ?? [], ({ unit }) => unit, () => element("li", "b", "span", "small"), (row, { text, answer }) => {
    put(row, "class", answer?.answer ?? "");
    write(row.children[0], answer ? badge(answer) : "…");
    write(row.children[1], `Meant: ${text}`);
    write(row.children[2], answer ? figuresWords(answer) : "");
  });
  const pair = pairChosen(state);
  byId("intent-part").hidden = !pair || !told || told.is_over || told.seat.kind === "spectator";
  if (!pair) return;
  write(byId("intent-title"), `Before ${pair.unit} moves, say how it will end to ${pair.of}:`);
  each(byId("intent-ranges"), state.facts.ranges_bw, String, () => element("div", "b", "button", "button"), (row, range_bw) => {
    const [words, within, outside] = /** @type {HTMLElement[]} */ ([...row.children]);
    write(words, `${range_bw} BW`);
    for (const [button, text, isWithin] of /** @type {[HTMLElement, string, boolean][]} */ ([[within, "within", true], [outside, "just outside", false]])) {
      put(button, "type", "button");
      put(button, "data-intent", JSON.stringify({ ...pair, range_bw, is_within: isWithin }));
      put(button, "aria-label", `${text} ${range_bw} BW`);
      write(button, text);
      disable(button, state.game.busy !== null);
    }
  });
}

/** The two units that are chosen. @type {(state: State) => {unit: string, of: string} | null} */
function pairChosen({ chosen }) {
  if (chosen.length !== 2 || !chosen.every((thing) => thing.startsWith("unit:"))) return null;
  return { unit: split(chosen[0])[1], of: split(chosen[1])[1] };
}
