/** Sends players' commands to the game, one request at a time; each answer is its new view. */
import { byId, PHONE } from "../shared/dom.js";
import { field, listenToHover, listenToLongPresses, onClick, onClickWithin, slidePanel } from "../shared/events.js";
import { RequestError } from "../shared/http.js";
import { chooseAlone, clear } from "../board/choosing.js";
import { thingAt } from "../board/picking.js";
import * as api from "./api.js";
import { beginOptions, listenToChoices, opensAnew, opensSettings } from "./begin.js";
import { listenToForce } from "./force.js";
import { listenToLog } from "./log.js";
import { listenToStates, statesAction } from "./midgame.js";
import { listenToFreshLists } from "./panel.js";
import { decisionKey, HOLDS_FROM, listenToMoved } from "./pending.js";
import { listenToSeats } from "./seats.js";
import { listenToSetup } from "./setup.js";
import {
  addFace,
  beginButton,
  BEGINNING,
  chosenUnits,
  closeLine,
  dropFace,
  isAbout,
  isFreeToTake,
  lostBy,
  offerAimed,
  offerOf,
  offerTapped,
  outOfStep,
  placeButtons,
  playing,
  receiveView,
  requestedRoll,
  unconfirmed,
  valuesOf,
} from "./state.js";

/** @typedef {import("./state.js").State} State */
/** @typedef {import("./state.js").Action} Action */
/** @typedef {import("./state.js").Point} Point */
/** @typedef {import("../board/state.js").TableState} TableState */

const TUMBLE_MS = 700;
const GONE_ON = "The game has moved on: look again.";

/** Listens to the game's part of the page; returns its keys, which fall back to `others`. @type {(commands: Commands, board: import("../board/board.js").Board, others: import("../shared/keyboard.js").Keys) => import("../shared/keyboard.js").Keys} */
export function listenToGame(commands, board, others) {
  const { state, changed } = commands;
  if (!state.facts.referee) return others;
  listenToFreshLists();
  listenToBegin(commands);
  listenToOffers(commands);
  listenToForce(commands);
  listenToMoved(commands);
  listenToSeats(commands);
  listenToLog(commands);
  listenToSetup(commands);
  listenToStates(commands);
  for (const kind of /** @type {const} */ (["tap", "doubleTap"]))
    board.on(kind, (at) => {
      const thing = thingAt(state, at.x, at.y, at);
      if (thing) commands.takeMeant(offerTapped(state, thing));
    });
  onClick("game-undo", () => commands.undo());
  onClick("game-redo", () => commands.redo());
  onClick("game-pass", () => commands.passAll());
  onClickWithin("overrule-body", "data-set", (set) => commands.overrule(JSON.parse(set)));
  byId("game-overrule").addEventListener("toggle", changed);
  return {
    ...others,
    ...diceKeys(commands, others),
    Escape: (event) => {
      if (state.ghost || !commands.close()) others.Escape(event);
    },
    undo: (event) =>
      commands.answered.then(() => {
        if (!commands.undoLatest()) others.undo(event);
      }),
    redo: () => commands.answered.then(() => commands.redo()),
  };
}

/** Keys that enter dice while a roll is due, or take the shot at a target that was chosen. @type {(commands: Commands, others: import("../shared/keyboard.js").Keys) => import("../shared/keyboard.js").Keys} */
function diceKeys(commands, others) {
  const { state } = commands;
  const { game } = state;
  const isFull = () => game.faces.length === requestedRoll(playing(state))?.dice?.count;
  const isFace = (/** @type {number} */ face) => {
    const { lowest, sides } = requestedRoll(playing(state))?.dice ?? { lowest: 1, sides: 0 };
    return face >= lowest && face < lowest + sides;
  };
  const key = (
    /** @type {string} */ name,
    /** @type {() => void} */ press,
    isIts = () => requestedRoll(playing(state)) !== undefined,
  ) => [
    name,
    (/** @type {KeyboardEvent} */ event) => {
      if (!isIts()) return name in others && others[name](event);
      if (!event.repeat && game.busy === null) press();
    },
  ];
  // On another thing it chooses that.
  const isOnOther = () =>
    ![undefined, state.chosen.at(-1)].includes(document.activeElement?.getAttribute("data-thing") ?? undefined);
  const mayEnter = () => isFull() || (offerAimed(state) !== undefined && !isOnOther());
  const enter = () => (isFull() ? commands.enter() : commands.takeMeant(offerAimed(state)));
  return Object.fromEntries([
    ...Array.from({ length: 10 }, (_, face) =>
      key(
        String(face),
        () => commands.change(() => addFace(state, face)),
        () => isFace(face),
      ),
    ),
    key("Backspace", () => commands.change(() => dropFace(state))),
    key("Enter", enter, mayEnter),
    key("Enter after a click", enter, mayEnter),
  ]);
}

/** One page's commands to the game. */
export class Commands {
  /** @param {State} state @param {() => void} changed */
  constructor(state, changed) {
    this.state = state;
    this.changed = changed;
    /** Whether the pointer is at a place to which an offer leads. */
    this.isOnPlace = false;
    /** The latest request; its effect may be seen before its answer. @type {Promise<void>} */
    this.answered = Promise.resolve();
  }

  /** Changes the page's state, without a request. @param {() => void} update */
  change(update) {
    update();
    this.changed();
  }

  /** Closes the open details of a move or a log line; false if there are none. */
  close() {
    const { game } = this.state;
    const isOpen = closeLine(game) || game.accepting !== null;
    game.accepting = null;
    this.changed();
    return isOpen;
  }

  /** Sends a request, unless one is under way; units that it moves do not stay chosen. @param {string} what @param {() => Promise<import("./state.js").GameView>} ask @param {string[]} moved */
  send(what, ask, moved = []) {
    if (this.state.game.busy === null) this.answered = this.answer(what, ask, moved);
    return this.answered;
  }

  /** @param {string} what @param {() => Promise<import("./state.js").GameView>} ask @param {string[]} moved */
  async answer(what, ask, moved) {
    const { game } = this.state;
    Object.assign(game, { busy: what, said: "" });
    this.changed();
    const before = game.view;
    try {
      receiveView(this.state, await ask(), before);
      closeLine(game);
      game.looked = null;
      if (this.state.chosen.length && chosenUnits(this.state).every((unit) => moved.includes(unit))) clear(this.state);
    } catch (error) {
      game.said = await this.excuse(error);
    }
    game.busy = null;
    this.changed();
  }

  /** Why a command failed; after a conflict, the newest view is loaded. @param {unknown} error @returns {Promise<string>} */
  async excuse(error) {
    if (!(error instanceof RequestError)) return "No connection to the table: nothing was done.";
    if (error.status === 409)
      await api.game().then(
        (view) => receiveView(this.state, view, this.state.game.view),
        () => {},
      );
    return error.status === 409 ? GONE_ON : error.message;
  }

  get version() {
    return this.state.game.view?.version;
  }

  /** @param {Action} action @param {string} [what] @param {string[]} [moved] */
  act(action, what = "Working …", moved = []) {
    return this.send(what, () => api.sendCommand("act", { action, version: this.version }), moved);
  }

  /** @param {string} key */
  take(key) {
    const offer = offerOf(this.state, key);
    const isWarned = this.state.game.warned === key;
    if (!isWarned && lostBy(this.state, offer).length)
      this.change(() => {
        this.state.game.warned = key;
      });
    else if (offer) {
      const isMove = Boolean(this.state.facts.about.groups[offer.group]?.hint);
      // Units chosen for it are not also measured.
      const isFor = isAbout(this.state, offer) && (this.state.chosen.length > 1 || playing(this.state)?.sums?.length);
      this.act(offer.action, offer.dice ? "Rolling …" : undefined, isMove || isFor ? offer.units : []);
    }
  }

  /** Takes what was asked for on the table. @param {import("./state.js").Offer | undefined} offer */
  takeMeant(offer) {
    if (!offer || this.state.game.busy !== null) return;
    clear(this.state);
    this.act(offer.action);
  }

  /** Takes the offer that leads to a tapped place, begins a move there, or shows the offers if they differ or a counter is looked at; false if none is taken. @param {string | null} thing @param {Point} at_mm @param {boolean} [mayBegin] */
  tapPlace(thing, at_mm, mayBegin = true) {
    const keys = placeButtons(this.state, thing, at_mm);
    const { game } = this.state;
    const isFree = isFreeToTake(this.state, thing, at_mm);
    const begin = keys.length ? undefined : beginButton(this.state, thing, at_mm);
    if (begin && mayBegin) {
      // While another command is under way, the tap waits for its answer.
      const waits = game.busy !== null;
      if (!waits) this.take(begin);
      void this.answered.then(() => this.tapPlace(thing, at_mm, waits));
      return true;
    }
    if (keys.length === 1 && isFree && game.busy === null) this.take(keys[0]);
    this.change(() => {
      game.place = keys.length > 1 || !isFree ? keys : [];
      if (game.place.length) Object.assign(game, { tab: "tab-game" });
    });
    if (game.place.length) {
      byId("panel").scrollTop = 0;
      // On a phone the answers lie below their group's hint.
      const answer = () => byId("game-actions").querySelector("button")?.scrollIntoView({ block: "center" });
      if (matchMedia(PHONE).matches) requestAnimationFrame(answer);
    }
    return keys.length > 0 && isFree;
  }

  /** Shows the offers that lead to the place under the pointer; false if there are none. @param {string | null} thing @param {Point} at_mm */
  lookAtPlace(thing, at_mm) {
    const { game } = this.state;
    const isFree = isFreeToTake(this.state, thing, at_mm);
    const [key = null] = isFree ? placeButtons(this.state, thing, at_mm) : [];
    if (key !== null || this.isOnPlace) game.looked = key;
    this.isOnPlace = key !== null;
    return this.isOnPlace;
  }

  /** Sends the dice that were entered. */
  enter() {
    const roll = requestedRoll(this.state.game.view);
    const { faces } = this.state.game;
    if (roll && faces.length === roll.dice?.count) this.act({ ...roll.action, values: valuesOf(roll, faces) });
  }

  /** Overrules the game, with the reason that was typed. @param {Record<string, any>} set */
  overrule(set) {
    const why = field("overrule-why").value.trim();
    if (typeof set.accept === "string") return this.accept(set.accept, why);
    return this.act({ type: "overrule", why, ...set });
  }

  /** Accepts a unit or a commander where it lies. @param {string} unit @param {string} why */
  accept(unit, why) {
    const units = [unit];
    return this.send("Accepting …", () => api.sendCommand("accept", { units, why, version: this.version }), units);
  }

  /** Accepts units where they lie; by default all that are out of step. @param {{unit: string}[]} [moved] */
  async acceptAll(moved = outOfStep(playing(this.state))) {
    const units = moved.map(({ unit }) => unit);
    if (!units.length) return;
    await this.send("Accepting …", () => api.sendCommand("accept", { units, version: this.version }));
  }

  /** Shows or hides the choices for another game. */
  beginAgain() {
    this.change(() => {
      Object.assign(this.state.game, { again: !this.state.game.again, tab: "tab-game" });
      byId("panel").scrollTop = 0;
    });
  }

  /** Passes for every seat asked in a row. */
  passAll() {
    return this.send("Going on …", () => api.sendCommand("pass-all", { version: this.version }));
  }

  /** @param {string} unit @param {string} way */
  confirm(unit, way) {
    return this.send("Confirming …", () => api.sendCommand("confirm", { unit, way, version: this.version }), [unit]);
  }

  /** Picks which of its possible actions a move was. @param {string} unit @param {number} index */
  pick(unit, index) {
    const moved = playing(this.state)?.moved.find((moved) => moved.unit === unit);
    if (moved) this.act(moved.choices[index].action);
  }

  /** Confirms all moves that can be confirmed together. */
  confirmAll() {
    const units = playing(this.state)?.together ?? [];
    return this.send("Confirming …", () => api.sendCommand("confirm-all", { units, version: this.version }), units);
  }

  /** Records the intended end of a move in advance. @param {{unit: string, of: string, limit: number, symbol: string, is_within: boolean}} intent */
  intend(intent) {
    return this.send("Saving the intent …", () => api.sendCommand("intend", { ...intent, version: this.version }));
  }

  /** Rolls a die for a close call; it is shown before it counts. @param {string} unit */
  async decide(unit) {
    const moved = playing(this.state)?.moved.find((suggestion) => suggestion.unit === unit);
    if (!moved) return;
    const face = 1 + (crypto.getRandomValues(new Uint32Array(1))[0] % 6);
    this.change(() => {
      this.state.game.decided = { key: decisionKey(moved), face };
    });
    await new Promise((done) => setTimeout(done, TUMBLE_MS));
    if (face >= HOLDS_FROM) await this.confirm(unit, "die");
  }

  undo() {
    if (playing(this.state)?.can_undo)
      this.send("Taking back …", () => api.sendCommand("undo", { version: this.version }));
  }

  /** Takes back everything from an action on. @param {number} action */
  undoTo(action) {
    this.state.game.tab = "tab-game";
    return this.send("Taking back …", () => api.sendCommand("undo", { deed: action, version: this.version }));
  }

  redo() {
    if (playing(this.state)?.can_redo)
      this.send("Doing again …", () => api.sendCommand("redo", { version: this.version }));
  }

  /** Corrects the dice of an action; what followed is replayed where possible. @param {number} action @param {number[]} values @param {string} why */
  correct(action, values, why) {
    return this.send("Correcting …", () =>
      api.sendCommand("correct", { deed: action, values, why, version: this.version }),
    );
  }

  /** Loads the possible corrections of a logged action, while its line is open. @param {string} line @param {number} action */
  async loadCorrections(line, action) {
    const { game } = this.state;
    try {
      const { others, dice } = await api.corrections(action);
      if (game.line === line)
        this.change(() => {
          game.choosing = { action, offers: others, dice, isOpen: false };
        });
    } catch (error) {
      const said = await this.excuse(error);
      this.change(() => Object.assign(game, { said }));
    }
  }

  /** Replaces an action by an alternative; what followed is replayed where possible. @param {number} done @param {Action} action @param {string} why */
  correctChoice(done, action, why) {
    return this.send("Correcting …", () =>
      api.sendCommand("correct", { deed: done, action, why, version: this.version }),
    );
  }

  /** Takes back the latest action; false if the latest was a move on the simulated table, or none. */
  undoLatest() {
    const isOnTable = this.state.undo.length > 0 || unconfirmed(this.state) !== undefined;
    const isOfGame = Boolean(playing(this.state)?.can_undo) && !isOnTable;
    if (isOfGame) this.undo();
    return isOfGame;
  }

  begin() {
    const options = beginOptions(this.state);
    const opens = opensSettings(this.state);
    this.send(BEGINNING, async () => {
      const isAnew = opensAnew(this.state);
      if (isAnew || this.state.now?.simulated?.resting === false) {
        await api.controlScript("stand-still");
        if (isAnew) await api.controlScript("restart");
        if (isAnew) this.state.undo = [];
        await waitForRest(this.state, isAnew ? LOOKS_AFTER_RESTART : 1);
      }
      const view = await api.sendCommand("begin", { options });
      // On a phone, units chosen before would hide what the game asks.
      clear(this.state);
      Object.assign(this.state.game, { again: false, states: opens && !view.proposed ? {} : null });
      // A scenario has its own places: hands of the demo lay the units there.
      if (!this.state.facts.simulated || !this.state.facts.files.scenario) return view;
      await api.lay();
      await waitForRest(this.state, LOOKS_AFTER_RESTART);
      return api.game();
    });
  }

  /** Agrees to the other side's proposal. */
  agree() {
    const proposed = playing(this.state)?.proposed;
    if (proposed) this.send("Agreeing …", () => api.sendCommand("agree", { proposal: proposed.number }));
  }

  /** Sends all states set on their screen, with units moved by hand meanwhile, and closes it. */
  async setStates() {
    await this.acceptAll(playing(this.state)?.moved);
    if (this.state.game.said) return;
    await this.act(statesAction(this.state), "Saving …");
    if (!this.state.game.said)
      this.change(() => {
        this.state.game.states = null;
      });
  }

  /** @param {string} seat */
  sit(seat) {
    this.send("Changing seats …", async () => {
      await api.takeSeat(seat);
      this.state.game.seats = await api.seats();
      return api.game();
    });
  }
}

/** @type {(commands: Commands) => void} */
function listenToBegin(commands) {
  listenToChoices(commands);
  onClick("begin", () => commands.begin());
  onClick("agree", () => commands.agree());
  for (const id of ["begin-again", "begin-back", "astray-begin"]) onClick(id, () => commands.beginAgain());
  onClick("turn-question", () => slidePanel(true));
}

/** Offers act on a tap, and show their drawing on hover, focus or a long press. @type {(commands: Commands) => void} */
function listenToOffers(commands) {
  const { state } = commands;
  const look = (/** @type {string | null} */ key) =>
    commands.change(() => {
      state.game.looked = key;
    });
  const press = listenToLongPresses(byId("game-actions"), "data-offer", look);
  onClickWithin("game-actions", "data-offer", (key) => {
    if (!press.wasLong()) commands.take(key);
  });
  onClickWithin("game-actions", "data-unit-chip", (unit) => commands.change(() => chooseAlone(state, `unit:${unit}`)));
  for (const part of ["game-actions", "game-missing"])
    onClickWithin(part, "data-more", (group) =>
      commands.change(() => {
        state.game.open = state.game.place.length ? state.game.open : [...state.game.open, group];
        state.game.place = [];
      }),
    );
  onClickWithin("game-dice-keys", "data-face", (face) => commands.change(() => addFace(state, Number(face))));
  onClick("game-dice-back", () => commands.change(() => dropFace(state)));
  onClick("game-dice-enter", () => commands.enter());
  onClickWithin("game-dice-roll", "data-offer", (key) => commands.take(key));
  for (const [id, attribute] of [
    ["game-actions", "data-offer"],
    ["game-moved", "data-look"],
    ["astray-moved", "data-look"],
  ])
    listenToHover(byId(id), attribute, look);
}

const LOOK_MS = 150;
/** After this many looks, something is under a hand or invisible. */
const MOST_LOOKS = 60;
/** After a restart everything lies elsewhere, which counts only after some frames. */
const LOOKS_AFTER_RESTART = 4;
/** Smaller moves count as none; the camera's noise is well below. */
const STILL_MM = 1;

/** Waits until two or more frames in a row agree, with nothing hidden. @type {(state: State, agreeing?: number) => Promise<void>} */
export async function waitForRest(state, agreeing = 1) {
  let before = state.now;
  let atRest = 0;
  for (let look = 0; look < MOST_LOOKS && atRest < agreeing; look += 1) {
    await new Promise((done) => setTimeout(done, LOOK_MS));
    if (state.now?.frame === before?.frame) continue;
    atRest = isAtRest(state.now, before) ? atRest + 1 : 0;
    before = state.now;
  }
}

/** @type {(now: TableState | null, before: TableState | null) => boolean} */
export function isAtRest(now, before) {
  if (!now || !before || now.simulated?.paused === false || before.simulated?.paused === false) return false;
  if (now.health.tags_held > 0 || now.units.length !== before.units.length) return false;
  const places = new Map(before.units.map(({ id, x_mm, y_mm }) => [id, { x_mm, y_mm }]));
  return now.units.every(({ id, x_mm, y_mm }) => {
    const lay = places.get(id);
    return lay !== undefined && Math.hypot(x_mm - lay.x_mm, y_mm - lay.y_mm) < STILL_MM;
  });
}
