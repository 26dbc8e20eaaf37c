/** The words and figures around the table: camera health, measurements, roster, camera log. */
import { byId, disable, element, PHONE, setAttr, setStyle, setText, updateChildren } from "../shared/dom.js";
import { duration, sentence, timeOfDay } from "../shared/text.js";
import { amount, closedWords, distanceWords, isAnyOpen, lengthWords, inUnit, scaleWords } from "../board/measuring.js";
import { foreseenHere } from "../board/moves.js";
import { showsLines } from "../board/state.js";
import { chosenUnit, isPlayer, seatName } from "../game/state.js";
import { chosenUnits } from "../rulings/state.js";
import { stacksOf } from "../board/hexes.js";
import { fullName, hexOf, isHidden, pointWords, properName, sideClass, sideName, titleOf } from "../board/things.js";
import { nameOf } from "./simulation.js";

/** @typedef {import("../game/state.js").State} State */
/** @typedef {import("../board/state.js").Tape} Tape */
/** @typedef {import("../board/state.js").Verdict} Verdict */
/** @typedef {import("../board/state.js").Measured} Measured */
/** @typedef {import("../board/state.js").Notice} Notice */

const SOURCE_WORDS = { opening: "Opening the camera", live: "Camera good", lost: "Camera lost", ended: "Ended" };
/** Reasons why the table shown is out of date. @type {Record<string, string>} */
const LOST_WORDS = {
  lost: "No connection to the table. Trying again …",
  refused: "This link is no longer valid: the table has started anew. Ask for your new link, or scan its code.",
};
/** How long a notice stays beside the lamp of a camera that is good again. */
const NEWS_STAYS_MS = 10_000;
const ANSWER_WORDS = { yes: "yes", no: "no", too_close: "too close to call" };

/** Updates all words. @type {(state: State) => void} */
export function renderPanel(state) {
  renderHealth(state);
  renderWarnings(state);
  renderMeasure(state);
  renderRoster(state);
  renderControls(state);
}

/** @type {(state: State) => void} */
function renderHealth(state) {
  const health = state.now?.health;
  const isLost = Object.hasOwn(LOST_WORDS, state.connection);
  const words = isLost ? "No connection" : health ? healthWords(health, missed(state)) : "Connecting";
  const lamp = isLost ? "lost" : (health?.state ?? "opening");
  setAttr(byId("health-lamp"), "data-state", lamp === "live" && missed(state).length ? "some" : lamp);
  setText(byId("health-state"), words);
  const isGood = lamp === "live" && !missed(state).length;
  if (isGoodForLong(isGood, state)) readNews(state);
  setText(byId("health-news"), unreadNews(state)?.text.split(":")[0] ?? "");
  if (health) renderHealthFacts(state);
}

/** The latest notice, and the time since which the camera has been good again. */
const goodAgain = { after: "", since_ms: 0 };

/** Whether the camera has been good for some seconds since its latest notice. @type {(isGood: boolean, state: State) => boolean} */
function isGoodForLong(isGood, { log }) {
  const latest = log.at(-1);
  const after = latest ? keyOf(latest) : "";
  if (!isGood || goodAgain.after !== after) Object.assign(goodAgain, { after, since_ms: performance.now() });
  return performance.now() - goodAgain.since_ms > NEWS_STAYS_MS;
}

/** The latest notice of the camera, unless its figures have been opened since. @type {(state: State) => Notice | undefined} */
function unreadNews({ log, newsRead }) {
  const latest = log.at(-1);
  return latest && keyOf(latest) !== newsRead ? latest : undefined;
}

/** Notes that all notices of the camera have been seen. @type {(state: State) => void} */
export function readNews(state) {
  const latest = state.log.at(-1);
  state.newsRead = latest ? keyOf(latest) : "";
}

/** The tags that should have been seen: on hexes, counters may lie beneath others. @type {(state: State) => {of: string}[]} */
function missed({ facts, now }) {
  return (now?.health.missing ?? []).filter(({ of }) => !facts.map || of === "table");
}

/** The camera's health in a few words. @type {(health: import("../board/state.js").TableState["health"], missing: {of: string}[]) => string} */
function healthWords({ state, tags_held }, missing) {
  if (state !== "live") return SOURCE_WORDS[state];
  const tags = (/** @type {number} */ count) => `${count} ${count === 1 ? "tag" : "tags"}`;
  if (missing.length) return `${tags(missing.length)} missing`;
  return tags_held ? `${tags(tags_held)} covered` : SOURCE_WORDS.live;
}

/** @type {(state: State) => void} */
function renderHealthFacts(state) {
  const health = state.now?.health;
  if (!health || byId("health-more").hidden) return;
  const facts = [
    [
      "Source",
      health.message.startsWith(health.source)
        ? health.message
        : `${health.source}: ${health.message || SOURCE_WORDS[health.state]}`,
    ],
    ["Latest notice", state.log.at(-1)?.text ?? "none"],
    ["Calibration", health.calibration],
    ["Pictures per second", health.frames_per_s.toFixed(1)],
    ["Tags", `${health.tags_seen} seen, ${health.tags_held} covered, ${health.missing.length} missing`],
    ["Missing", missingWords(health.missing)],
    [
      "Reprojection error",
      health.reprojection_px === null ? "no table tag seen" : `${figure(health.reprojection_px, 2)} px`,
    ],
    ["Delay", health.behind_s === null ? "–" : `${figure(health.behind_s, 2)} s`],
  ];
  updateChildren(
    byId("health-facts"),
    facts,
    ([name]) => name,
    () => element("div", "dt", "dd"),
    (row, [name, value]) => {
      setText(row.children[0], name);
      setText(row.children[1], value);
    },
  );
}

/** The missing tags by owner, one line each. @type {(missing: {tag: number, of: string}[]) => string} */
export function missingWords(missing) {
  const owners = [...new Set(missing.map(({ of }) => of))];
  const tagsOf = (/** @type {string} */ owner) => missing.filter(({ of }) => of === owner).map(({ tag }) => tag);
  return owners.map((owner) => `${owner}: ${tagsOf(owner).join(", ")}`).join("\n") || "none";
}

/** @type {(state: State) => void} */
function renderWarnings(state) {
  const health = state.now?.health;
  const words = [...(health?.warnings ?? [])];
  if (health && health.state !== "live" && health.message && !words.includes(health.message))
    words.unshift(health.message);
  if (state.connection === "polling") words.push("Many pages are open: this one updates twice a second.");
  const lost = LOST_WORDS[state.connection] ?? "";
  const isLost = lost !== "";
  updateChildren(
    byId("warnings"),
    isLost ? [] : words,
    String,
    () => document.createElement("li"),
    (row, text) => setText(row, text),
  );
  byId("lost").hidden = !isLost;
  const slip_mm = state.now?.hexes?.slip_mm ?? null;
  byId("slipped").hidden = slip_mm === null || isLost;
  setText(byId("slipped-text"), `The map seems to have slipped by ${slip_mm} mm: push it back, or follow it.`);
  setText(byId("lost"), lost);
  byId("board").classList.toggle("stale", isLost || health?.state === "lost");
}

/** @type {(state: State) => void} */
function renderMeasure(state) {
  const [first, second] = state.chosen;
  const tape = state.tape;
  const panel = byId("panel");
  panel.classList.toggle("choosing", first !== undefined);
  if (first && panel.dataset.chosen !== first && matchMedia(PHONE).matches) panel.scrollTop = 0;
  panel.dataset.chosen = first ?? "";
  byId("clear").hidden = !first;
  byId("take-off").hidden = Boolean(second) || !isHidden(state, first);
  byId("keep").hidden = !second || !tape?.measured;
  setText(byId("measure-title"), measureTitle(state));
  renderParts(state);
  renderStacks(state);
  setText(byId("announce"), spoken(state));
}

/** Lists the things in the hexes of the chosen thing, to choose from. @type {(state: State) => void} */
function renderStacks(state) {
  const [first] = state.chosen;
  const stacks = first && state.chosen.length === 1 ? stacksOf(state, first) : [];
  updateChildren(
    byId("stacks"),
    stacks,
    ({ hex }) => hex,
    () => element("div", "h3", "ol"),
    (node, { hex, things, hidden }) => {
      setText(node.children[0], `In ${hex}, the top one first`);
      updateChildren(
        node.children[1],
        things,
        String,
        () => {
          const row = element("li");
          row.append(element("button", "b", "span"));
          return row;
        },
        (row, thing) => {
          const button = row.children[0];
          setAttr(button, "data-thing", thing);
          setAttr(button, "aria-pressed", String(thing === first));
          setText(button.children[0], titleOf(state, thing));
          setText(button.children[1], hidden.includes(thing) ? "hidden beneath" : "seen");
        },
      );
    },
  );
}

/** @type {(state: State) => string} */
function measureTitle(state) {
  const [first, second] = state.chosen;
  if (state.ghost && !state.ghost.sent) return `Moving ${state.ghost.unit}`;
  if (!first) return "Measure";
  if (second) return `${titleOf(state, first)} to ${titleOf(state, second)}`;
  return first.startsWith("unit:")
    ? fullName(state, titleOf(state, first))
    : hexOf(state, first)
      ? sentence(titleOf(state, first))
      : (state.about?.title ?? titleOf(state, first));
}

/** Updates the rows under the title. @type {(state: State) => void} */
function renderParts(state) {
  const parts = measureParts(state);
  updateChildren(
    byId("measure-body"),
    parts,
    (part) => part.key,
    () => element("p", "b", "span", "span", "button"),
    (row, part) => {
      const remove = /** @type {HTMLElement} */ (row.children[3]);
      remove.hidden = part.tape === undefined;
      setAttr(remove, "data-tape", part.tape ?? null);
      setAttr(remove, "aria-label", `Remove the line ${part.text}`);
      setAttr(remove, "class", "plain");
      setText(remove, part.tape === undefined ? "" : "×");
      setAttr(row, "class", part.name);
      [part.lead ?? "", part.text, part.more ?? ""].forEach((text, index) => setText(row.children[index], text));
    },
  );
}

/** @typedef {{key: string, name: string, lead?: string, text: string, more?: string, tape?: string}} Part  `tape` is the index of a tape that this page may remove */

/** @type {(state: State) => Part[]} */
function measureParts(state) {
  const tape = state.tape;
  const isCarried = Boolean(state.ghost && !state.ghost.sent);
  /** @type {Part[]} */
  const parts = [];
  const closed = closedWords(state);
  const marked = state.remarks[chosenUnit(state) ?? ""];
  if (marked) parts.push({ key: "marked", name: "marked", text: marked });
  const ground = hexOf(state, state.chosen.at(-1) ?? "")?.words;
  if (ground) parts.push({ key: "ground", name: "ground", text: sentence(ground) });
  if (closed) parts.push({ key: "closed", name: "closed", text: closed });
  if (tape?.error) parts.push({ key: "error", name: "problem", text: tape.error });
  if (tape?.measured) parts.push(...readings(state, tape, tape.measured, isCarried));
  if (state.foreseen) {
    const { answer, text } = foreseenHere(state) ?? { answer: "", text: "Checking the move …" };
    parts.push({ key: "foreseen", name: `foreseen ${answer}`, text });
  }
  if (!closed && !isCarried && state.chosen.length < 2) parts.push(...explanations(state));
  state.keptTapes.forEach((kept, index) => parts.push(keptPart(state, kept, index)));
  return parts;
}

/** @type {(state: State, tape: Tape, measured: Measured, isCarried: boolean) => Part[]} */
function readings(state, tape, measured, isCarried) {
  const isPreview = state.chosen.length < 2;
  const reading = {
    key: "reading",
    name: `reading${isPreview ? " preview" : ""}`,
    lead: distanceWords(state.facts, measured),
    text: [lengthWords(measured), scaleWords(state.facts)].filter(Boolean).join(" · "),
    more: isPreview && !isCarried ? `to ${pointWords(state, tape.b)}` : "",
  };
  return isPreview ? [reading] : [reading, ...verdicts(state, tape, measured)];
}

/** @type {(state: State, tape: Tape, measured: Measured) => Part[]} */
function verdicts(state, tape, measured) {
  const limits = limitsOf(state.facts, measured);
  const nearest = nearestLimit(limits);
  const smallest = limits.find(({ answer }) => answer === "yes");
  // For two units the rulings say what the length means. This adds only the smallest range that
  // contains it and the range nearest to it.
  const isRuled = state.facts.rulebook && chosenUnits(state).length > 1;
  const telling = limits.filter(
    (verdict) => !isRuled || [nearest, smallest].includes(verdict) || verdict.answer === "too_close",
  );
  const within = telling.map((verdict) =>
    rangePart(state.facts, verdict, verdict === nearest ? spare(state.facts, verdict, measured) : ""),
  );
  const contact =
    measured.contact && !(isRuled && measured.contact.answer === "no")
      ? [verdictPart("contact", measured.contact, "")]
      : [];
  if (isRuled) return [...within, ...contact];
  /** @type {Part[]} */
  const where = measured.b_is
    ? [
        {
          key: "where",
          name: "where",
          text: `${titleOf(state, tape.b)} is to the ${measured.b_is} of ${titleOf(state, tape.a)}`,
        },
      ]
    : [];
  return [...within, ...contact, ...where, { key: "because", name: "because", text: measured.because }];
}

/** Whether a length is within each range; between counters on hexes, their count decides. @type {(facts: import("../board/state.js").TableFacts, measured: Measured) => Verdict[]} */
function limitsOf({ about: { unit } }, { hexes, within = [] }) {
  if (hexes === undefined) return within;
  return within.map((verdict) => {
    const margin_mm = ((verdict.range ?? 0) - hexes) * unit.size_mm;
    return { ...verdict, margin_mm, answer: margin_mm < 0 ? "no" : "yes" };
  });
}

/** The range that a length is nearest to. @type {(verdicts: Verdict[]) => Verdict | undefined} */
function nearestLimit(verdicts) {
  const byMargin = (/** @type {Verdict} */ one, /** @type {Verdict} */ other) =>
    Math.abs(one.margin_mm ?? 0) - Math.abs(other.margin_mm ?? 0);
  return verdicts.toSorted(byMargin)[0];
}

/** By how much a length is within a range or beyond it, in words. @type {(facts: import("../board/state.js").TableFacts, verdict: Verdict, measured: Measured) => string} */
function spare(facts, { margin_mm = 0, range = 0 }, { hexes }) {
  if (hexes !== undefined && hexes === range) return "exactly";
  const by = hexes === undefined ? amount(facts, margin_mm) : inUnit(facts, Math.abs(range - hexes));
  return `${by} ${margin_mm < 0 ? "beyond" : "to spare"}`;
}

/** Whether a length is within a range or beyond it, and by how much. @type {(facts: import("../board/state.js").TableFacts, verdict: Verdict, by: string) => Part} */
function rangePart(facts, verdict, by) {
  const range = inUnit(facts, verdict.range ?? 0);
  if (verdict.answer === "too_close") return verdictPart(`within ${range}`, verdict, "within", by);
  if (verdict.answer === "yes")
    return { ...verdictPart(range, verdict, "within", by), lead: `within ${range}`, text: "" };
  return { ...verdictPart(range, verdict, "within"), lead: `${by || "beyond"} ${range}`, text: "" };
}

/** @type {(question: string, verdict: Verdict, kind: string, by?: string) => Part} */
function verdictPart(question, verdict, kind, by = "") {
  const close = verdict.probability === undefined ? by : `${Math.round(100 * verdict.probability)} % likely`;
  return {
    key: question,
    name: `verdict ${kind} ${verdict.answer}`,
    lead: ANSWER_WORDS[verdict.answer],
    text: question,
    more: verdict.answer === "too_close" ? close : by,
  };
}

/** @type {(state: State) => Part[]} */
function explanations(state) {
  const [first] = state.chosen;
  if (!first) {
    const shown = state.facts.about.faces ? "ranges, front and flanks" : "ranges";
    const text = `Choose a unit to see its ${shown}; then a second unit, or a point on the ground, for the distance.`;
    return state.keptTapes.length ? [] : [{ key: "hint", name: "hint", text }];
  }
  const isBelieved = state.aboutError && stacksOf(state, first).some(({ hidden }) => hidden.includes(first));
  const error = isBelieved ? null : state.aboutError;
  const lines = isBelieved
    ? ["Under other counters: no camera has seen it yet."]
    : error
      ? [error]
      : (state.about?.lines ?? []);
  const hexes = state.now?.hexes?.where?.[first];
  const words = state.facts.units.find(({ id }) => first === `unit:${id}`)?.words;
  const isMarker = state.now?.hexes?.boxes?.some(({ id }) => first === `unit:${id}`);
  const stands = "Stands for a stack: its counters lie in the box of this name, beside the map.";
  const due = state.game.view?.to_place?.find(({ unit }) => first.split(":")[1] === unit);
  const { name, symbol, plural } = state.facts.about.unit;
  const unit = plural || name === symbol ? name : `${name} (${symbol})`;
  const hint = { key: "hint", name: "hint", text: `Choose a second unit or point for the distance in ${unit}.` };
  return [
    ...(hexes ? [{ key: "hexes", name: "line", text: `In ${hexes}` }] : []),
    ...(words ? [{ key: "words", name: "line", text: sentence(words) }] : []),
    ...(isMarker ? [{ key: "marker", name: "line", text: stands }] : []),
    ...(due ? [{ key: "due", name: "problem", text: `The game has it otherwise: ${due.text}.` }] : []),
    ...lines.map((text, index) => ({ key: `line ${index}`, name: error ? "problem" : "line", text })),
    ...(state.isPlaying ? [] : [hint]),
  ];
}

/** @type {(state: State, tape: Tape, index: number) => Part} */
function keptPart(state, tape, index) {
  const read = tape.measured;
  return {
    key: `kept ${index} ${tape.a} ${tape.b}`,
    name: "kept",
    lead: read ? distanceWords(state.facts, read) : "–",
    text: `${titleOf(state, tape.a)} to ${titleOf(state, tape.b)}`,
    more: tape.error ?? [read ? lengthWords(read) : "", keptBy(state, tape)].filter(Boolean).join(", "),
    tape: keptBy(state, tape) ? undefined : String(index),
  };
}

/** Whose tape it is, if another seat's. @type {(state: State, tape: Tape) => string} */
function keptBy(state, { by }) {
  return by === undefined || by === seatName(state) ? "" : sideName(state, by);
}

/** Words for a screen reader: only those that change slowly. @type {(state: State) => string} */
function spoken(state) {
  const [first, second] = state.chosen;
  const measured = state.tape?.measured;
  if (!first || (second && !measured)) return "";
  if (!second || !measured) return `${titleOf(state, first)} chosen`;
  const { unit } = state.facts.about;
  const within = limitsOf(state.facts, measured).map((v) => `within ${v.range}: ${ANSWER_WORDS[v.answer]}`);
  const length = measured.hexes ?? (measured.distance_mm / unit.size_mm).toFixed(1);
  return [`${measureTitle(state)}: ${length} ${unit.name}`, ...within].join(", ");
}

/** @type {(state: State) => void} */
function renderRoster(state) {
  if (!(/** @type {HTMLDetailsElement} */ (byId("roster")).open)) return;
  updateChildren(byId("roster-body"), state.facts.sides, String, makeSide, (section, side) => {
    setAttr(section, "class", `side ${sideClass(state, side)}`);
    setText(section.children[0], sideName(state, side));
    const { units, commanders } = state.facts;
    updateChildren(
      section.children[1],
      [...commanders, ...units].filter((thing) => thing.side === side),
      ({ id }) => id,
      makeRosterRow,
      (row, thing) => updateRosterRow(row, thing, state),
    );
  });
}

/** @type {() => HTMLElement} */
function makeSide() {
  return element("section", "h3", "ul");
}

/** @type {() => HTMLElement} */
function makeRosterRow() {
  const row = document.createElement("li");
  const button = element("button", "b", "span", "span");
  row.append(button);
  return row;
}

/** @type {(row: HTMLElement, owner: {id: string}, state: State) => void} */
function updateRosterRow(row, owner, state) {
  const unit = state.facts.units.find(({ id }) => id === owner.id);
  const thing = `${unit ? "unit" : "commander"}:${owner.id}`;
  const button = row.children[0];
  setAttr(button, "data-thing", thing);
  setAttr(button, "aria-pressed", String(state.chosen.includes(thing)));
  const hexes = state.now?.hexes?.where?.[thing];
  const place = hexes ? `in ${hexes}` : "";
  const words = unit ? unitWords(unit, place, state) : [place, ""];
  [properName(owner.id), ...words].forEach((text, index) => setText(button.children[index], text));
}

/** @typedef {State["facts"]["units"][number]} RosterUnit */

/** A unit's description, and its bases out of sight. @type {(unit: RosterUnit, place: string, state: State) => string[]} */
function unitWords(unit, place, state) {
  const seen = state.now?.units.find(({ id }) => id === unit.id);
  const name = fullName(state, unit.id).slice(unit.id.length + 1);
  const [mark] = state.game.view?.marks?.[unit.id] ?? [];
  // On a hex map, the marker of a counter without a figure says what it is, instead of an arm.
  const arm = place && mark && !mark.words ? "" : unit.arm;
  const kind = name ? [name] : [arm, seen?.formation, place];
  // On a hex map, one that is not seen lies under others.
  const missing = place ? 0 : Math.max(0, (unit.listed ?? unit.tags.length) - (seen?.bases.length ?? 0));
  const held = seen?.bases.filter((base) => base.seen === "held") ?? [];
  const longest_s = Math.max(0, ...held.map((base) => base.held_s ?? 0));
  const unseen = [
    held.length ? `${held.length} unseen ${duration(longest_s)}` : "",
    missing ? `${missing} missing` : "",
  ];
  const words = [[...kind, unit.words, state.remarks[unit.id]], unseen];
  return words.map((parts) => parts.filter(Boolean).join(", "));
}

/** @type {(state: State) => void} */
function renderControls(state) {
  const press = (/** @type {string} */ id, /** @type {boolean} */ on) => setAttr(byId(id), "aria-pressed", String(on));
  press("pick-units", state.picks === "units");
  press("pick-bases", state.picks === "bases");
  renderShow(state);
  renderScale(state);
  renderNotice(state);
  if (!state.facts.simulated) return;
  press("moving", state.moving);
  // The scripted battle would move units of a game in progress.
  byId("pause").hidden = state.isPlaying;
  byId("restart").hidden = state.isPlaying && !isPlayer(state);
  setText(byId("restart"), state.isPlaying ? "Restart …" : "Restart");
  // Until the page knows whether a game is played, a restart might move its units.
  const isKnown = !state.facts.referee || state.game.view !== null;
  for (const id of ["pause", "restart"]) disable(byId(id), !isKnown);
  byId("in-place").hidden = !state.isPlaying || !isPlayer(state);
  const { moved = [], to_place = [] } = state.game.view ?? {};
  disable(byId("in-place"), moved.length + to_place.length === 0);
  setText(byId("pause"), state.now?.simulated?.paused ? "Watch a battle" : "Pause");
  press("dim", (state.now?.simulated?.light ?? 1) < 1);
  const latest = state.undo.at(-1);
  // Things taken off have their own buttons.
  const names = latest && "placings" in latest ? latest.placings.map(({ unit }) => properName(unit)) : [];
  byId("undo").hidden = !names.length;
  if (!names.length) return;
  // The game has its own "Take back": this one names the units that it moves on the table.
  setText(byId("undo"), `Put ${names.length > 1 ? `${names.length} units` : names[0]} back`);
  setAttr(byId("undo"), "title", `Put ${names.join(", ")} back where this move began (Ctrl-Z)`);
}

/** @type {(state: State) => void} */
function renderShow(state) {
  const { show } = state;
  const check = (/** @type {string} */ id, /** @type {boolean} */ on) => {
    /** @type {HTMLInputElement} */ (byId(id)).checked = on;
  };
  check("show-picture", show.picture);
  check("show-terrain", show.terrain);
  check("show-names", show.names);
  check("show-lines", showsLines(state));
  /** @type {HTMLSelectElement} */ (byId("show-uncertainty")).value = String(show.uncertainty);
  byId("legend").hidden = show.uncertainty === 0;
  const size = show.uncertainty === 1 ? "at its true size" : `drawn ${show.uncertainty} times its size`;
  setText(byId("legend"), `One standard deviation of position and heading, ${size}`);
}

/** The minimum length of the scale bar, that of its words, px. */
const SCALE_PX = 66;

/** @type {(state: State) => void} */
function renderScale(state) {
  const { facts, view } = state;
  // A scale bar would be a measurement, too.
  const closed = closedWords(state);
  byId("scale").hidden = closed !== "";
  byId("closed").hidden = closed === "";
  setText(byId("closed"), isAnyOpen(state) ? "Measuring: only what was declared" : "Measuring is closed");
  const unit_px = facts.about.unit.size_mm * view.px_per_mm;
  const count = [1, 2, 4, 8, 16].find((units) => units * unit_px >= SCALE_PX) ?? 32;
  setStyle(byId("scale"), "width", `${Math.round(count * unit_px)}px`);
  setText(byId("scale-text"), closed ? "" : inUnit(facts, count));
}

/** Updates the notice; after a unit was found, it says what the referee refuses. @type {(state: State) => void} */
function renderNotice({ notice, undo, game }) {
  byId("notice").hidden = notice === null;
  byId("notice-undo").hidden = !notice?.undo || !undo.length;
  setText(byId("notice-text"), noticeWords(notice, game.view?.moved ?? []));
}

/** A notice in words, none once it is over. @type {(notice: State["notice"], moved: import("../game/state.js").Moved[]) => string} */
function noticeWords(notice, moved) {
  if (!notice) return "";
  const isRefused = (/** @type {import("../game/state.js").Moved} */ { unit, answer }) =>
    answer.answer === "no" && notice.found.includes(unit);
  const refused = moved.filter(isRefused);
  const [first] = refused;
  const why = refused.length > 1 ? `${refused.map(({ unit }) => unit).join(", ")}: the panel says why` : first?.text;
  return why ? `✗ ${sentence(why)}` : notice.text;
}

/** @type {(value: number | null, digits: number) => string} */
function figure(value, digits) {
  return value === null ? "–" : value.toFixed(digits);
}

/** Updates the log. @type {(state: State) => void} */
export function renderLog({ log }) {
  byId("log").hidden = log.length === 0;
  setText(byId("log-count"), log.length ? String(log.length) : "");
  updateChildren(byId("log-body"), log.toReversed(), keyOf, makeLine, (line, notice) => {
    setAttr(line.children[0], "datetime", notice.at);
    setText(line.children[0], timeOfDay(notice.at));
    setText(line.children[1], notice.text);
  });
}

/** The key of a notice; a restarted server counts from 1 again. @type {(notice: Notice) => string} */
function keyOf({ number, at }) {
  return `${number} ${at}`;
}

/** @type {() => HTMLElement} */
function makeLine() {
  const line = document.createElement("li");
  line.append(document.createElement("time"), document.createElement("span"));
  return line;
}

/** Adds notices to the log and returns the new ones; a restarted server counts from 1 again. @type {(state: State, notices: Notice[]) => Notice[]} */
export function addNotices(state, notices) {
  const known = new Set(state.log.map(({ number, at }) => `${number} ${at}`));
  const fresh = notices.filter(({ number, at }) => !known.has(`${number} ${at}`));
  if (fresh.length) state.log = [...state.log, ...fresh].slice(-MOST_LOGGED);
  return fresh;
}

const MOST_LOGGED = 200;
