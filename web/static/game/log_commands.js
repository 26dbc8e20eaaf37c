/** What taps on the log do: show a line's drawing, go back to before it, correct its dice or a choice. */
import { byId } from "../shared/dom.js";
import { listenToLooks, onTap } from "../shared/taps.js";
import { playing } from "./state.js";

/** @typedef {import("./commands.js").Deeds} Deeds */

/** @type {(deeds: Deeds) => void} */
export function listenToLog(deeds) {
  const { game } = deeds.state;
  const body = byId("game-log-body");
  listenToLooks(body, "data-log", (key) => deeds.change(() => { game.looked = key ?? game.line; }));
  const open = (/** @type {string} */ key) => deeds.change(() => {
    game.line = game.line === key ? null : key;
    Object.assign(game, { looked: game.line, fixing: null, choosing: null });
    if (game.line !== null) uncoverTable(body);
  });
  onTap("game-log-body", "data-log", open);
  body.addEventListener("keydown", (event) => {
    const line = event.target instanceof Element ? event.target.getAttribute("data-log") : null;
    if (line === null || (event.key !== "Enter" && event.key !== " ")) return;
    event.preventDefault();
    event.stopPropagation();
    open(line);
  });
  onTap("game-log-more", "", () => deeds.change(() => { game.wholeLog = true; }));
  onTap("game-log-body", "data-back", (deed) => deeds.undoTo(Number(deed)));
  onTap("game-log-body", "data-fix-open", (fixing) => deeds.change(() => { game.fixing = JSON.parse(fixing); }));
  onTap("game-log-body", "data-turn", (index) => deeds.change(() => turnDie(deeds, Number(index))));
  onTap("game-log-body", "data-fix", (_, button) => {
    if (game.fixing) deeds.correct(game.fixing.deed, game.fixing.values, whyBy(button));
  });
  onTap("game-log-body", "data-others", (deed) => { void deeds.choose(Number(deed)); });
  onTap("game-log-body", "data-other", (index, button) => {
    const offer = game.choosing?.offers?.[Number(index)];
    if (game.choosing && offer) void deeds.correctChoice(game.choosing.deed, offer.action, whyBy(button));
  });
}

/** The reason that was written down beside a button. @type {(button: Element) => string} */
function whyBy(button) {
  return button.closest(".deeds")?.querySelector("input")?.value.trim() ?? "";
}

/** On a phone the panel may lie over the table, where the line is drawn: let it slide back. @type {(body: HTMLElement) => void} */
function uncoverTable(body) {
  const panel = byId("panel");
  if (!panel.classList.contains("open")) return;
  panel.classList.remove("open");
  byId("panel-grip").setAttribute("aria-expanded", "false");
  requestAnimationFrame(() => requestAnimationFrame(() => body.querySelector('[aria-expanded="true"]')?.scrollIntoView({ block: "center" })));
}

/** The next face of a die that is being corrected; after the last the first. @type {(deeds: Deeds, index: number) => void} */
function turnDie({ state }, index) {
  const { fixing } = state.game;
  if (!fixing) return;
  const sides = playing(state)?.log.find(({ deed, dice }) => deed === fixing.deed && dice)?.dice?.sides ?? 6;
  state.game.fixing = { ...fixing, values: fixing.values.map((face, at) => (at === index ? (face % sides) + 1 : face)) };
}
