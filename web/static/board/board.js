/**
 * The table as one SVG, shared by the live page and the replay. Its viewBox is in millimetres; its
 * outer group carries the y-flip (and the side from which the player looks), so that everything
 * inside is in the table frame.
 *
 * @typedef {import("./state.js").State} State
 * @typedef {import("./state.js").Shape} Shape
 * @typedef {import("./view.js").View} View
 * @typedef {import("../shared/gestures.js").Touch} Touch
 * @typedef {import("../shared/gestures.js").Drag} Drag
 * @typedef {import("./layers.js").Layers} Layers
 *
 * @typedef {object} Events  the signature of each event's listener
 * @property {(at: Touch) => unknown} tap
 * @property {(at: Touch) => unknown} doubleTap
 * @property {(at: Touch) => unknown} longPress
 * @property {(at: Touch | null) => unknown} hover
 * @property {(at: Touch) => Drag | null} grab  what a drag from here carries; null: the view
 * @property {(direction: number) => unknown} wheel  before it zooms
 * @property {() => unknown} view  the view has changed
 * @property {(layers: Layers) => unknown} draw  the table has been drawn
 */
import { byId, setAttr, svgElement } from "../shared/dom.js";
import { listenToPointers } from "../shared/gestures.js";
import { bodiesUpon, sparselyLabelled, withLabels } from "./labels.js";
import { makeLegend, updateLegend } from "./legend.js";
import { placeView, renderGhost, renderGround, renderPings, renderTapes, renderUnits } from "./layers.js";
import { playedOn, renderHexes, renderStacks } from "./hexes.js";
import { updateShapes } from "./shapes.js";
import { sideClass, unitOf } from "./things.js";
import { panned, resized, wholeTable, zoomed } from "./view.js";

const LAYERS = [
  "ground",
  "picture",
  "hexes",
  "terrain",
  "masks",
  "about",
  "beneath",
  "stacks",
  "units",
  "commanders",
  "proof",
  "game",
  "placing",
  "markers",
  "names",
  "badges",
  "results",
  "ghost",
  "tapes",
  "pings",
  "draft",
  "handle",
];

const ZOOM_STEP = 1.35;
/** The view follows what is played on when it grows by more than this. */
const OUTGROWN_MM = 10;
/** Wheel travel that zooms by the factor e. */
const WHEEL_PER_ZOOM = 480;

/** Roles of shapes that are drawn beneath the units, whose colours they would change. */
const BENEATH = new Set(["fire-zone", "lane", "wheel", "directly-in-front", "ring", "cover", "reach"]);

/** Draws the table and reports what pointers do on it. */
export class Board {
  /** @type {{[Name in keyof Events]?: Events[Name][]}} */
  #listeners = {};
  /** @type {Layers} */
  #layers = {};
  #table = svgElement("g", { class: "table-frame" });
  /** The shapes that are drawn now, by layer. @type {Record<string, Shape[]>} */
  #drawn = {};
  #legend = makeLegend();
  /** @type {import("./view.js").Area | null} */
  #fitted = null;

  /** @param {SVGSVGElement} svg @param {State} state */
  constructor(svg, state) {
    this.svg = svg;
    this.state = state;
    for (const name of LAYERS) this.#table.append((this.#layers[name] = svgElement("g", { class: `layer ${name}` })));
    svg.append(this.#table);
    svg.after(this.#legend);
    this.#listen();
  }

  /** Draws a state of the table. @param {State} state */
  set(state) {
    this.state = state;
    if (state.fitted && this.#hasOutgrown()) this.fit();
    placeView(this.svg, this.#table, state);
    renderGround(this.#layers, state);
    renderHexes(this.#layers.hexes, state);
    renderStacks(this.#layers, state);
    renderUnits(this.#layers, state);
    renderTapes(this.#layers.tapes, state);
    renderPings(this.#layers.pings, state);
    renderGhost(this.#layers, state);
    this.#emit("draw", this.#layers);
    updateLegend(this.#legend, Object.values(this.#drawn).flat(), state);
  }

  /**
   * Adds a listener; one that returns something truthy has handled the event, and the rest are skipped.
   *
   * @template {keyof Events} Name
   * @param {Name} name
   * @param {Events[Name]} listener
   */
  on(name, listener) {
    this.#listeners[name] = /** @type {any} */ ([...(this.#listeners[name] ?? []), listener]);
  }

  /** Draws shapes that explain something, with labels that do not overlap, and returns them. @param {Shape[]} shapes @param {"proof" | "game"} layer */
  shapes(shapes, layer = "proof") {
    this.#drawn[layer] = shapes;
    const labelled = withLabels(sparselyLabelled(shapes), this.state);
    const isBeneath = (/** @type {Shape} */ { role }) => layer === "proof" && BENEATH.has(role);
    if (layer === "proof") updateShapes(this.#layers.beneath, labelled.filter(isBeneath), this.state);
    updateShapes(
      this.#layers[layer],
      labelled.filter((shape) => !isBeneath(shape)),
      this.state,
    );
    return labelled;
  }

  /** Draws the shapes that explain the chosen thing. @param {Shape[]} shapes */
  explain(shapes) {
    this.#drawn.about = shapes;
    const { about } = this.#layers;
    // It lies beneath the units, which would cover the words.
    updateShapes(about, withLabels(shapes, this.state, bodiesUpon(this.state)), this.state);
    const { chosen } = this.state;
    const side = chosen.length ? unitOf(this.state, chosen[0])?.side : undefined;
    setAttr(about, "class", `layer about ${side === undefined ? "" : sideClass(this.state, side)}`);
  }

  /** Moves the view. @param {number} dx_px @param {number} dy_px */
  pan(dx_px, dy_px) {
    this.#look(panned(this.state.view, this.state.facts, dx_px, dy_px));
  }

  /** Zooms about a point of the screen. @param {number} factor @param {number} x_px @param {number} y_px */
  zoom(factor, x_px = this.state.view.width_px / 2, y_px = this.state.view.height_px / 2) {
    this.#look(zoomed(this.state.view, this.state.facts, factor, x_px, y_px));
  }

  /** Shows all that is played on, also after the page is resized. @param {number} [turn] */
  fit(turn = this.state.turned ? this.state.view.turn : undefined) {
    this.#fitted = playedOn(this.state);
    this.#look(wholeTable(this.state.facts, this.svg, this.#fitted, turn));
    this.state.fitted = true;
  }

  /** Whether something was laid outside what the view shows. */
  #hasOutgrown() {
    if (!this.#fitted) return false;
    const [[left, low], [right, high]] = this.#fitted;
    const [[least_x, least_y], [most_x, most_y]] = playedOn(this.state);
    return Math.max(left - least_x, low - least_y, most_x - right, most_y - high) > OUTGROWN_MM;
  }

  /** Looks from the next side of the table. */
  turn() {
    this.state.turned = true;
    this.fit((this.state.view.turn + 1) % 4);
  }

  /** The keys of the view. @returns {import("../shared/keyboard.js").Keys} */
  get keys() {
    const closer = () => this.zoom(ZOOM_STEP);
    return { "+": closer, "=": closer, "-": () => this.zoom(1 / ZOOM_STEP), 0: () => this.fit(), t: () => this.turn() };
  }

  #listen() {
    listenToPointers(this.svg, {
      tap: (at) => this.#emit("tap", at),
      doubleTap: (at) => this.#emit("doubleTap", at),
      longPress: (at) => this.#emit("longPress", at),
      hover: (at) => this.#emit("hover", at),
      grab: (at) => this.#emit("grab", at) ?? null,
      pan: (dx_px, dy_px) => this.pan(dx_px, dy_px),
      zoom: (factor, x_px, y_px) => this.zoom(factor, x_px, y_px),
      wheel: (at, delta) => {
        if (!this.#emit("wheel", Math.sign(delta))) this.zoom(Math.exp(-delta / WHEEL_PER_ZOOM), at.x, at.y);
      },
    });
    const buttons = {
      "zoom-in": () => this.zoom(ZOOM_STEP),
      "zoom-out": () => this.zoom(1 / ZOOM_STEP),
      fit: () => this.fit(),
      turn: () => this.turn(),
    };
    for (const [id, press] of Object.entries(buttons)) byId(id).addEventListener("click", press);
    new ResizeObserver(() => {
      if (this.state.fitted) this.fit();
      else this.#look(resized(this.state.view, this.svg.clientWidth, this.svg.clientHeight));
    }).observe(this.svg);
  }

  /** @param {View} view */
  #look(view) {
    this.state.view = view;
    this.state.fitted = false;
    this.#emit("view");
  }

  /**
   * @template {keyof Events} Name
   * @param {Name} name
   * @param {Parameters<Events[Name]>} given
   * @returns {ReturnType<Events[Name]> | undefined}
   */
  #emit(name, ...given) {
    for (const listener of this.#listeners[name] ?? []) {
      const answer = /** @type {any} */ (listener)(...given);
      if (answer) return answer;
    }
    return undefined;
  }
}
