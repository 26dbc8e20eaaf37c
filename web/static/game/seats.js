/** The dialog of seats: this screen's own, others to take, links and codes for phones. */
import { byId, disable, element, setAttr, setText, updateChildren } from "../shared/dom.js";
import { onClick, onClickWithin } from "../shared/events.js";
import { sideClass } from "../board/things.js";
import { seatName } from "./words.js";

/** @typedef {import("./commands.js").Commands} Commands */
/** @typedef {import("./state.js").State} State */
/** @typedef {import("./state.js").SeatsView} SeatsView */

/** @typedef {SeatsView["seats"][number]} SeatRow */

/** Updates the dialog of seats. @type {(state: State) => void} */
export function renderSeats(state) {
  const { seats } = state.game;
  if (!seats) return;
  setText(byId("seats-hint"), hintWords(seats));
  updateChildren(
    byId("seats-body"),
    seats.seats,
    ({ name }) => name,
    makeSeat,
    (row, seat) => updateSeat(row, seat, seats, state),
  );
}

/** @type {(seats: SeatsView) => string} */
function hintWords({ by_link, own, may_change }) {
  if (own === "both") return "This screen plays both sides and shows both hands.";
  if (by_link && may_change && own !== "shared")
    return "This shared screen shows one seat for now. Return to the shared screen before the other side looks.";
  if (!by_link)
    return "Everyone who opens this page shares it. Take a side's seat to see its hand; return to the shared screen before the other side looks. To give each player a screen of their own, start tablecam for phones on the network: it then lists a link for each seat here.";
  if (own === "shared")
    return "Each seat has its own link: open it on that player's phone, or scan the QR code. Anyone with the link sees that side's hand.";
  return "You opened this seat with its link. Other seats have their own links; the shared screen shows them.";
}

/** @type {() => HTMLElement} */
function makeSeat() {
  const row = element("li", "b", "span", "button", "details");
  const [, , take, link] = /** @type {HTMLElement[]} */ ([...row.children]);
  link.append(element("summary"), element("div", "img", "input", "button"));
  setText(link.children[0], "Link and QR code");
  const [image, address, copy] = [...link.children[1].children];
  setAttr(image, "loading", "lazy");
  setAttr(address, "readonly", "");
  setAttr(address, "aria-label", "Link");
  return row;
}

/** @type {(row: HTMLElement, seat: SeatRow, seats: SeatsView, state: State) => void} */
function updateSeat(row, { name, side, link }, { own, by_link, may_change }, state) {
  const [title, mark, take, more] = /** @type {HTMLElement[]} */ ([...row.children]);
  setAttr(row, "class", side === null ? "seat" : `seat of-side ${sideClass(state, side)}`);
  setText(title, seatName(state, name));
  const isElsewhere = side !== null && state.game.view?.elsewhere?.includes(side);
  setText(mark, name === own ? "this screen" : isElsewhere ? "another screen" : "");
  take.hidden = name === own || !may_change;
  setAttr(take, "data-seat", name);
  setText(take, by_link ? "Use here" : isElsewhere ? "Take it here, too" : "Take");
  disable(take, state.game.busy !== null);
  more.hidden = !by_link || link === null;
  if (more.hidden || link === null) return;
  const [image, address, copy] = [...more.children[1].children];
  const isOpen = /** @type {HTMLDetailsElement} */ (more).open;
  setAttr(image, "src", isOpen ? `/api/seats/${encodeURIComponent(name)}/code.svg` : null);
  setAttr(image, "alt", `QR code of the link for ${seatName(state, name)}`);
  setAttr(address, "value", link);
  setAttr(copy, "data-copy", link);
  setText(copy, state.game.copied === link ? "✓ copied" : "Copy");
}

/** @type {(commands: Commands) => void} */
export function listenToSeats(commands) {
  const dialog = /** @type {HTMLDialogElement} */ (byId("seats"));
  onClick("seat-open", () => {
    dialog.showModal();
    commands.changed();
  });
  onClick("seats-close", () => dialog.close());
  onClickWithin("seats-body", "data-seat", (seat) => {
    dialog.close();
    commands.sit(seat);
  });
  onClickWithin("seats-body", "data-copy", (link) =>
    copy(link).then(() =>
      commands.change(() => {
        commands.state.game.copied = link;
      }),
    ),
  );
  for (const id of ["game-seats", "game-leave"]) onClickWithin(id, "data-seat", (seat) => commands.sit(seat));
  dialog.addEventListener("toggle", () => commands.changed(), true);
}

/** Copies a text; the clipboard API needs HTTPS, which a table in a home network lacks. @type {(text: string) => Promise<void>} */
async function copy(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const input = document.querySelector(`#seats-body input[value="${CSS.escape(text)}"]`);
  if (input instanceof HTMLInputElement) input.select();
  document.execCommand("copy");
}
