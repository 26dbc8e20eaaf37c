/** Shows the words and figures beside the picture. */

import { byId, svgElement } from "../shared/dom.js";
import { properName } from "../board/things.js";
import { written } from "./overlay.js";

/** @typedef {import("./api.js").State} State */
/** @typedef {import("./api.js").View} View */
/** @typedef {import("./api.js").Command} Command */
/** @typedef {import("./api.js").Point} Point */

/** @typedef {{act: (command: Command, view?: string) => void, point: (outline: Point[] | null) => void}} Actions */

const LEANS = {
  flat: "flat",
  left: "left side closer",
  right: "right side closer",
  top: "top side closer",
  bottom: "bottom side closer",
};
const SHARP = 50;

/** A figure with as many digits as are significant. @type {(value: number | null) => string} */
export const small = (value) => (value === null ? "–" : value < 0.095 ? value.toFixed(3) : value.toFixed(2));

/** @type {(name: string, text?: string, className?: string) => HTMLElement} */
function html(name, text = "", className = "") {
  const made = document.createElement(name);
  made.textContent = text;
  made.className = className;
  return made;
}

/** @type {(state: State, actions: Actions) => void} */
export function showPanel(state, actions) {
  if (state.stage === "lens") {
    showFocus(state);
    showLens(state);
    showViews(state, actions);
  } else {
    actions.point(null);
  }
  if (state.stage === "table") showTable(state);
  if (state.stage === "done") showSaved(state);
  if (state.bases) showBases(state.bases);
}

/** @param {import("./api.js").Bases} bases */
function showBases({ done, total, rows, sigma_mm, sigma_deg }) {
  byId("bases-reached").replaceChildren(html("b", `${done} of ${total}`), html("span", " bases done"));
  byId("bases-sigma").textContent =
    sigma_mm === null ? "" : `Measured to ± ${small(sigma_mm)} mm and ± ${small(sigma_deg)}°.`;
  byId("bases-rows").replaceChildren(
    ...rows.map(([owner, ready, all]) => {
      const row = html("li", "", ready === all ? "met" : "");
      row.append(html("span", properName(owner)), html("span", `${ready} of ${all}`, "hint"));
      return row;
    }),
  );
}

/** @param {State} state */
function showFocus({ seen }) {
  if (!seen) return;
  byId("focus").textContent = seen.focus.toFixed(0);
  byId("focus-bar").style.width = `${seen.focus}%`;
  byId("focus-best").style.left = `${seen.best_focus}%`;
  const moves = seen.corners_px.length > 0 && seen.held < 0.3;
  // Motion blur says nothing about the lens.
  const words = moves
    ? "Hold the board still to read its focus."
    : seen.focus < 0.8 * seen.best_focus
      ? `It was sharper before: ${seen.best_focus.toFixed(0)}.`
      : seen.focus < SHARP
        ? "Put the board in the middle and turn the lens until the bar is longest."
        : "Sharp. Do not touch the lens again.";
  byId("focus-words").textContent = words;
}

/** @param {State} state */
function showLens({ lens, has_table }) {
  const reached = byId("lens-reached");
  if (lens.sigma_px === null) {
    reached.textContent = lens.problem || "No lens yet: a first one needs three views.";
  } else {
    const [figure, worst] =
      lens.usual_mm !== null && lens.sigma_mm !== null
        ? [`± ${small(lens.usual_mm)} mm`, `± ${small(lens.sigma_mm)} mm at worst`]
        : [`± ${small(lens.usual_px)} px`, `± ${small(lens.sigma_px)} px at worst`];
    reached.replaceChildren(html("b", figure), html("span", ` from the lens, ${worst}`));
  }
  const items = lens.wanting.map((want) => html("li", want));
  byId("wanting").replaceChildren(
    ...(items.length ? items : [html("li", "Enough: the whole picture is covered", "met")]),
  );
  const finish = /** @type {HTMLButtonElement} */ (byId("finish-lens"));
  finish.disabled = !lens.has_lens;
  finish.classList.toggle("main", lens.is_enough);
  finish.textContent = has_table ? "Continue to the table" : "Save the lens";
  byId("undo").hidden = !lens.can_undo;
  byId("start-over").hidden = lens.views.length === 0;
}

let shownViews = "";

/** @type {(state: State, actions: Actions) => void} */
function showViews({ lens, width_px, height_px }, actions) {
  const news = JSON.stringify(lens.views);
  if (news === shownViews) return;
  shownViews = news;
  actions.point(null);
  byId("view-count").textContent = lens.views.length ? `${lens.views.length}` : "";
  byId("views").replaceChildren(...lens.views.map((view) => viewItem(view, `0 0 ${width_px} ${height_px}`, actions)));
}

/** @type {(view: View, field: string, actions: Actions) => HTMLElement} */
function viewItem(view, field, actions) {
  const item = html("li", "", view.rejected_because ? "rejected" : "");
  item.dataset.view = view.name;
  const words = html("span", view.name.replace("view-", "View "));
  words.append(html("small", view.rejected_because ?? `${view.corners} corners, ${LEANS[view.tilt]}`));
  const error = html(
    "span",
    view.rejected_because ? "left out" : view.rms_px === null ? "–" : `${view.rms_px.toFixed(3)} px`,
    "error",
  );
  const drop = html("button", "×");
  drop.title = "Remove this view";
  drop.setAttribute("aria-label", `Remove ${view.name}`);
  drop.addEventListener("click", () => actions.act("drop", view.name));
  item.append(
    svgElement("svg", { viewBox: field, "aria-hidden": "true" }, [
      svgElement("polygon", { points: written(view.outline_px) }),
    ]),
    words,
    error,
    drop,
  );
  item.addEventListener("pointerenter", () => actions.point(view.outline_px));
  item.addEventListener("pointerleave", () => actions.point(null));
  return item;
}

/** @param {State} state */
function showTable({ table }) {
  const problem = byId("table-problem");
  problem.hidden = !table?.problem;
  problem.textContent = table?.problem ?? "";
  /** @type {HTMLButtonElement} */ (byId("finish-table")).disabled = !table || table.mean_mm === null;
  if (!table) return;
  byId("table-reached").replaceChildren(
    ...(table.mean_mm === null
      ? []
      : [
          html("b", `± ${small(table.mean_mm)} mm`),
          html("span", ` on the table, ± ${small(table.worst_mm)} mm at worst`),
        ]),
  );
  const rows = table.tags.map((tag) =>
    row(
      tag.id,
      tag.off_mm === null ? "–" : `${small(tag.off_mm)} mm`,
      tag.used ? "" : "left out",
      tag.used ? "" : "odd",
    ),
  );
  const missing = table.missing.map((id) => row(id, "–", "not seen", "missing"));
  byId("tags").replaceChildren(...rows, ...missing);
  const gain =
    table.with_lens_mm === null ? [] : [`With a calibrated lens it would be ± ${small(table.with_lens_mm)} mm.`];
  byId("table-notes").replaceChildren(...[...table.notes, ...gain].map((note) => html("li", note, "note")));
}

/** @type {(id: number, off: string, remark: string, className: string) => HTMLElement} */
function row(id, off, remark, className) {
  const made = html("tr", "", className);
  made.append(html("td", String(id)), html("td", off), html("td", remark));
  return made;
}

/** @param {State} state */
function showSaved({ saved }) {
  if (!saved) return;
  byId("glue-panel").hidden = !saved.has_table;
  byId("saved-title").textContent = saved.is_new ? "Saved" : "This camera's calibration";
  const reached = byId("saved-reached");
  if (saved.mean_mm !== null) {
    reached.replaceChildren(
      html("b", `± ${small(saved.mean_mm)} mm`),
      html("span", ` on the table, ± ${small(saved.worst_mm)} mm at worst`),
    );
  } else {
    reached.replaceChildren(
      html("b", `${saved.lens_rms_px?.toFixed(3) ?? "–"} px`),
      html("span", " reprojection error"),
    );
  }
  const kept = saved.kept ? ` The previous file is now ${saved.kept}.` : "";
  byId("saved-where").textContent =
    `${saved.is_new ? "Saved to" : "Read from"} ${saved.path} as “${saved.name}”.${kept}`;
  byId("saved-next").hidden = !saved.has_table;
  byId("saved-command").textContent = `tablecam run --table table.toml --camera ${saved.path} --open`;
  byId("ruler-panel").hidden = !saved.has_table;
}
