/** Magnifies the picture around a point seven times, with crosshairs. */

/** @typedef {import("./api.js").Point} Point */

const MAGNIFIED = 7;
const CROSS_GAP = 6;
/** Pens of the crosshairs: light on dark, visible on any picture. @type {[string, number][]} */
const PENS = [
  ["#10171c", 4],
  ["#f0e442", 1.5],
];

export class Magnifier {
  /** @param {HTMLCanvasElement} canvas */
  constructor(canvas) {
    this.canvas = canvas;
    /** @type {HTMLImageElement | null} */
    this.image = null;
    /** Width of the camera's full picture; the one shown may be smaller. */
    this.width_px = 16;
  }

  /** Magnifies the surroundings of a point; null hides the magnifier. @param {Point | null} at */
  show(at) {
    const pen = this.canvas.getContext("2d");
    this.canvas.hidden = at === null || this.image === null;
    if (at === null || this.image === null || pen === null) return;
    this.canvas.classList.toggle("aside", at[0] < this.width_px / 2);
    this.#drawPicture(pen, this.image, at);
    for (const [colour, thick] of PENS) this.#drawCross(pen, colour, thick);
  }

  /** @param {CanvasRenderingContext2D} pen @param {HTMLImageElement} image @param {Point} at */
  #drawPicture(pen, image, [x, y]) {
    const { width, height } = this.canvas;
    const span = width / MAGNIFIED;
    const pixels = image.naturalWidth / this.width_px;
    pen.fillStyle = "#0d1114";
    pen.fillRect(0, 0, width, height);
    pen.imageSmoothingEnabled = true;
    // Pixel centres have integer coordinates, so the image begins at −0.5.
    pen.drawImage(
      image,
      (x + 0.5 - span / 2) * pixels,
      (y + 0.5 - span / 2) * pixels,
      span * pixels,
      span * pixels,
      0,
      0,
      width,
      height,
    );
  }

  /** @param {CanvasRenderingContext2D} pen @param {string} colour @param {number} thick */
  #drawCross(pen, colour, thick) {
    const middle = this.canvas.width / 2;
    pen.strokeStyle = colour;
    pen.lineWidth = thick;
    pen.beginPath();
    for (const [x, y] of [
      [1, 0],
      [-1, 0],
      [0, 1],
      [0, -1],
    ]) {
      pen.moveTo(middle + CROSS_GAP * x, middle + CROSS_GAP * y);
      pen.lineTo(middle + middle * x, middle + middle * y);
    }
    pen.stroke();
  }
}
