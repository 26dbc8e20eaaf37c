/** Charts losses over time: each side's first figure, or its units on the table. */
import { byId, element, setAttr, setText, svgElement, updateChildren } from "../shared/dom.js";
import { sentence } from "../shared/text.js";
import { sideClass, sideName, sideNumber } from "../board/things.js";
import { clock } from "./lines.js";

/** @typedef {import("../game/state.js").State} State */
/** @typedef {import("./state.js").Replay} Replay */
/** @typedef {import("./film.js").Film} Film */

const SIZE = { width: 300, height: 96, left: 30, right: 8, top: 8, bottom: 14 };

/** Updates the chart. @type {(state: State, replay: Replay) => void} */
export function renderChart(state, replay) {
  const { film, at } = replay;
  const chart = byId("chart");
  const drawn = String(film.entries.length);
  if (chart.getAttribute("data-drawn") !== drawn) {
    setAttr(chart, "data-drawn", drawn);
    drawLines(state, film);
    listLost(state, film);
  }
  const x = xAt(film, at).toFixed(1);
  setAttr(byId("chart-now"), "d", `M${x} ${SIZE.top - 4}V${SIZE.height - SIZE.bottom}`);
  for (const row of byId("lost").children) row.classList.toggle("future", Number(row.getAttribute("data-at")) > at);
  const known = countedBy(film) && !figureOf(film, null, at) ? [] : state.facts.sides; // before a game there is none
  const strengths = known.map((side) => `${sideName(state, side)} ${strengthOf(film, side, at)}`);
  setText(byId("losses-now"), strengths.join(" · "));
}

/** @type {(film: Film, at: number) => number} */
function xAt(film, at) {
  const inner = SIZE.width - SIZE.left - SIZE.right;
  return SIZE.left + (inner * (film.plays[at] ?? 0)) / (film.length_s || 1);
}

/** The time at a place across the chart. @type {(film: Film, share: number) => number} */
export function timeAt(film, share) {
  const inner = SIZE.width - SIZE.left - SIZE.right;
  return (film.length_s * (share * SIZE.width - SIZE.left)) / inner;
}

/** The first figure of a side at an entry. @type {(film: Film, side: string | null, at: number) => import("../game/state.js").Figure | undefined} */
function figureOf(film, side, at) {
  const sides = film.standings[at]?.standing?.sides ?? [];
  const [first] = sides.find(({ name }) => side === null || name === side)?.figures ?? [];
  return typeof first?.value === "number" ? first : undefined;
}

/** The label of the game's count, such as victory points; empty if it counts nothing. @type {(film: Film) => string} */
function countedBy(film) {
  return film.entries.map((_, at) => figureOf(film, null, at)?.label ?? "").find(Boolean) ?? "";
}

/** A side's strength: its first figure if the game counts anything, or its units. @type {(film: Film, side: string, at: number) => number} */
function strengthOf(film, side, at) {
  const figure = figureOf(film, side, at);
  return figure ? Number(figure.value) : film.tableAt(at).units.filter((unit) => unit.side === side).length;
}

/** @type {(state: State, film: Film) => void} */
function drawLines(state, film) {
  const label = countedBy(film);
  const places = film.entries.flatMap((_, at) => (label && !figureOf(film, null, at) ? [] : [at]));
  const lines = state.facts.sides.map((side) => ({ side, steps: steps(film, side, places) }));
  const most = Math.max(1, ...lines.flatMap(({ steps }) => steps.map(({ value }) => value)));
  const yOf = (/** @type {number} */ value) =>
    SIZE.height - SIZE.bottom - ((SIZE.height - SIZE.top - SIZE.bottom) * value) / most;
  setText(byId("losses-title"), label ? sentence(label) : "Units on the table");
  updateChildren(
    byId("chart-lines"),
    lines,
    ({ side }) => side,
    makeLine,
    (group, { side, steps: own }) => {
      setAttr(group, "class", `line-${sideNumber(state, side) % 8} ${sideClass(state, side)}`);
      const path = own
        .map(({ at, value }, index) =>
          index
            ? `H${xAt(film, at).toFixed(1)}V${yOf(value).toFixed(1)}`
            : `M${xAt(film, at).toFixed(1)} ${yOf(value).toFixed(1)}`,
        )
        .join("");
      setAttr(group.children[0], "d", own.length ? `${path}H${SIZE.width - SIZE.right}` : "");
    },
  );
  setText(byId("chart-most"), String(most));
  updateChildren(byId("chart-sides"), state.facts.sides, String, makeKey, (node, side) => {
    setAttr(node, "class", `${sideClass(state, side)} line-${sideNumber(state, side) % 8}`);
    setText(node.children[1], sideName(state, side));
  });
}

/** Drops steps that change nothing. @type {(film: Film, side: string, places: number[]) => {at: number, value: number}[]} */
function steps(film, side, places) {
  let before = NaN;
  return places.flatMap((at) => {
    const value = strengthOf(film, side, at);
    if (value === before) return [];
    before = value;
    return [{ at, value }];
  });
}

/** @type {() => SVGElement} */
function makeLine() {
  const group = svgElement("g");
  group.append(svgElement("path"));
  return group;
}

/** @type {() => HTMLElement} */
function makeKey() {
  const node = element("li", "span", "span");
  const dash = svgElement("svg", { viewBox: "0 0 24 6", "aria-hidden": "true" });
  dash.append(svgElement("path", { d: "M0 3H24" }));
  node.children[0].append(dash);
  return node;
}

/** Updates the list of broken units. @type {(state: State, film: Film) => void} */
function listLost(state, film) {
  const broken = film.moments.filter(({ kind }) => kind === "loss");
  updateChildren(
    byId("lost"),
    broken,
    ({ at, text }) => `${at} ${text}`,
    () => element("li", "button"),
    (row, { at, text }) => {
      setAttr(row, "data-at", String(at));
      const button = row.children[0];
      setAttr(button, "data-at", String(at));
      setText(button, `${clock(film.entries[at].t)}  ✕ ${text}`);
    },
  );
  byId("lost-none").hidden = broken.length > 0;
}
