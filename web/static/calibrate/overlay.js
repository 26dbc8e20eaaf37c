/** Draws on the camera's picture, in its pixels: (0, 0) is the centre of the top left pixel. */
import { svgElement } from "../shared/dom.js";

/** @typedef {import("./api.js").State} State */
/** @typedef {import("./api.js").Point} Point */

/** @typedef {{picture: (url: string) => void, show: (state: State) => void, point: (outline: Point[] | null) => void, draw: (layer: "ruler" | "hexmap", parts: Element[]) => void}} Overlay */

/** The corners of the side of the target that leans toward the camera. */
const NEAR = { flat: null, left: [3, 0], right: [1, 2], top: [0, 1], bottom: [2, 3] };

/** @type {(points: Point[]) => string} */
export const written = (points) => points.map((point) => point.join(",")).join(" ");

/** Creates the drawing over a picture. @type {(svg: SVGSVGElement) => Overlay} */
export function createOverlay(svg) {
  const image = svgElement("image", { x: -0.5, y: -0.5, preserveAspectRatio: "none" });
  const layers = Object.fromEntries(
    ["cells", "pointed", "corners", "ghost", "tags", "jig", "ruler", "hexmap"].map((name) => [
      name,
      svgElement("g", { class: name }),
    ]),
  );
  svg.replaceChildren(hatch(), image, ...Object.values(layers));
  let size = "";
  return {
    picture: (url) => image.setAttribute("href", url),
    show(state) {
      const { width_px: width, height_px: height } = state;
      svg.setAttribute("viewBox", window_px(state).join(" "));
      if (size !== `${width} ${height}`) {
        size = `${width} ${height}`;
        image.setAttribute("width", String(width));
        image.setAttribute("height", String(height));
        svg.style.setProperty("--aspect", `${width} / ${height}`);
      }
      const aims = state.stage === "lens" && state.seen !== null;
      layers.cells.replaceChildren(...(state.stage === "lens" ? cells(state) : []));
      layers.ghost.replaceChildren(...(aims && !state.lens.is_enough ? ghost(state) : []));
      layers.corners.replaceChildren(...(aims ? corners(state) : []));
      layers.tags.replaceChildren(...(state.stage === "table" ? tags(state) : []));
      layers.jig.replaceChildren(...jig(state.bases?.corner_px ?? []));
    },
    point: (outline) =>
      layers.pointed.replaceChildren(
        ...(outline ? [svgElement("polygon", { class: "shown-view", points: written(outline) })] : []),
      ),
    draw: (layer, parts) => layers[layer].replaceChildren(...parts),
  };
}

/** The part of the picture to show: all of it, or the jig with its surroundings. @type {(state: State) => number[]} */
function window_px({ bases, width_px, height_px }) {
  const corner = bases?.corner_px ?? [];
  if (!corner.length) return [-0.5, -0.5, width_px, height_px];
  const [xs, ys] = [0, 1].map((axis) => corner.map((point) => point[axis]));
  const [left, top] = [Math.min(...xs), Math.min(...ys)];
  const [width, height] = [Math.max(...xs) - left, Math.max(...ys) - top];
  const margin = (width + height) / 2;
  return [left - margin, top - margin, width + 2 * margin, height + 2 * margin];
}

/** The two lines that rulers lie along. @type {(corner: Point[]) => Element[]} */
function jig(corner) {
  return corner.length
    ? ["casing", "ink"].map((kind) => svgElement("polyline", { class: kind, points: written(corner) }))
    : [];
}

/** The pattern of cells that no view covers. */
function hatch() {
  const lines = { id: "hatch", width: 26, height: 26, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" };
  return svgElement("defs", {}, [
    svgElement("pattern", lines, [
      svgElement("rect", { class: "hatch", width: 26, height: 26 }),
      svgElement("line", { class: "hatch-line", y2: 26, "stroke-width": 5 }),
    ]),
  ]);
}

/** @type {(state: State) => Element[]} */
function cells({ lens, width_px, height_px }) {
  return lens.cells.flatMap((row, y) =>
    row.map((covered, x) => {
      const [width, height] = [width_px / row.length, height_px / lens.cells.length];
      const place = { x: x * width - 0.5, y: y * height - 0.5, width, height };
      return svgElement("g", { class: covered ? "cell" : "cell missing" }, [svgElement("rect", place)]);
    }),
  );
}

/** Shows where to hold the board, and which side up. @type {(state: State) => Element[]} */
function ghost({ seen, width_px }) {
  if (!seen) return [];
  const { outline_px: outline, tilt } = seen.target;
  const parts = [
    svgElement("polygon", { class: "casing", points: written(outline) }),
    svgElement("polygon", { class: "ink", points: written(outline) }),
  ];
  const near = NEAR[tilt];
  if (near) {
    const [[x1, y1], [x2, y2]] = near.map((corner) => outline[corner]);
    parts.push(
      svgElement("line", { class: "near-casing", x1, y1, x2, y2 }),
      svgElement("line", { class: "near", x1, y1, x2, y2 }),
    );
  }
  const middle = [0, 1].map((axis) => outline.reduce((sum, point) => sum + point[axis], 0) / 4);
  const size = width_px / 38;
  const words = near ? [`${tilt} side`, "closer"] : ["board", "here"];
  const labels = words.map((word, line) =>
    svgElement(
      "text",
      { x: middle[0], y: middle[1] + (line - 0.5) * 1.15 * size, "font-size": size, "stroke-width": size / 5 },
      [word],
    ),
  );
  return [svgElement("g", { class: "ghost" }, [...parts, ...labels])];
}

/** @type {(state: State) => Element[]} */
function corners({ seen, width_px }) {
  const radius = width_px / 210;
  return (seen?.corners_px ?? []).map(([cx, cy]) =>
    svgElement(
      "g",
      { class: "corner" },
      ["casing", "ink"].map((kind) => svgElement("circle", { class: kind, cx, cy, r: radius })),
    ),
  );
}

/** @type {(state: State) => Element[]} */
function tags({ table, width_px }) {
  const size = width_px / 45;
  return (table?.tags ?? []).map((tag) => {
    const outline = written(tag.corners_px);
    const [x, lowest] = [
      tag.corners_px.reduce((sum, point) => sum + point[0], 0) / 4,
      Math.max(...tag.corners_px.map((point) => point[1])),
    ];
    const off = tag.off_mm === null ? "" : `: ${tag.off_mm.toFixed(2)} mm`;
    const at = Math.min(Math.max(x, 4.2 * size), width_px - 4.2 * size);
    const highest = Math.min(...tag.corners_px.map((point) => point[1]));
    const y = highest > 2 * size ? highest - size : lowest + size;
    return svgElement("g", { class: tag.used ? "tag" : "tag odd" }, [
      svgElement("polygon", { class: "casing", points: outline }),
      svgElement("polygon", { class: "ink", points: outline }),
      svgElement("text", { x: at, y, "font-size": size, "stroke-width": size / 5 }, [`tag ${tag.id}${off}`]),
    ]);
  });
}
