/** Says what the shaded hexes of a map mean, beside the map: what is drawn now, each as it is drawn. */
import { element, setAttr, setText, svgElement, updateChildren } from "../shared/dom.js";
import { word } from "./shapes.js";

/** @typedef {import("./state.js").Shape} Shape */

/** What roles of shaded hexes mean, in their order. @type {Record<string, string>} */
const MEANINGS = {
  reach: "may go here",
  "reach-on": "with further steps",
  target: "target",
  withdrawal: "falls back here",
  "field-of-view": "field of fire",
  "hex-front": "front",
  "hex-flank": "flank",
  "hex-rear": "rear",
  "zone-of-control": "zone of control",
};

/** A hex of a swatch. */
const HEX = "M8 1L14.5 4.7V12.3L8 16L1.5 12.3V4.7Z";

/** @type {() => HTMLElement} */
export function makeLegend() {
  const legend = element("ul");
  setAttr(legend, "class", "meanings");
  setAttr(legend, "aria-label", "What the shaded hexes mean");
  return legend;
}

/** Lists the roles of what is drawn; none without a hex map. @type {(legend: HTMLElement, shapes: Shape[]) => void} */
export function updateLegend(legend, shapes) {
  const drawn = new Set(shapes.filter(({ kind }) => kind === "polygon").map(({ role }) => role));
  updateChildren(
    legend,
    Object.keys(MEANINGS).filter((role) => drawn.has(role)),
    String,
    makeMeaning,
    (row, role) => {
      setAttr(row.children[0].children[0], "class", `shape polygon role-${word(role)}`);
      setText(row.children[1], MEANINGS[role]);
    },
  );
}

/** @type {() => HTMLElement} */
function makeMeaning() {
  const row = element("li");
  const [swatch, shape] = [svgElement("svg", { viewBox: "0 0 16 17", "aria-hidden": "true" }), svgElement("g")];
  shape.append(svgElement("path", { class: "casing", d: HEX }), svgElement("path", { class: "ink", d: HEX }));
  swatch.append(shape);
  row.append(swatch, element("span"));
  return row;
}
