/**
 * The state of the game on the page, and the functions that change it. Nothing here draws or sends
 * requests.
 *
 * @typedef {import("../rulings/state.js").State & {game: Game}} State
 * @typedef {import("../board/state.js").Shape} Shape
 * @typedef {import("../board/state.js").Point} Point
 * @typedef {import("../board/state.js").Piece} Piece
 * @typedef {import("../board/state.js").Mark} Mark
 * @typedef {import("../rulings/state.js").RuleAnswer} RuleAnswer
 *
 * @typedef {Record<string, any> & {type: string}} Action  the game's own; sent back as it came
 * @typedef {{x_mm: number, y_mm: number, heading_deg: number, width_mm: number, depth_mm: number}} GhostBase
 * @typedef {{values: number[], sides: number, lowest?: number}} Cast  dice as they came up; `lowest` is 1 in older recordings
 *
 * @typedef {{whose: string, needs: number | null, places: number[], goal: string}} AlikeDice  whose they are, the lowest face that counts or what they are to come to, and their indices in the roll
 *
 * @typedef {object} Offer  an action that this seat may take
 * @property {string} group
 * @property {string} label
 * @property {{count: number, sides: number, lowest: number, groups: AlikeDice[]} | null} dice
 * @property {Shape[]} shapes
 * @property {string[]} units  those that it is about
 * @property {Action} action
 * @property {string} [passes_to]  beside a button that passes for all: the seat that is asked when this one passes alone, empty if none is
 *
 * @typedef {{unit: string, text: string, ghost: GhostBase[], lost: GhostBase[], moves: boolean}} ToPlace  a move that the game waits for: `lost` bases are taken away, the others go to the ghost if it `moves`
 * @typedef {{unit: string, text: string, is_legal: boolean, after: string[], answer: RuleAnswer, ghost: GhostBase[], is_back: boolean, brings: string[], choices: {label: string, action: {type: string}}[]}} Moved  a move that the camera saw, the units that have to go first, whether it can only be undone, what else it brings if it is confirmed first, and what it may have been where no length is in doubt
 *
 * @typedef {{title: string, terms: string[]}} Sum  a total, and its terms in words
 *
 * @typedef {object} LogLine  a line of the log
 * @property {string} kind
 * @property {{sums?: Sum[]}} facts  for programs, and the sums to list
 * @property {string} text
 * @property {string | null} rule
 * @property {Shape[]} evidence
 * @property {string} note
 * @property {boolean} undone
 * @property {boolean} is_chosen  whether a player did it, not the referee
 * @property {number} deed  the number of its action
 * @property {Cast | null} dice  the action's roll, on its first line
 *
 * @typedef {{id: string, title: string, badge?: string, kind?: string, text?: string}} Card
 * @typedef {{label: string, value: number | string, sign?: string}} Figure
 * @typedef {{sides?: {name: string, figures?: Figure[]}[], turn?: number, turn_word: string, phase?: string, active?: string}} Standing  how the game stands
 * @typedef {{form: "pick-units", title: string, button: string, action: Action, units: string[], units_key: string, cards?: Card[], cards_key?: string, numbers_title?: string, numbers_key?: string}} PickUnits  a form: units, and cards or numbers for them
 * @typedef {{form: "lay-terrain", side: string, least: number, most: number, kinds: {kind: string, does?: string}[], action: Action, key: string}} LayTerrain  a form: the pieces of terrain
 *
 * @typedef {object} GameView  as `/api/game` sends it; before the game begins, only the first four
 * @property {number} version
 * @property {string} game
 * @property {{kind: "player" | "shared" | "both" | "spectator", side: string | null}} seat
 * @property {boolean} has_begun
 * @property {string} question
 * @property {string} hint  what players do by hand
 * @property {Sum[]} [sums]  what the question counts
 * @property {string} [why_missing]  why actions are not offered that players may look for
 * @property {string | null} asked
 * @property {boolean} is_yours
 * @property {string[]} [elsewhere]  the sides whose seats other screens have taken
 * @property {boolean} is_over
 * @property {Offer[]} actions
 * @property {string} pass_all  the button by which all seats pass; empty where somebody has to decide
 * @property {import("../board/state.js").Closed | null} closed
 * @property {boolean} can_undo
 * @property {boolean} can_redo
 * @property {{by: string, text: string, may_agree: boolean, number: number} | null} [proposed]  a proposal that the other side has to agree to
 * @property {Standing} standing
 * @property {string[]} house  files whose numbers are invented
 * @property {Record<string, Mark[]>} marks  the markers of each unit
 * @property {import("./settings.js").Setting[]} settings  what players may overrule
 * @property {(PickUnits | LayTerrain)[]} forms  by which this seat may put an action together
 * @property {Card[]} hand
 * @property {ToPlace[]} to_place
 * @property {Moved[]} moved
 * @property {string[]} together  the units whose moves can be confirmed together, in order
 * @property {{unit: string, of: string, text: string, answer: RuleAnswer | null}[]} intents  results that players announced before a move
 * @property {string} trouble
 * @property {Shape[]} pictured  the drawing of what the game waits for
 * @property {Piece[]} terrain
 * @property {LogLine[]} log
 *
 * @typedef {{own: string, by_link: boolean, may_change: boolean, seats: {name: string, side: string | null, link: string | null}[]}} SeatsView  as `/api/seats` sends it
 *
 * @typedef {{label: string, action: Action}} Choice  an alternative to an action
 * @typedef {{action: number, offers: Choice[], dice: AlikeDice[], isOpen: boolean}} Corrections  alternatives to an action, how its dice count, and whether they are shown
 *
 * @typedef {"oval" | "block" | "strip" | "corners"} Tool
 *
 * @typedef {object} Laying
 * @property {Piece[] | null} pieces  those in hand; null until they are taken over from the game
 * @property {string | null} chosen  the piece that is moved and stretched
 * @property {string} kind  of the next piece
 * @property {Tool} tool  how the next piece is drawn
 * @property {Point[]} corners  those that were tapped of a piece that is drawn corner by corner
 * @property {Piece[][]} undo  the pieces before each change, the latest last
 *
 * @typedef {object} Game  what the page knows of it
 * @property {GameView | null} view
 * @property {SeatsView | null} seats
 * @property {string | null} error  why the game could not be loaded
 * @property {string | null} busy  words for the request under way; nothing else is sent meanwhile
 * @property {string} said  why the latest command failed
 * @property {string} judging  the units that were just moved by hand, until the referee has judged them
 * @property {string[]} laid  the cards whose units are being put where their ghosts are, until the cards change
 * @property {string | null} looked  the offer, the move or the line of the log that is pointed at
 * @property {string | null} warned  the offer whose next tap ends what is due although moves are open
 * @property {string[]} open  the groups that show all of their buttons
 * @property {Record<string, string>} byUnit  the questions in which groups were long, which then keep their shape
 * @property {string[]} place  the buttons of a place that was tapped, where they differ
 * @property {string} tab  the tab that is shown, the game's or the log's
 * @property {string} find  what to find in the log
 * @property {boolean} wholeLog
 * @property {boolean} showsUndone  whether the log shows what was taken back
 * @property {string | null} line  the line of the log that is open
 * @property {{action: number, values: number[]} | null} fixing  the dice of an action that are being corrected
 * @property {Corrections | null} choosing  how the action of the open line may be corrected, once loaded
 * @property {number[]} faces  the dice entered so far, in the order of the page
 * @property {string} facesOf  the roll that they belong to
 * @property {{key: string, face: number} | null} decided  a die rolled for what is too close to call
 * @property {string | null} accepting  the unit that is being accepted as it lies
 * @property {{unit: string, moves: boolean, text: string}[]} placed  the units that have just arrived at their place, or lost what they have lost
 * @property {boolean} showsAstray  whether ghosts of all units out of step are drawn
 * @property {string | null} copied  the link that was copied last
 * @property {{units: string[], cards: string[]}} force  the force that is being put together
 * @property {boolean} again  the choices for another game are shown
 * @property {boolean} opensAnew  the next game of a demo has its units in their opening places
 * @property {Laying} laying  the terrain in hand, before a game
 * @property {import("./settings.js").Patch | null} states  what is set on the screen of all settings; null while it is closed
 * @property {Record<string, number>} begin  the choices before a game, by field
 */

import { clear } from "../board/choosing.js";
import { newState as newBoardState } from "../board/state.js";
import { isPoint } from "../board/things.js";
import { shapesShown } from "../rulings/overlay.js";
import { forgetSheet, newRulings } from "../rulings/state.js";
import { sentence } from "../shared/text.js";
import { markerWords } from "./words.js";

/** What the page says while it begins a game. */
export const BEGINNING = "Beginning …";
/** How many buttons a group shows before "more". */
export const MOST_BUTTONS = 12;
/** How many places of the board a group lists as buttons too. */
const MOST_PLACES = 6;

/** A page before its first state of the table and the game. @type {(facts: import("../board/state.js").TableFacts, view: import("../board/view.js").View) => State} */
export function newState(facts, view) {
  const state = { ...newBoardState(facts, view), rulings: newRulings(facts), game: newGame() };
  state.forgetting.push(() => forgetSheet(state.rulings));
  return state;
}

/** @type {() => Game} */
function newGame() {
  return {
    view: null,
    seats: null,
    error: null,
    busy: null,
    said: "",
    judging: "",
    laid: [],
    looked: null,
    warned: null,
    open: [],
    byUnit: {},
    place: [],
    tab: "tab-game",
    find: "",
    wholeLog: false,
    showsUndone: false,
    line: null,
    fixing: null,
    choosing: null,
    faces: [],
    facesOf: "",
    decided: null,
    accepting: null,
    placed: [],
    showsAstray: false,
    copied: null,
    force: { units: [], cards: [] },
    again: false,
    opensAnew: true,
    laying: newLaying(),
    states: null,
    begin: {},
  };
}

/** The game in progress, as this seat sees it; null before it has begun. @type {(state: State) => GameView | null} */
export function playing({ game }) {
  return game.view?.has_begun ? game.view : null;
}

/**
 * Takes in a view of the game from the server.
 *
 * `asked` is the view that the page had when it sent the request: of two answers under way at once
 * the newer counts. Versions can be compared only while the same server counts them.
 *
 * @type {(state: State, view: GameView, asked: GameView | null) => void}
 */
export function receiveView(state, view, asked) {
  const { game } = state;
  if (game.view !== asked && game.view && game.view.version > view.version) return;
  const before = game.view?.has_begun ? game.view : null;
  // After a look back, nothing has been settled on this page.
  if (game.view) dropSettledMoves(state, view, before);
  // What was chosen would lie over what a new game asks first.
  if (game.view && view.has_begun && (!before || game.again)) clear(state);
  // Nor over the hexes that a question about other units draws.
  else if (state.facts.map && before && before.question !== view.question && view.pictured.length) {
    const asked = new Set(view.actions.flatMap(({ units }) => units));
    if (view.is_yours && state.chosen.length && !chosenUnits(state).some((unit) => asked.has(unit))) clear(state);
  }
  game.view = view;
  game.error = null;
  game.judging = game.judging
    .split(", ")
    .filter((unit) => cardOf(before, unit) === cardOf(view, unit))
    .join(", ");
  game.laid = game.laid.filter((card) => view.moved?.some(({ unit }) => cardOf(view, unit) === card));
  shareWithBoard(state, view);
  if (view.seat.kind === "spectator") state.moving = false;
  else if (before?.seat.kind === "spectator") state.moving = state.facts.simulated;
  if (!view.has_begun) return;
  // Another game, or this seat's turn: what to do is there.
  // Nobody who corrects something is interrupted.
  const isCorrecting = game.fixing !== null || game.choosing?.isOpen;
  if (!before?.log?.length || (isNews(view, before) && !isCorrecting)) game.tab = "tab-game";
  if (before?.log.length !== view.log.length && !isCorrecting) closeLine(game);
  const due = new Set(view.to_place.map(({ unit }) => unit));
  game.placed = (before?.to_place ?? [])
    .filter(({ unit }) => !due.has(unit))
    .map(({ unit, lost, ghost, moves }) => ({
      unit,
      moves,
      text: [moves && "placed", lost.length && `${ghost.length ? basesOf(lost) : ""} taken off`]
        .filter(Boolean)
        .join(", "),
    }));
  state.rulings.active = view.standing.active ?? state.rulings.active;
  const laying = view.forms.find((form) => form.form === "lay-terrain");
  if (!laying) Object.assign(game.laying, newLaying());
  else if (!laying.kinds.some(({ kind }) => kind === game.laying.kind)) game.laying.kind = laying.kinds[0]?.kind ?? "";
  if (before?.question !== view.question) game.said = "";
  for (const { group } of view.actions)
    if (view.actions.filter((other) => other.group === group).length > MOST_BUTTONS) game.byUnit[group] = view.question;
  if (before?.question !== view.question) Object.assign(game, { open: [], force: { units: [], cards: [] } });
  if (game.looked?.startsWith("offer") && before?.version !== view.version) game.looked = null;
  if (before?.version !== view.version) Object.assign(game, { warned: null, place: [] });
  if (game.accepting && !view.moved.some(({ unit }) => unit === game.accepting)) game.accepting = null;
  dropStaleFaces(game, requestedRoll(view));
}

/** The number of some bases, in words. @type {(bases: GhostBase[]) => string} */
export function basesOf(bases) {
  return `${bases.length} ${bases.length === 1 ? "base" : "bases"}`;
}

/** Whether a seat has something new to answer: a question, or a move that was seen. @type {(view: GameView, before: GameView) => boolean} */
function isNews(view, before) {
  const known = (before.moved ?? []).map(({ unit, text }) => `${unit} ${text}`);
  const hasMoved = (view.moved ?? []).some(({ unit, text }) => !known.includes(`${unit} ${text}`));
  return view.is_yours && (!before.is_yours || view.question !== before.question || hasMoved);
}

/** Closes the open line of the log, with its drawing; false if none is open. @type {(game: Game) => boolean} */
export function closeLine(game) {
  const isOpen = game.line !== null;
  if (game.looked === game.line) game.looked = null;
  Object.assign(game, { line: null, fixing: null, choosing: null });
  return isOpen;
}

/** The referee's words on a unit's move, to compare. @type {(view: GameView | null, unit: string) => string | undefined} */
export function cardOf(view, unit) {
  return JSON.stringify(view?.moved?.find((moved) => moved.unit === unit));
}

/** The unit of a legal move on the simulated table that nobody has confirmed. @type {(state: State) => string | undefined} */
export function unconfirmed(state) {
  const view = state.facts.simulated ? playing(state) : null;
  return view?.moved.find(({ is_legal }) => is_legal && view.is_yours)?.unit;
}

/**
 * Drops finished moves on the simulated table: put right, or absorbed by an action of the game, which has its own undo.
 *
 * @type {(state: State, view: GameView, before: GameView | null) => void}
 */
function dropSettledMoves(state, { moved = [], log = [] }, before) {
  const hasActed = before?.log.length !== log.length;
  const judged = before?.moved.map(({ unit }) => unit) ?? [];
  const waiting = [...moved.map(({ unit }) => unit), ...state.game.judging.split(", ")];
  const isOver = (/** @type {{unit: string}} */ { unit }) =>
    !waiting.includes(unit) && (hasActed || judged.includes(unit));
  state.undo = state.undo.filter((move) => !("lifted" in move ? [move.lifted] : move.placings).every(isOver));
}

/** Passes on the parts of a game that the board and the rulings need. @type {(state: State, view: Pick<GameView, "has_begun" | "marks" | "closed"> & Partial<GameView>) => void} */
export function shareWithBoard(state, view) {
  const { has_begun, marks, closed, actions, hint, is_over, is_yours, to_place, question = "", log = [] } = view;
  const marked = Object.entries(marks ?? {});
  state.remarks = Object.fromEntries(marked.map(([unit, own]) => [unit, markerWords(own)]));
  state.marks = marked.flatMap(([, own]) => own);
  state.closed = has_begun ? closed : null;
  state.rulings.isFollowing = has_begun;
  // A replay draws whatever it is asked for.
  state.isPlaying = has_begun && !is_over && actions !== undefined;
  const isByHand = (/** @type {Offer} */ { group }) => Boolean(state.facts.about.groups[group]?.hint);
  // A seat that is not asked does not know the moves open to others.
  const about = (actions ?? []).map(({ units }) => units).filter(({ length }) => length > 0);
  const ofAll = (about[0] ?? []).filter((unit) => about.every((units) => units.includes(unit)));
  const said = plainWords(`${question}, ${log.findLast(({ undone }) => !undone)?.text ?? ""}`);
  const things = [...(state.facts.units ?? []), ...(state.facts.commanders ?? [])].map(({ id }) => id);
  state.asked = [...ofAll, ...things.filter((id) => said.includes(plainWords(id)))];
  state.isByHand = !state.isPlaying || !is_yours || Boolean(hint || to_place?.length || actions?.some(isByHand));
}

/** The words of a text, each with a space on both sides. @type {(text: string) => string} */
function plainWords(text) {
  return ` ${text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, " ")
    .trim()} `;
}

/** Drops the entered dice when another roll is asked for. @type {(game: Game, roll: Offer | undefined) => void} */
function dropStaleFaces(game, roll) {
  const text = roll ? `${roll.label} ${game.view?.log.length}` : "";
  if (text !== game.facesOf) [game.faces, game.facesOf] = [[], text];
}

/** Units that are out of step with the game, where there are several. @type {(view: GameView | null) => Moved[]} */
export function outOfStep(view) {
  const astray = view?.moved.filter(({ is_back, is_legal }) => is_back && !is_legal) ?? [];
  return astray.length > 1 ? astray : [];
}

/** The units of the asked side whose moves by hand are lost if an offer is taken now. @type {(state: State, offer: Offer | undefined) => string[]} */
export function lostBy(state, offer) {
  const view = playing(state);
  if (!view || !offer || !state.facts.about.groups[offer.group]?.is_end) return [];
  const sides = new Map((state.now?.units ?? []).map(({ id, side }) => [id, side]));
  const open = view.moved.filter(({ unit, is_back }) => !is_back && sides.get(unit) === view.asked);
  return open.map(({ unit }) => unit);
}

/** The roll due from this seat. @type {(view: GameView | null) => Offer | undefined} */
export function requestedRoll(view) {
  return view?.actions?.find(({ dice }) => dice !== null);
}

/** The entered dice in the order of the roll. @type {(roll: Offer, faces: number[]) => number[]} */
export function valuesOf({ dice }, faces) {
  const values = [...faces];
  for (const [index, place] of (dice?.groups ?? []).flatMap(({ places }) => places).entries())
    values[place] = faces[index];
  return values;
}

/** Enters one more die. @type {(state: State, face: number) => void} */
export function addFace({ game }, face) {
  const count = requestedRoll(game.view)?.dice?.count ?? 0;
  if (game.faces.length < count) game.faces = [...game.faces, face];
}

/** Removes the last die. @type {(state: State) => void} */
export function dropFace({ game }) {
  game.faces = game.faces.slice(0, -1);
}

/** The line of the latest action that has its dice, if it rolled any. @type {(view: GameView) => LogLine | undefined} */
export function latestRoll({ log }) {
  const latest = latestChosen(log);
  return log.find(({ deed, dice }) => deed === latest?.deed && dice);
}

/** The first line of the latest action that a player chose and nobody took back. @type {(log: LogLine[]) => LogLine | undefined} */
export function latestChosen(log) {
  const latest = log.findLast(({ undone, is_chosen }) => !undone && is_chosen);
  return log.find(({ deed }) => deed === latest?.deed);
}

/** The heading of an offer: its unit, or its label up to a colon. @type {(offer: Offer) => string} */
export function headingOf({ action, label }) {
  if (typeof action.unit === "string") return action.unit;
  return label.includes(": ") ? label.slice(0, label.indexOf(": ")) : "";
}

/**
 * The buttons by group, always in the same order; actions that hands can also do come last. A long group shows only
 * those of a chosen unit, or is cut off, until it is opened; beside a group narrowed to a unit, short groups are
 * narrowed too, except for answers. Many that lead to places of the board are not listed until asked for.
 *
 * If several units have many buttons, `units` lists the units, and only the chosen one's buttons are shown.
 *
 * @typedef {{key: string, offer: Offer}} Button
 * @typedef {{group: string, units: string[], buttons: Button[], more: string}} Group  `more` names the hidden ones
 * @type {(state: State) => Group[]}
 */
export function groupsShown(state) {
  const chosen = new Set(chosenUnits(state));
  const isChosen = (/** @type {Button} */ { offer }) => offer.units.some((unit) => chosen.has(unit));
  const all = (state.game.view?.actions ?? []).map((offer, index) => ({ key: `offer ${index}`, offer }));
  // Passing alone as the last seat is the same as passing for all.
  const { place } = state.game;
  const isEnd = (/** @type {string} */ group) => Boolean(state.facts.about.groups[group]?.is_end);
  const isThere = (/** @type {Button} */ { key, offer }) => !place.length || place.includes(key) || isEnd(offer.group);
  const offered = all.filter(
    ({ key, offer }) => offer.dice === null && offer.passes_to !== "" && isThere({ key, offer }),
  );
  const passesLast = (/** @type {Button} */ { offer }) => Number(offer.passes_to !== undefined);
  const buttons = offered.toSorted((a, b) => passesLast(a) - passesLast(b));
  const groups = inOrder(state, [...new Set(buttons.map(({ offer }) => offer.group))]);
  const ownOf = (/** @type {string} */ name) => buttons.filter(({ offer }) => offer.group === name);
  const isLong = (/** @type {Button[]} */ own, most = MOST_BUTTONS) => own.length > most + 1;
  const isHinted = Boolean(state.game.view?.hint);
  const isNarrowed = isLong(buttons) && buttons.some(isChosen);
  return groups.map((group) => {
    const own = ownOf(group);
    if (place.length && !isEnd(group)) return { group, units: [], buttons: own, more: "All places" };
    const isByUnit = own.length > MOST_BUTTONS || state.game.byUnit[group] === playing(state)?.question;
    const isByHand = Boolean(state.facts.about.groups[group]?.hint);
    const unitsOf = (/** @type {Button} */ { offer }) => offer.action.unit ?? (isByHand ? offer.units.slice(0, 1) : []);
    const units = isByUnit ? [...new Set(own.flatMap(unitsOf))] : [];
    const sorted = sortedByHeading(own);
    const about = sorted.filter(isChosen);
    // Places are chosen on the board, where they are shaded, rather than from a long list.
    const listed = units.length > 1 || about.length ? about : sorted;
    const places = listed.filter(leadsToPlace);
    if (places.length > MOST_PLACES && !state.game.open.includes(group)) {
      const others = listed.filter((button) => !places.includes(button));
      const all = `show all ${listed.length}`;
      return { group, units, buttons: others, more: isHinted ? sentence(all) : `Tap a shaded place, or ${all}` };
    }
    if (units.length > 1) return { group, units, buttons: about, more: "" };
    // The button that opens the rest takes the room of one.
    const isMain = Boolean(state.facts.about.groups[group]?.is_main);
    const isOfUnits = own.every(({ offer }) => offer.units.length > 0);
    const isNarrow = isNarrowed && !isMain && isOfUnits;
    const most = state.facts.about.groups[group]?.most || MOST_BUTTONS;
    const isWhole =
      own.length === 1 ||
      (!isLong(own, most) && !isNarrow) ||
      state.game.open.includes(group) ||
      about.length === own.length;
    if (isWhole) return { group, units: [], buttons: sorted, more: "" };
    if (about.length || isNarrow) return { group, units: [], buttons: about, more: "Show all units" };
    const more = `${sorted.length - most} more`;
    return { group, units: [], buttons: sorted.slice(0, most), more };
  });
}

/** Groups in order: moves by hand are a long list, so they follow the others; then seldom used groups; those that end a step come last. @type {(state: State, groups: string[]) => string[]} */
function inOrder({ facts }, groups) {
  const rank = (/** @type {string} */ group) => {
    const { hint = "", is_main = false, is_end = false, is_seldom = false } = facts.about.groups[group] ?? {};
    if (is_end) return 4;
    if (!areByHand) return 0;
    return is_seldom ? 3 : hint ? 2 : is_main ? 0 : 1;
  };
  const areByHand = groups.some((group) => facts.about.groups[group]?.hint);
  return groups.toSorted((one, other) => rank(one) - rank(other));
}

/** The offer that a tap on a thing takes: one about it alone, or with a second tap the only one at that target. @type {(state: State, thing: string) => Offer | undefined} */
export function offerTapped(state, thing) {
  // The first tap on a target measures: the second one gives up its choice.
  if (!state.chosen.includes(thing)) return offerAimed(state, [...state.chosen, thing]);
  const offer = onlyOffer(state, state.chosen);
  return offer?.units.length === 1 ? offer : undefined;
}

/** The only offer about all that is chosen, if an enemy was chosen last. @type {(state: State, chosen?: string[]) => Offer | undefined} */
export function offerAimed(state, chosen = state.chosen) {
  const side = state.facts.units.find(({ id }) => `unit:${id}` === chosen.at(-1))?.side;
  return side !== undefined && side !== playing(state)?.asked ? onlyOffer(state, chosen) : undefined;
}

/** The only offer about some things that may be taken on the table. @type {(state: State, chosen: string[]) => Offer | undefined} */
function onlyOffer(state, chosen) {
  const view = playing(state);
  const { groups } = state.facts.about;
  const offered = view?.is_yours ? view.actions.filter(({ dice }) => dice === null) : [];
  const [offer, ...others] = offered.filter((offer) => isAbout({ ...state, chosen }, offer));
  // If hands may also move, or there are several ways, a tap only points something out.
  const isAsked = offer && !others.length && groups[offer.group]?.by_tap;
  return isAsked && !offered.some(({ group }) => groups[group]?.hint) ? offer : undefined;
}

/** @type {(state: State) => string[]} */
export function chosenUnits({ chosen }) {
  return chosen.map((thing) => thing.replace(/^unit:/, ""));
}

/** Whether an offer is about all chosen things. @type {(state: State, offer: Offer) => boolean} */
export function isAbout(state, { units }) {
  const chosen = chosenUnits(state);
  return chosen.length > 0 && chosen.every((unit) => units.includes(unit));
}

/** Roles of shapes that show where an offer leads. */
const PLACES = ["reach", "withdrawal"];

/** Whether a button leads to a place that the board shows. @type {(button: Button) => boolean} */
function leadsToPlace({ offer }) {
  return offer.shapes.some(({ role }) => PLACES.includes(role));
}

/** The buttons that lead to a point of the table; none if a thing there has offers of its own. @type {(state: State, thing: string | null, at_mm: Point) => string[]} */
export function placeButtons(state, thing, at_mm) {
  const view = playing(state);
  const offers = view?.is_yours ? view.actions : [];
  const isOffered = offers.some(({ units }) => units.includes(thing?.replace(/^[a-z]+:/, "") ?? ""));
  const leadsThere = (/** @type {Offer} */ { shapes }) =>
    shapes.some(({ role, points_mm }) => PLACES.includes(role) && isWithin(at_mm, points_mm));
  return isOffered ? [] : offers.flatMap((offer, index) => (leadsThere(offer) ? [`offer ${index}`] : []));
}

/** Whether a tap at a point answers the question, whatever counter lies there: a free place, or one that is asked for. @type {(state: State, thing: string | null, at_mm: Point) => boolean} */
export function isFreeToTake(state, thing, at_mm) {
  const isAskedFor = (/** @type {Shape} */ { role, points_mm }) => PLACES.includes(role) && isWithin(at_mm, points_mm);
  // Where counters face somewhere, a hex is no whole answer, and a tap looks at the counter.
  return !thing || isPoint(thing) || (!state.facts.about.faces && pendingShapes(state).some(isAskedFor));
}

/** The button that begins a move of the chosen unit by hand, if a point lies within its reach. @type {(state: State, thing: string | null, at_mm: Point) => string | undefined} */
export function beginButton(state, thing, at_mm) {
  const view = playing(state);
  const isInReach = shapesShown(state).some(({ role, points_mm }) => role === "reach" && isWithin(at_mm, points_mm));
  if (!view?.is_yours || state.chosen.length !== 1 || !isInReach || !isPoint(thing ?? "")) return undefined;
  const { groups } = state.facts.about;
  // One that shows where it leads is no beginning.
  const isBegin = (/** @type {Offer} */ offer) =>
    isAbout(state, offer) && Boolean(groups[offer.group]?.hint) && !offer.shapes.length;
  const index = view.actions.findIndex(isBegin);
  return index < 0 ? undefined : `offer ${index}`;
}

/** Whether a point lies in a polygon: a ray from it crosses its sides an odd number of times. @type {(at_mm: Point, corners_mm: Point[]) => boolean} */
function isWithin([x, y], corners_mm) {
  return corners_mm.reduce((isIn, [ax, ay], index) => {
    const [bx, by] = corners_mm[(index + 1) % corners_mm.length];
    const crosses = ay > y !== by > y && x < ax + ((y - ay) / (by - ay)) * (bx - ax);
    return crosses ? !isIn : isIn;
  }, false);
}

/** Whether a unit continues a group being composed: chosen with another, nothing is offered. @type {(state: State, thing: string) => boolean} */
export function isNextOfMany(state, thing) {
  const view = playing(state);
  const offered = view?.is_yours && view.sums?.length ? view.actions : [];
  const unit = thing.replace(/^unit:/, "");
  return offered.some(({ units }) => units.length === 1 && units[0] === unit);
}

/** Sorts buttons so that those of a unit stay together. @type {(buttons: Button[]) => Button[]} */
function sortedByHeading(buttons) {
  const bunches = [...new Set(buttons.map(({ offer }) => headingOf(offer)))];
  return bunches.flatMap((bunch) => buttons.filter(({ offer }) => headingOf(offer) === bunch));
}

/** The offer of a button. @type {(state: State, key: string) => Offer | undefined} */
export function offerOf(state, key) {
  return state.game.view?.actions?.[Number(key.slice("offer ".length))];
}

/** The drawing of the thing under the pointer. @type {(state: State) => Shape[]} */
export function lookedAtShapes(state) {
  const { looked, view } = state.game;
  if (!looked || !view?.has_begun) return [];
  if (looked.startsWith("offer ")) {
    // Where else it may go stays in sight.
    const others = pendingShapes(state).filter(({ role }) => PLACES.includes(role));
    return [...others, ...(offerOf(state, looked)?.shapes ?? [])];
  }
  if (looked.startsWith("moved "))
    return view.moved.find(({ unit }) => looked === `moved ${unit}`)?.answer.evidence ?? [];
  return view.log[Number(looked.slice("log ".length))]?.evidence ?? [];
}

/** The drawing of what the game waits for. @type {(state: State) => Shape[]} */
export function pendingShapes(state) {
  return playing(state)?.pictured ?? [];
}

/** Whether there is room for all lines of the latest action: this seat is not asked, has units to place, or has to answer it. @type {(view: GameView | null) => boolean} */
export function hasRoomForAll(view) {
  if (!view || view.is_over) return false;
  const isAnswer = (/** @type {Offer} */ { group }) => group === "answer";
  return !view.is_yours || view.to_place.length > 0 || Boolean(view.actions?.some(isAnswer));
}

/** The drawing of the latest action and its automatic consequences. @type {(state: State) => Shape[]} */
export function latestEvidence(state) {
  const log = playing(state)?.log ?? [];
  const first = latestChosen(log)?.deed ?? Infinity;
  return log.filter(({ deed, undone }) => deed >= first && !undone).flatMap(({ evidence }) => evidence);
}

/** The name of this page's seat on its tapes and pings. @type {(state: State) => string} */
export function seatName({ game }) {
  const { kind = "shared", side = null } = game.view?.seat ?? {};
  return side ?? kind;
}

/** Whether this page's seat may change anything. @type {(state: State) => boolean} */
export function isPlayer(state) {
  return seatName(state) !== "spectator";
}

/** The only chosen thing, if it is a unit. @type {(state: State) => string | null} */
export function chosenUnit(state) {
  const [first] = state.chosen;
  return state.chosen.length === 1 && first.startsWith("unit:") ? first.slice("unit:".length) : null;
}

/** @type {() => Laying} */
export function newLaying() {
  return { pieces: null, chosen: null, kind: "", tool: "oval", corners: [], undo: [] };
}
