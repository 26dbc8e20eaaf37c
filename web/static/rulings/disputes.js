/** The disputes: their list, and a dialog with question, answer and picture. */
import { byId, element, setAttr, setText, updateChildren } from "../shared/dom.js";
import { errorText } from "../shared/http.js";
import { sidePlural } from "../board/things.js";
import { disputes as askDisputes } from "./api.js";
import { updateRuleNumber } from "./rule_number.js";
import { figuresWords, largeAnswer, sureWords } from "./words.js";

/** @typedef {import("./state.js").State} State */
/** @typedef {import("./state.js").Dispute} Dispute */
/** @typedef {import("./state.js").Rulings} Rulings */

/** Updates the dialog and the list of disputes. @type {(state: State) => void} */
export function renderDisputes(state) {
  if (!state.facts.rules) return;
  renderList(state);
  const dialog = /** @type {HTMLDialogElement} */ (byId("dispute"));
  const { open } = state.rulings;
  if (open) renderDispute(open, state);
  if (open && !dialog.open) dialog.showModal();
  if (!open && dialog.open) dialog.close();
}

/** @type {(state: State) => void} */
function renderList({ rulings }) {
  const { disputes, disputesError } = rulings;
  // Players look in the log for past events of a game.
  const log = document.getElementById("game-log");
  if (log && !log.hidden && byId("disputes").parentElement !== log) log.prepend(byId("disputes"));
  byId("disputes").hidden = disputes.length === 0 && !disputesError;
  setText(byId("disputes-count"), disputes.length ? `(${disputes.length})` : "");
  setText(byId("disputes-error"), disputesError ?? rulings.trouble);
  const newest = [...disputes].reverse();
  updateChildren(
    byId("disputes-body"),
    newest,
    ({ number }) => String(number),
    makeRow,
    (row, dispute) => {
      const button = row.children[0];
      setAttr(button, "data-dispute", String(dispute.number));
      setText(button.children[0], timeWords(dispute.at));
      setText(button.children[1], dispute.question.text);
      setText(button.children[2], dispute.answer ? largeAnswer(dispute.answer) : "");
    },
  );
}

/** @type {() => HTMLElement} */
function makeRow() {
  const row = element("li");
  const button = element("button", "time", "span", "b");
  row.append(button);
  return row;
}

/** @type {(dispute: Dispute, state: State) => void} */
function renderDispute(dispute, state) {
  const { facts } = state;
  const { number, question, answer, line } = dispute;
  setText(byId("dispute-question"), question.text);
  setAttr(byId("dispute-verdict"), "class", `verdict-large ${answer?.answer ?? "plain"}`);
  setText(byId("dispute-answer"), answer ? largeAnswer(answer) : line.text);
  setText(byId("dispute-margin"), answer ? figuresWords(answer) : "");
  setText(byId("dispute-sure"), answer ? sureWords(answer) : "");
  setText(byId("dispute-because"), line.text);
  updateRuleNumber(byId("dispute-rule"), line.rule ?? answer?.rule, facts.about.rules);
  byId("dispute-reading").hidden = !line.reading;
  setText(byId("dispute-reading-text"), line.reading ? `${line.reading.text} (${line.reading.rule})` : "");
  renderPicture(dispute);
  setText(byId("dispute-kept"), keptWords(dispute, state));
  setAttr(byId("dispute-position"), "href", `/api/disputes/${number}/position`);
}

/** @type {(dispute: Dispute) => void} */
function renderPicture({ number, question, picture }) {
  const image = /** @type {HTMLImageElement} */ (byId("dispute-picture"));
  const isPlain = byId("dispute-plain").getAttribute("aria-pressed") === "true";
  const address = picture && (isPlain ? `${picture}?plain=1` : picture);
  byId("dispute-figure").hidden = !picture;
  for (const id of ["dispute-plain", "dispute-download"]) byId(id).hidden = !picture;
  setAttr(image, "alt", `The camera's picture of the place: ${question.text}`);
  setAttr(image, "data-dispute", String(number));
  setAttr(image, "src", address);
  setAttr(byId("dispute-download"), "href", picture);
}

/** When a dispute was filed, and whether it was saved. @type {(dispute: Dispute, state: State) => string} */
function keptWords({ number, at, active, picture }, state) {
  const { trouble } = state.rulings;
  const whose = active ? `, with the ${sidePlural(state, active)} active` : "";
  const when = `Dispute ${number}, ${timeWords(at)}${whose}.`;
  if (trouble) return `${when} ${trouble}`;
  return `${when} Saved with the game${picture ? "" : ", without a picture: the camera delivered none"}.`;
}

/** The time of day, with the date if it is not today. @type {(iso: string) => string} */
function timeWords(iso) {
  const at = new Date(iso);
  const time = at.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", second: "2-digit" });
  return at.toDateString() === new Date().toDateString() ? time : `${at.toLocaleDateString()} ${time}`;
}

/** @type {(rulings: Rulings) => Promise<void>} */
export async function loadDisputes(rulings) {
  try {
    const { disputes, trouble = "" } = await askDisputes();
    Object.assign(rulings, { disputes, trouble, disputesError: null });
  } catch (error) {
    rulings.disputesError = `Past disputes cannot be loaded: ${errorText(error)}`;
  }
}
