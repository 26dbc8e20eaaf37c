/** The seats at the table: whose this screen is, another one by a tap, links and codes for phones. */
import { byId, disable, each, element, put, write } from "../shared/dom.js";
import { sideNumber } from "../board/things.js";
import { seatName } from "./words.js";

/** @typedef {import("../board/state.js").State} State */
/** @typedef {import("./state.js").SeatsNow} SeatsNow */
/** @typedef {SeatsNow["seats"][number]} SeatRow */

/** Bring the dialog of seats up to date. @type {(state: State) => void} */
export function renderSeats(state) {
  const { seats } = state.game;
  if (!seats) return;
  write(byId("seats-hint"), hintWords(seats));
  each(byId("seats-body"), seats.seats, ({ name }) => name, makeSeat, (row, seat) => updateSeat(row, seat, seats, state));
}

/** @type {(seats: SeatsNow) => string} */
function hintWords({ by_link, own, may_change }) {
  if (by_link && may_change && own !== "shared") return "This screen is shared, and shows one seat for now. Come back to the shared screen before the other side looks.";
  if (!by_link) return "All who open this page share it. Take a side's seat to see its hand; come back to the shared screen before the other side looks.";
  if (own === "shared") return "Each seat has a link of its own: open it on that player's phone, or point its camera at the code. Who has a link sees that side's hand.";
  return "This seat came with its link. Another one needs its own: the shared screen shows them.";
}

/** @type {() => HTMLElement} */
function makeSeat() {
  const row = element("li", "b", "span", "button", "details");
  const [, , take, link] = /** @type {HTMLElement[]} */ ([...row.children]);
  put(take, "type", "button");
  link.append(element("summary"), element("div", "img", "input", "button"));
  write(link.children[0], "Link and code");
  const [image, address, copy] = [...link.children[1].children];
  put(image, "loading", "lazy");
  put(address, "readonly", "");
  put(address, "aria-label", "Link");
  put(copy, "type", "button");
  return row;
}

/** @type {(row: HTMLElement, seat: SeatRow, seats: SeatsNow, state: State) => void} */
function updateSeat(row, { name, side, link }, { own, by_link, may_change }, state) {
  const [title, mark, take, more] = /** @type {HTMLElement[]} */ ([...row.children]);
  put(row, "class", side === null ? "seat" : `seat of-side side-${sideNumber(state, side) % 8}`);
  write(title, seatName(state, name));
  write(mark, name === own ? "this screen" : "");
  take.hidden = name === own || !may_change;
  put(take, "data-seat", name);
  write(take, by_link ? "Use here" : "Take");
  disable(take, state.game.busy !== null);
  more.hidden = !by_link || link === null;
  if (more.hidden || link === null) return;
  const [image, address, copy] = [...more.children[1].children];
  const isOpen = /** @type {HTMLDetailsElement} */ (more).open;
  put(image, "src", isOpen ? `/api/seats/${encodeURIComponent(name)}/code.svg` : null);
  put(image, "alt", `Code of the link for ${seatName(state, name)}`);
  put(address, "value", link);
  put(copy, "data-copy", link);
  write(copy, state.game.copied === link ? "✓ copied" : "Copy");
}
