/**
 * Draws the layers of the board: ground, units, names, tapes, and the unit in hand.
 *
 * @typedef {import("./state.js").State} State
 * @typedef {import("./state.js").Base} Base
 * @typedef {import("./state.js").Unit} Unit
 * @typedef {import("./state.js").Commander} Commander
 * @typedef {import("./state.js").Tape} Tape
 * @typedef {Record<string, SVGElement>} Layers  the groups of the drawing, by their names
 */
import { setAttr, setStyle, setText, svgElement, updateChildren } from "../shared/dom.js";
import { duration } from "../shared/text.js";
import { areSmall, isBeneath } from "./hexes.js";
import { distanceWords, lengthWords } from "./measuring.js";
import { namePlaces, readingPlaces, tapesShown } from "./labels.js";
import { foreseenHere, HANDLE_PX, handlePlace } from "./moves.js";
import { addLine, fadedBy, makeText, meanPoint, placeText, through, updateBases, word } from "./shapes.js";
import { commanderBase, fullName, properName, sideClass, sideName } from "./things.js";
import { boardMatrix, isFar, short, toScreen, toTable, viewBox } from "./view.js";

/** Things nearer than this seem to touch: their distance is not written over their names. */
const TOUCHING_MM = 1;

/** @type {(svg: SVGSVGElement, table: SVGElement, state: State) => void} */
export function placeView(svg, table, state) {
  const matrix = boardMatrix(state.facts, state.view.turn);
  setAttr(svg, "viewBox", viewBox(state.view));
  setAttr(svg, "data-version", String(state.now?.version ?? ""));
  setAttr(table, "transform", `matrix(${matrix.join(" ")})`);
  setStyle(svg, "--px", `${short(1 / state.view.px_per_mm)}px`);
  setStyle(svg, "--upright", `matrix(${matrix.slice(0, 4).join(", ")}, 0, 0)`);
  const shown = { picture: state.show.picture && state.pictureUrl !== null, names: state.show.names };
  const classes = {
    ...shown,
    "on-hexes": Boolean(state.facts.map),
    faceless: !state.facts.about.faces,
    "small-hexes": areSmall(state),
    far: isFar(state.view),
    moving: state.moving,
    lifting: Boolean(state.ghost && !state.ghost.sent),
    measuring: state.chosen.length === 2,
  };
  for (const [name, on] of Object.entries(classes)) svg.classList.toggle(name, on);
}

/** @type {(layers: Layers, state: State) => void} */
export function renderGround(layers, state) {
  const { width_mm, depth_mm } = state.facts;
  const all = (/** @type {string} */ tag) => () =>
    svgElement(tag, { width: String(width_mm), height: String(depth_mm) });
  updateChildren(layers.ground, ["ground"], String, all("rect"), () => {});
  // The outer group flips y, so the picture is flipped back: its top row is y = depth.
  const urls = state.show.picture && state.pictureUrl ? [state.pictureUrl] : [];
  updateChildren(
    layers.picture,
    urls,
    () => "picture",
    all("image"),
    (image, url) => {
      setAttr(image, "href", url);
      setAttr(image, "transform", `translate(0 ${short(depth_mm)}) scale(1 -1)`);
      setAttr(image, "preserveAspectRatio", "none");
    },
  );
  setStyle(layers.picture, "--strength", String(state.show.strength));
  const { pieces, chosen } = state.ground ?? { pieces: state.facts.terrain, chosen: null };
  updateChildren(
    layers.terrain,
    state.show.terrain ? pieces : [],
    (piece) => piece.id,
    makeTerrain,
    (group, piece) => {
      setAttr(group, "class", `piece kind-${word(piece.kind)}${piece.id === chosen ? " chosen-piece" : ""}`);
      setAttr(group.children[0], "d", through(piece.outline_mm, true));
      const name = properName(piece.id);
      const middle = meanPoint(piece.outline_mm);
      const isShown = fitsInto(state, name, piece.outline_mm) && !isCovered(state, name, middle);
      placeText(group.children[1], isShown ? name : "", middle);
    },
  );
}

/** Size of a letter of a terrain's name, and half its height. */
const NAME_PX = { width: 7, half: 9 };

/** How much longer than its place a name may be on a table seen from far away. */
const OVERHANG = 1.5;

/** Whether a name is about as long as its place; close up, a longer one has room beside it. @type {(state: State, name: string, outline_mm: [number, number][]) => boolean} */
function fitsInto({ view, facts }, name, outline_mm) {
  if (!isFar(view)) return true;
  const xs_px = outline_mm.map((corner) => toScreen(view, facts, ...corner)[0]);
  return name.length * NAME_PX.width <= OVERHANG * (Math.max(...xs_px) - Math.min(...xs_px));
}

/** Whether a name would be written over a base. @type {(state: State, name: string, at: [number, number]) => boolean} */
function isCovered(state, name, [x_mm, y_mm]) {
  const { px_per_mm, turn } = state.view;
  const half = [(name.length * NAME_PX.width) / 2 / px_per_mm, NAME_PX.half / px_per_mm];
  // Names stay level when the view is turned.
  const [along_mm, across_mm] = turn % 2 ? half.reverse() : half;
  const lying = [...(state.now?.units ?? []).flatMap(({ bases }) => bases), ...(state.now?.commanders ?? [])];
  return lying.some((base) => {
    const reach_mm = "width_mm" in base ? Math.min(base.width_mm, base.depth_mm) / 2 : 0;
    return Math.abs(base.x_mm - x_mm) < along_mm + reach_mm && Math.abs(base.y_mm - y_mm) < across_mm + reach_mm;
  });
}

/** @type {() => SVGElement} */
function makeTerrain() {
  const group = svgElement("g");
  group.append(svgElement("path"), makeText("terrain-name"));
  return group;
}

/** @type {(layers: Layers, state: State) => void} */
export function renderUnits(layers, state) {
  const units = state.now?.units ?? [];
  const commanders = state.now?.commanders ?? [];
  updateChildren(
    layers.units,
    units,
    (unit) => unit.id,
    makeChoice,
    (group, unit) => updateUnit(group, unit, state),
  );
  updateChildren(
    layers.commanders,
    commanders,
    (c) => c.id,
    makeChoice,
    (group, c) => updateCommander(group, c, state),
  );
  const places = namePlaces(state);
  updateChildren(
    layers.names,
    [...units, ...commanders],
    ({ id }) => id,
    makeName,
    (group, owner) => updateName(group, owner, places, state),
  );
}

/** A group that can be chosen by pointer or keyboard. @type {() => SVGElement} */
function makeChoice() {
  return svgElement("g", { role: "button", tabindex: "0" });
}

/** @type {(group: SVGElement, unit: Unit, state: State) => void} */
function updateUnit(group, unit, state) {
  const thing = `unit:${unit.id}`;
  const { ghost } = state;
  const isLifted = ghost?.unit === unit.id || ghost?.mates.some(({ id }) => id === unit.id);
  const beneath = isBeneath(state, thing) ? " beneath" : "";
  const more = `${beneath}${isLifted ? " lifted" : ""}${state.group.includes(unit.id) ? " grouped" : ""}`;
  setAttr(group, "class", `unit ${sideClass(state, unit.side)} ${marks(state, thing)}${more}`);
  setAttr(group, "data-thing", thing);
  setAttr(group, "aria-label", describeUnit(state, unit));
  setAttr(group, "aria-pressed", String(state.chosen.includes(thing)));
  const marksOf = (/** @type {Base} */ base) => marks(state, `base:${base.name}`);
  updateBases(group, unit.bases, { arm: unit.arm, uncertainty: state.show.uncertainty, marksOf });
}

/** @type {(group: SVGElement, commander: Commander, state: State) => void} */
function updateCommander(group, commander, state) {
  const thing = `commander:${commander.id}`;
  const beneath = isBeneath(state, thing) ? " beneath" : "";
  setAttr(group, "class", `commander ${sideClass(state, commander.side)} ${marks(state, thing)}${beneath}`);
  setAttr(group, "data-thing", thing);
  setAttr(
    group,
    "aria-label",
    `${properName(commander.id)}, commander, ${sideName(state, commander.side)}${heldWords(commander.held_s)}`,
  );
  setAttr(group, "aria-pressed", String(state.chosen.includes(thing)));
  updateBases(group, [commanderBase(commander)], { arm: "leader", uncertainty: state.show.uncertainty });
}

/** @type {(state: State, thing: string) => string} */
function marks(state, thing) {
  const at = state.chosen.indexOf(thing);
  const hovered = state.hover === thing ? "hovered" : "";
  return at >= 0 ? `chosen chosen-${at === 0 ? "first" : "second"} ${hovered}`.trim() : hovered;
}

/** @type {() => SVGElement} */
function makeName() {
  const group = makeText("name");
  addLine(group, "held-for", "0");
  return group;
}

/** @type {(group: SVGElement, owner: Unit | Commander, places: ReturnType<typeof namePlaces>, state: State) => void} */
function updateName(group, owner, places, state) {
  const held_s = longestHeld(owner);
  const leader = "bases" in owner ? "" : " of-commander";
  const second = owner.side === state.facts.sides[1] ? " of-second-side" : "";
  setAttr(
    group,
    "class",
    `placed named ${sideClass(state, owner.side)}${leader}${second}${held_s === null ? "" : " held"}`,
  );
  const thing = `${leader ? "commander" : "unit"}:${owner.id}`;
  const place = places.get(thing);
  const at_mm = place ? toTable(state.view, state.facts, place.x, place.y) : [owner.x_mm, owner.y_mm];
  placeText(group, place?.text ?? "", /** @type {[number, number]} */ (at_mm));
  setStyle(group, "--faded", String(fadedBy(held_s)));
  // On a counter its figures stand below the name.
  setAttr(group.children[1], "dy", state.facts.map ? "2.7em" : "1.6em");
  setText(
    group.children[1],
    isDoubted(owner) ? "seen twice" : held_s === null || !place ? "" : `unseen ${duration(held_s)}`,
  );
}

/** Whether one of its tags is seen in two places. @type {(owner: Unit | Commander) => boolean} */
function isDoubted(owner) {
  const bases = "bases" in owner ? owner.bases : [owner.base];
  return bases.some((base) => base?.doubted);
}

/** @type {(owner: Unit | Commander) => number | null} */
function longestHeld(owner) {
  const all = "bases" in owner ? owner.bases : [owner];
  const held = all.filter(({ seen }) => seen === "held").map((base) => base.held_s ?? 0);
  return held.length ? Math.max(...held) : null;
}

/** @type {(state: State, unit: Unit) => string} */
function describeUnit(state, unit) {
  const formation = unit.formation ? `, ${unit.formation}` : "";
  const remarks = state.remarks[unit.id];
  return `${fullName(state, unit.id)}, ${sideName(state, unit.side)} ${unit.arm}${formation}${remarks ? `, ${remarks}` : ""}${heldWords(longestHeld(unit))}`;
}

/** @type {(held_s: number | null) => string} */
function heldWords(held_s) {
  return held_s === null ? "" : ", held: hidden now";
}

/** @type {(layer: SVGElement, state: State) => void} */
export function renderTapes(layer, state) {
  const tapes = tapesShown(state);
  const places = readingPlaces(state, tapes);
  const placed = tapes.map((tape, index) => ({ tape, at_mm: places[index].at_mm }));
  updateChildren(
    layer,
    placed,
    ({ tape }) => tapeKey(tape),
    makeTape,
    (group, { tape, at_mm }) => updateTape(group, tape, at_mm, state),
  );
}

/** @type {(tape: Tape) => string} */
function tapeKey(tape) {
  return tape.kept ? `${tape.by} ${tape.a} ${tape.b}` : "now";
}

/** @type {() => SVGElement} */
function makeTape() {
  const group = svgElement("g");
  group.append(
    svgElement("path", { class: "casing" }),
    svgElement("path", { class: "ink" }),
    svgElement("path", { class: "ends" }),
  );
  const text = makeText("reading", "-0.55em");
  addLine(text, "reading-mm", "0.75em");
  group.append(text);
  return group;
}

/** @type {(group: SVGElement, tape: Tape, at_mm: import("./state.js").Point, state: State) => void} */
function updateTape(group, tape, at_mm, state) {
  const measured = tape.measured;
  const settled = tape.kept || state.chosen.includes(tape.b);
  const kind = tape.kept ? "kept" : settled ? "settled" : "preview";
  const touching = measured && measured.distance_mm < TOUCHING_MM ? " touching" : "";
  setAttr(group, "class", `tape ${kind}${touching}${ofSide(state, tape.by)}`);
  setAttr(group, "data-ends", `${tape.a} ${tape.b}`);
  const ends = measured ? [measured.from_mm, measured.to_mm] : [];
  const way = measured?.path?.points_mm ?? ends;
  for (const child of [0, 1]) setAttr(group.children[child], "d", through(way, false));
  setAttr(group.children[2], "d", ends.map((end) => through([end, end], false)).join(""));
  placeText(group.children[3], measured ? distanceWords(state.facts, measured) : "", at_mm);
  setText(group.children[3].children[1], measured ? (tape.kept ? "" : limitWords(state)) || lengthWords(measured) : "");
}

/** How far the unit in hand may go, in a few words; empty if unknown. @type {(state: State) => string} */
function limitWords(state) {
  const foreseen = foreseenHere(state);
  if (!foreseen) return "";
  const [first] = foreseen.limit.split(/, | and |: /);
  return `${{ yes: "✓", too_close: "≈" }[foreseen.answer] ?? "✗"} ${first}`;
}

/** The class of a tape or ping of a side. @type {(state: State, by: string | undefined) => string} */
function ofSide(state, by) {
  return by && state.facts.sides.includes(by) ? ` of-side ${sideClass(state, by)}` : "";
}

/** Draws where seats point. @type {(layer: SVGElement, state: State) => void} */
export function renderPings(layer, state) {
  updateChildren(
    layer,
    state.pings,
    ({ number }) => String(number),
    () => {
      const group = svgElement("g");
      group.append(svgElement("circle", { class: "wave" }), svgElement("circle", { class: "spot" }));
      return group;
    },
    (group, { by, x_mm, y_mm }) => {
      setAttr(group, "class", `ping${ofSide(state, by)}`);
      setAttr(group, "transform", `translate(${short(x_mm)} ${short(y_mm)})`);
    },
  );
}

/** @type {(layers: Layers, state: State) => void} */
export function renderGhost(layers, state) {
  const ghost = state.ghost;
  const bases = ghost ? [ghost.from, ...ghost.mates].flatMap((unit) => unit.bases) : [];
  setAttr(
    layers.ghost,
    "class",
    `layer ghost ${ghost ? sideClass(state, ghost.from.side) : ""} ${ghost?.sent ? "sent" : foreseenClass(state)}`,
  );
  if (ghost) {
    const { from } = ghost;
    const turned = short(ghost.heading_deg - from.heading_deg);
    setAttr(
      layers.ghost,
      "transform",
      `translate(${short(ghost.x_mm)} ${short(ghost.y_mm)}) rotate(${turned}) translate(${short(-from.x_mm)} ${short(-from.y_mm)})`,
    );
  }
  const now = bases.map((base) => ({ ...base, seen: /** @type {"now"} */ ("now"), held_s: null }));
  updateBases(layers.ghost, now, { arm: ghost?.from.arm ?? "", uncertainty: 0 });
  renderHandle(layers.handle, state);
}

/** The class for the foreseen ruling on the unit in hand. @type {(state: State) => string} */
function foreseenClass(state) {
  const foreseen = foreseenHere(state);
  return foreseen ? `would-${foreseen.answer}` : "";
}

/** @type {(layer: SVGElement, state: State) => void} */
function renderHandle(layer, state) {
  const place = handlePlace(state);
  updateChildren(
    layer,
    place ? [place] : [],
    () => "handle",
    makeHandle,
    (group, at) => {
      const reach = HANDLE_PX / state.view.px_per_mm;
      setAttr(group, "transform", `translate(${short(at.x_mm)} ${short(at.y_mm)}) rotate(${short(at.heading_deg)})`);
      setAttr(group.children[0], "d", `M0 0H${short(reach)}`);
      setAttr(group.children[1], "cx", short(reach));
      setAttr(group.children[2], "cx", short(reach));
      // An arrow around the grip: it turns the unit.
      const [around, barb] = [5 / state.view.px_per_mm, 3 / state.view.px_per_mm];
      const end = `${short(reach)} ${short(around)}`;
      setAttr(
        group.children[3],
        "d",
        `M${short(reach - around)} 0A${short(around)} ${short(around)} 0 1 0 ${end}m${short(barb)} ${short(barb)}L${end}l${short(barb)} ${short(-barb)}`,
      );
    },
  );
}

/** @type {() => SVGElement} */
function makeHandle() {
  const group = svgElement("g", { class: "turning", "data-handle": "turn" });
  const grip = svgElement("circle", { class: "grip" });
  group.append(
    svgElement("path"),
    grip,
    svgElement("circle", { class: "reach" }),
    svgElement("path", { class: "way" }),
  );
  return group;
}
