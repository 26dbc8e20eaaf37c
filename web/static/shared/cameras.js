/** Cameras to choose from: "Test" shows a camera's picture, "Use" switches to it. */
import { byId, disable, element, setText, updateChildren } from "./dom.js";
import { errorText, get, loadPicture, post } from "./http.js";

/** @typedef {{number: number, name: string, used: boolean}} Camera */
/** @typedef {{image?: HTMLImageElement, problem?: string, isBusy?: boolean}} Test */

/**
 * Fills #cameras with the cameras of the server's computer; it stays hidden if none watches the table.
 *
 * `mayUse` may refuse a change. Returns a function that lists the cameras again.
 *
 * @param {() => boolean} mayUse
 */
export function createCameras(mayUse = () => true) {
  const section = byId("cameras");
  /** @type {Camera[]} */
  let cameras = [];
  /** @type {Map<number, Test>} */
  const tests = new Map();

  function render() {
    setText(byId("cameras-none"), cameras.length ? "" : "No camera is connected to this computer.");
    updateChildren(byId("cameras-list"), cameras, ({ number }) => String(number), makeRow, updateRow);
  }

  /** @type {(camera: Camera) => HTMLElement} */
  function makeRow({ number }) {
    const row = element("li", "span", "button", "button");
    row.children[0].className = "camera-name";
    setText(row.children[1], "Test");
    row.children[1].addEventListener("click", () => test(number));
    row.children[2].addEventListener("click", () => use(number));
    return row;
  }

  /** @type {(row: HTMLElement, camera: Camera) => void} */
  function updateRow(row, { number, name, used }) {
    const [label, testing, using] = /** @type {HTMLElement[]} */ ([...row.children]);
    const note = element("small");
    note.append(` camera ${number}`);
    label.replaceChildren(name, note);
    const { image, problem, isBusy = false } = tests.get(number) ?? {};
    setText(testing, isBusy ? "Testing …" : "Test");
    testing.setAttribute("aria-label", `Test ${name}`);
    disable(testing, isBusy);
    setText(using, used ? "In use" : "Use");
    using.setAttribute("aria-label", used ? `In use: ${name}` : `Use ${name}`);
    disable(using, used || isBusy);
    for (const old of [...row.children].slice(3)) old.remove();
    if (problem) row.append(paragraph(problem.replace(/^camera \d+: /, "")));
    if (image) row.append(figureOf(image, name));
  }

  /** @type {(number: number) => Promise<void>} */
  async function test(number) {
    tests.set(number, { isBusy: true });
    render();
    const body = JSON.stringify({ number });
    const headers = { "Content-Type": "application/json" };
    try {
      const { image } = await loadPicture("/api/cameras/test", { method: "POST", headers, body });
      tests.set(number, { image });
    } catch (error) {
      tests.set(number, { problem: errorText(error) });
    }
    render();
  }

  /** @type {(number: number) => Promise<void>} */
  async function use(number) {
    if (!mayUse()) return;
    try {
      await post("/api/cameras/use", { number });
      tests.delete(number);
      await refresh();
    } catch (error) {
      tests.set(number, { problem: errorText(error) });
      render();
    }
  }

  async function refresh() {
    const { cameras: listed } = await get("/api/cameras");
    section.hidden = listed === null;
    cameras = listed ?? [];
    render();
  }
  return refresh;
}

/** @type {(text: string) => HTMLElement} */
function paragraph(text) {
  const node = element("p");
  node.className = "camera-problem";
  setText(node, text);
  return node;
}

/** @type {(image: HTMLImageElement, name: string) => HTMLElement} */
function figureOf(image, name) {
  const figure = element("figure", "figcaption");
  image.alt = `What ${name} sees`;
  figure.prepend(image);
  setText(figure.children[1], `${image.naturalWidth} × ${image.naturalHeight} pixels`);
  return figure;
}
