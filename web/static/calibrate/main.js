/** Wires the calibration page: polls its state, shows it, and sends commands. */

import { createCameras } from "../shared/cameras.js";
import { byId } from "../shared/dom.js";
import { errorText } from "../shared/http.js";
import { ask, picture, send } from "./api.js";
import { HexMapFit } from "./hexmap.js";
import { Magnifier } from "./magnifier.js";
import { createOverlay } from "./overlay.js";
import { showPanel } from "./panel.js";
import { Ruler } from "./ruler.js";
import { createSound } from "./sound.js";

/** @typedef {import("./api.js").State} State */
/** @typedef {import("./api.js").Command} Command */

const RETRY_MS = 1000;
const FASTEST_PICTURE_MS = 100;
const WHOLE_PICTURE_MS = 1500;
const NOTICE_MS = 6000;
const STAGES = ["lens", "table", "done", "bases"];

const svg = /** @type {SVGSVGElement} */ (/** @type {unknown} */ (byId("view")));
const overlay = createOverlay(svg);
const sound = createSound(byId("sound"));
const magnifier = new Magnifier(/** @type {HTMLCanvasElement} */ (byId("magnifier")));
const ruler = new Ruler(svg, magnifier, overlay, complain);
const hexMap = new HexMapFit(svg, magnifier, overlay, complain, () => {
  if (!state) return;
  ruler.show(state, hexMap.isActive);
  showSentence(state);
});

/** @type {State | null} */
let state = null;
let noticeTimer = 0;

for (const [id, command] of /** @type {[string, Command][]} */ ([
  ["finish-lens", "finish-lens"],
  ["take", "take-now"],
  ["forget", "forget-best-focus"],
  ["undo", "undo-drop"],
  ["start-over", "start-over"],
  ["start-over-done", "start-over"],
  ["back", "back-to-lens"],
  ["more-views", "back-to-lens"],
  ["place-again", "place-table"],
  ["finish-table", "finish-table"],
  ["learn-bases", "learn-bases"],
  ["leave-bases", "leave-bases"],
])) {
  byId(id).addEventListener("click", () => act(command));
}

document.addEventListener("keydown", (event) => {
  if (event.target instanceof HTMLInputElement || event.target instanceof HTMLButtonElement) return;
  if (event.key === " " && state?.stage === "lens") {
    event.preventDefault();
    act("take-now");
  }
  if (event.key === "s") sound.toggle();
});

const listCameras = createCameras(mayChangeCamera);
listCameras();
byId("cameras").addEventListener("toggle", listCameras);

listen();
showPictures();

/** Views belong to the camera that took them. */
function mayChangeCamera() {
  const count = state?.lens.views.length ?? 0;
  if (count === 0) return true;
  complain(
    "The views so far are of the camera in use: press Start over first. They are kept in a folder of their own.",
  );
  return false;
}

/** Polls the state for as long as the page lives. */
async function listen() {
  for (;;) {
    try {
      const news = await ask(state?.version ?? -1);
      if (news !== null) show(news);
    } catch {
      byId("lamp").dataset.state = "lost";
      byId("source").textContent = "tablecam does not answer: is it still running?";
      await new Promise((done) => setTimeout(done, RETRY_MS));
    }
  }
}

/** Whether something is placed on the picture, which freezes it. */
function isFrozen() {
  return ruler.isLaid || hexMap.isLaid;
}

/** Loads one picture after another: full size with a ruler on the table, none while it is measured. */
async function showPictures() {
  let frame = -1;
  for (;;) {
    const measures = state?.stage === "done";
    await new Promise((done) => setTimeout(done, measures && frame >= 0 ? WHOLE_PICTURE_MS : FASTEST_PICTURE_MS));
    if (!state || state.frame < 0 || state.frame === frame || document.hidden || (measures && isFrozen())) continue;
    try {
      const newest = state.frame;
      const shown = await picture(newest, measures);
      if (measures && isFrozen()) continue;
      overlay.picture(shown.url);
      magnifier.image = shown.image;
      frame = newest;
    } catch {
      // The next picture will do.
    }
  }
}

/** @param {State} news */
function show(news) {
  const before = state;
  // The answer to a command may overtake a state that was sent before it.
  if (before !== null && news.version < before.version) return;
  state = news;
  if (before?.stage !== news.stage) {
    // Each step begins at its top, on a wide page and on a narrow one.
    window.scrollTo(0, 0);
    byId("panel").scrollTop = 0;
  }
  document.body.dataset.stage = news.stage;
  svg.dataset.version = String(news.version);
  showStages(news);
  showSentence(news);
  byId("lamp").dataset.state = news.source.state;
  byId("source").textContent =
    news.source.state === "live"
      ? `${news.source.name} · ${news.source.frames_per_s.toFixed(1)} pictures/s · ${news.width_px} × ${news.height_px}`
      : news.source.message;
  const warnings =
    news.source.state === "lost" || news.source.state === "ended"
      ? [news.source.message, ...news.warnings]
      : news.warnings;
  byId("warnings").replaceChildren(
    ...warnings.map((warning) => {
      const item = document.createElement("li");
      item.textContent = warning;
      return item;
    }),
  );
  overlay.show(news);
  magnifier.width_px = news.width_px;
  hexMap.show(news);
  ruler.show(news, hexMap.isActive);
  showPanel(news, { act, point: overlay.point });
  if (before !== null && news.stage === "lens" && news.lens.views.length > before.lens.views.length && news.seen?.taken)
    taken();
  if (before?.bases && news.bases && news.bases.taken > before.bases.taken) taken();
}

/** @param {State} news */
function showStages(news) {
  const now = STAGES.indexOf(news.stage);
  byId("stage-table").hidden = byId("stage-bases").hidden = !news.has_table;
  for (const item of byId("stages").children) {
    const place = STAGES.indexOf(/** @type {HTMLElement} */ (item).dataset.stage ?? "");
    item.toggleAttribute("aria-current", place === now);
    /** @type {HTMLElement} */ (item).dataset.state = place < now ? "past" : "";
  }
}

/** @param {State} news */
function showSentence(news) {
  const say = byId("say");
  const words = hexMap.isActive ? hexMap.say : news.say;
  if (byId("say-text").textContent !== words) byId("say-text").textContent = words;
  say.dataset.tone = news.tone;
  /** @type {HTMLProgressElement} */ (byId("held")).value = news.bases?.held ?? news.seen?.held ?? 0;
}

function taken() {
  sound.taken();
  const say = byId("say");
  say.classList.remove("flash");
  void say.offsetWidth;
  say.classList.add("flash");
}

/** @type {(command: Command, view?: string) => Promise<void>} */
async function act(command, view = "") {
  try {
    show(await send("act", { deed: command, view }));
  } catch (error) {
    complain(errorText(error));
  }
}

/** @param {string} message */
function complain(message) {
  const notice = byId("notice");
  notice.textContent = message;
  notice.hidden = false;
  clearTimeout(noticeTimer);
  noticeTimer = window.setTimeout(() => {
    notice.hidden = true;
  }, NOTICE_MS);
}
