/** Listens to the controls of a recording: play, step, jump, follow a unit, share it. */
import { byId } from "../shared/dom.js";
import { onClick, onClickWithin, openHelp, valueAt } from "../shared/events.js";
import { errorText } from "../shared/http.js";
import { clear } from "../board/choosing.js";
import { beginBranch } from "./branch.js";
import { timeAt } from "./chart.js";
import { chosenUnitOf } from "./moment.js";
import { changeSpeed, goTo, goToTime, step, togglePlaying } from "./state.js";

/** @typedef {import("../game/state.js").State} State */
/** @typedef {import("./state.js").Replay} Replay */
/** @typedef {import("./source.js").Source} Source */
/** @typedef {import("../shared/keyboard.js").Keys} Keys */

/** @typedef {import("../shared/gestures.js").Touch} Touch */
/** @typedef {import("../shared/gestures.js").Drag} Drag */

const SAID_MS = 4000;
const SWIPE_PX = 40;

/** Listens to the page; returns the keys of the recording. @type {(state: State, replay: Replay, source: Source, changed: () => void) => Keys} */
export function listenToReplay(state, replay, source, changed) {
  const act = (/** @type {() => void} */ change) => () => {
    change();
    changed();
  };
  const go = (/** @type {number} */ at) =>
    act(() => {
      replay.playing = false;
      goTo(replay, at);
    })();
  const stepBy = (/** @type {1 | -1} */ way, by = replay.by) => act(() => step(replay, way, by, chosenUnitOf(state)))();
  const toggle = act(() => togglePlaying(replay));
  listenToTransport(replay, { go, stepBy, toggle, changed });
  for (const id of ["moment", "transport-row"]) listenToSwipes(byId(id), stepBy);
  listenToPlaces(replay, go, changed);
  listenToUnit(state, replay, changed);
  listenToShow(state, replay, changed);
  listenToSharing(replay, source);
  const keys = {
    " ": toggle,
    ArrowRight: (/** @type {KeyboardEvent} */ event) => stepBy(1, event.shiftKey ? "turn" : replay.by),
    ArrowLeft: (/** @type {KeyboardEvent} */ event) => stepBy(-1, event.shiftKey ? "turn" : replay.by),
    PageDown: () => stepBy(1, "turn"),
    PageUp: () => stepBy(-1, "turn"),
    ArrowUp: act(() => changeSpeed(replay, 1)),
    ArrowDown: act(() => changeSpeed(replay, -1)),
    n: () => stepBy(1, "moment"),
    b: () => stepBy(-1, "moment"),
    "]": () => stepBy(1, "unit"),
    "[": () => stepBy(-1, "unit"),
    Home: () => go(0),
    End: () => go(replay.film.last),
    g: act(() => setGhosts(replay, !replay.ghosts)),
    p: act(() => setPicture(state, !state.show.picture)),
    v: act(() => toggleTrail(state, replay)),
    w: act(() => beginBranch(state, replay)),
    Escape: act(() => {
      replay.trail = null;
      replay.looked = null;
      clear(state);
    }),
    Enter: act(() => choose(state)),
    "?": openHelp,
  };
  listenOnScrubber(keys);
  return keys;
}

/** Chooses the focused unit. @type {(state: State) => void} */
function choose(state) {
  const thing = document.activeElement?.getAttribute("data-thing");
  if (!thing) return;
  state.chosen = state.chosen.includes(thing) ? [] : [thing];
}

/** Gives the slider the keys of the page instead of its own. @type {(keys: Keys) => void} */
function listenOnScrubber(keys) {
  byId("scrub").addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || !(event.key in keys)) return;
    event.preventDefault();
    keys[event.key](event);
  });
}

/** @typedef {{go: (at: number) => void, stepBy: (way: 1 | -1) => void, toggle: () => void, changed: () => void}} Ways */

/** @type {(replay: Replay, ways: Ways) => void} */
function listenToTransport(replay, { go, stepBy, toggle, changed }) {
  const scrub = /** @type {HTMLInputElement} */ (byId("scrub"));
  scrub.addEventListener("input", () => {
    replay.playing = false;
    goToTime(replay, Number(scrub.value));
    changed();
  });
  onClick("play", toggle);
  onClick("first", () => go(0));
  onClick("final", () => go(replay.film.last));
  onClick("back", () => stepBy(-1));
  onClick("on", () => stepBy(1));
  onClick("follow", () => go(replay.film.last));
  onChange("speed", (value) => {
    replay.speed = Number(value);
    changed();
  });
  onChange("by", (value) => {
    replay.by = /** @type {import("./state.js").By} */ (value);
    changed();
  });
}

/** Steps when a finger swipes across a node; a swipe to the left steps forward, like turning a page. @type {(node: HTMLElement, stepBy: (way: 1 | -1) => void) => void} */
function listenToSwipes(node, stepBy) {
  /** @type {PointerEvent | null} */
  let start = null;
  node.addEventListener("pointerdown", (event) => {
    start = event.pointerType === "touch" && event.isPrimary ? event : null;
  });
  node.addEventListener("pointercancel", () => {
    start = null;
  });
  node.addEventListener("pointerup", (event) => {
    if (!start) return;
    stepAsSwiped(event.clientX - start.clientX, event.clientY - start.clientY, stepBy);
    start = null;
  });
}

/** @type {(dx_px: number, dy_px: number, stepBy: (way: 1 | -1) => void) => void} */
function stepAsSwiped(dx_px, dy_px, stepBy) {
  if (Math.abs(dx_px) > Math.max(SWIPE_PX, 2 * Math.abs(dy_px))) stepBy(dx_px < 0 ? 1 : -1);
}

/** Steps when a finger swipes across the whole table, which has nowhere to go. @type {(state: State, replay: Replay, start: Touch, changed: () => void) => Drag | null} */
export function swipedTable(state, replay, start, changed) {
  if (!state.fitted || start.pointer !== "touch") return null;
  let end = start;
  return {
    move: (at) => {
      end = at;
    },
    end: () =>
      stepAsSwiped(end.x - start.x, end.y - start.y, (way) => {
        step(replay, way, replay.by, chosenUnitOf(state));
        changed();
      }),
    cancel: () => {},
  };
}

/** Jumps to the place tapped in the log, in the chart or on the scrubber. @type {(replay: Replay, go: (at: number) => void, changed: () => void) => void} */
function listenToPlaces(replay, go, changed) {
  for (const id of ["marks-moments", "lost"]) onClickWithin(id, "data-at", (at) => go(Number(at)));
  byId("log-body").addEventListener("click", (event) => {
    const [at, key] = [valueAt(event, "data-at"), valueAt(event, "data-line")];
    if (at === null) return;
    go(Number(at));
    replay.looked = key;
    changed();
  });
  byId("chart").addEventListener("click", (event) => {
    const box = byId("chart").getBoundingClientRect();
    go(replay.film.placeAt(timeAt(replay.film, (event.clientX - box.left) / box.width)));
  });
}

/** @type {(state: State, replay: Replay, changed: () => void) => void} */
function listenToUnit(state, replay, changed) {
  onClick("unit-moves", () => {
    toggleTrail(state, replay);
    changed();
  });
  onClick("unit-back", () => {
    step(replay, -1, "unit", chosenUnitOf(state));
    changed();
  });
  onClick("unit-on", () => {
    step(replay, 1, "unit", chosenUnitOf(state));
    changed();
  });
  onClick("unit-close", () => {
    replay.trail = null;
    clear(state);
    changed();
  });
  onClick("log-only", () => {
    replay.onlyUnit = !replay.onlyUnit;
    changed();
  });
  onClick("log-undone", () => {
    replay.showsUndone = !replay.showsUndone;
    changed();
  });
  const find = /** @type {HTMLInputElement} */ (byId("log-find"));
  find.addEventListener("input", () => {
    replay.find = find.value.trim();
    changed();
  });
}

/** @type {(state: State, replay: Replay) => void} */
function toggleTrail(state, replay) {
  const unit = chosenUnitOf(state);
  replay.trail = replay.trail === unit ? null : unit;
}

/** @type {(state: State, replay: Replay, changed: () => void) => void} */
function listenToShow(state, replay, changed) {
  onCheck("show-picture", (on) => {
    setPicture(state, on);
    changed();
  });
  onCheck("show-ghosts", (on) => {
    setGhosts(replay, on);
    changed();
  });
  onCheck("show-terrain", (on) => {
    state.show = { ...state.show, terrain: on };
    changed();
  });
  onCheck("show-names", (on) => {
    state.show = { ...state.show, names: on };
    changed();
  });
}

/** @type {(state: State, on: boolean) => void} */
function setPicture(state, on) {
  state.show = { ...state.show, picture: on };
  /** @type {HTMLInputElement} */ (byId("show-picture")).checked = on;
}

/** @type {(replay: Replay, on: boolean) => void} */
function setGhosts(replay, on) {
  replay.ghosts = on;
  /** @type {HTMLInputElement} */ (byId("show-ghosts")).checked = on;
}

/** @type {(replay: Replay, source: Source) => void} */
function listenToSharing(replay, source) {
  onClick("moment-link", () => {
    const number = replay.film.entries[replay.at]?.n;
    history.replaceState(null, "", `#entry=${number}`);
    void copied(location.href, "The link to this moment");
  });
  byId("sharing").hidden = !source.about.text;
  onClick("copy-text", async () => {
    try {
      const text = await source.text();
      await copied(text, `The game as text, ${text.length.toLocaleString("en")} characters,`);
    } catch (error) {
      say(errorText(error));
    }
  });
}

/** Copies a text to the clipboard, or shows it in a box where the browser forbids that. @type {(text: string, name: string) => Promise<void>} */
async function copied(text, name) {
  try {
    await navigator.clipboard.writeText(text);
    say(`${name} was copied`);
  } catch {
    const box = /** @type {HTMLTextAreaElement} */ (byId("copy-box"));
    byId("copy-part").hidden = false;
    box.value = text;
    box.focus();
    box.select();
    say(`${name} can be copied from the box below`);
  }
}

/** @type {ReturnType<typeof setTimeout> | undefined} */
let saying;

/** @type {(text: string) => void} */
function say(text) {
  const notice = byId("notice");
  notice.hidden = false;
  byId("notice-text").textContent = text;
  clearTimeout(saying);
  saying = setTimeout(() => {
    notice.hidden = true;
  }, SAID_MS);
}

/** @type {(id: string, listener: (value: string) => void) => void} */
function onChange(id, listener) {
  const select = /** @type {HTMLSelectElement} */ (byId(id));
  select.addEventListener("change", () => listener(select.value));
}

/** @type {(id: string, listener: (on: boolean) => void) => void} */
function onCheck(id, listener) {
  const box = /** @type {HTMLInputElement} */ (byId(id));
  box.addEventListener("change", () => listener(box.checked));
}
