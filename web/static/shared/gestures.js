/**
 * Turns pointers into gestures: taps, long presses, drags, pinches and the wheel.
 *
 * @typedef {{x: number, y: number, pointer: string, shift: boolean}} Touch  px in the drawing
 * @typedef {{move: (at: Touch) => void, end: () => void, cancel: () => void}} Drag
 *
 * @typedef {object} Gestures
 * @property {(at: Touch) => void} tap
 * @property {(at: Touch) => void} doubleTap
 * @property {(at: Touch) => void} longPress
 * @property {(at: Touch | null) => void} hover
 * @property {(at: Touch) => Drag | null} grab  what a drag from here carries; null: the view
 * @property {(dx_px: number, dy_px: number) => void} pan
 * @property {(factor: number, x_px: number, y_px: number) => void} zoom
 * @property {(at: Touch, delta: number) => void} wheel
 */

/** Durations of gestures; slow tests set them higher. */
export const timing = { longPress_ms: 500, doubleTap_ms: 320 };
const DOUBLE_TAP_PX = 30;
const SLOP_PX = { mouse: 4, touch: 10 };

/** Listens to the pointers on a drawing. @type {(svg: SVGSVGElement, gestures: Gestures) => void} */
export function listenToPointers(svg, gestures) {
  const hand = new Hand(svg, gestures);
  svg.addEventListener("pointerdown", (event) => hand.down(event));
  svg.addEventListener("pointermove", (event) => hand.move(event));
  svg.addEventListener("pointerup", (event) => hand.up(event));
  svg.addEventListener("pointercancel", (event) => hand.cancel(event));
  svg.addEventListener("pointerleave", () => gestures.hover(null));
  svg.addEventListener("contextmenu", (event) => event.preventDefault());
  svg.addEventListener(
    "wheel",
    (event) => {
      event.preventDefault();
      gestures.wheel(hand.touchOf(event), event.deltaY * (event.deltaMode === 1 ? 20 : 1) * (event.ctrlKey ? 5 : 1));
    },
    { passive: false },
  );
}

/** Tracks the pointers that are down. */
class Hand {
  /** @param {SVGSVGElement} svg @param {Gestures} gestures */
  constructor(svg, gestures) {
    this.svg = svg;
    this.gestures = gestures;
    /** @type {Map<number, Touch>} */
    this.touches = new Map();
    /** @type {Touch | null} where the only pointer went down, until it drags */
    this.start = null;
    /** Whether it was a long press, whose end is not a tap. */
    this.stayed = false;
    /** @type {Drag | null} */
    this.drag = null;
    /** @type {{at: Touch, time: number} | null} */
    this.lastTap = null;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.pressTimer = undefined;
  }

  /** @param {MouseEvent} event @returns {Touch} */
  touchOf(event) {
    const box = this.svg.getBoundingClientRect();
    const pointer = event instanceof PointerEvent ? event.pointerType : "mouse";
    return { x: event.clientX - box.left, y: event.clientY - box.top, pointer, shift: event.shiftKey };
  }

  /** @param {PointerEvent} event */
  down(event) {
    if (event.pointerType === "mouse" && event.button > 1) return;
    const touch = this.touchOf(event);
    this.svg.setPointerCapture(event.pointerId);
    this.touches.set(event.pointerId, touch);
    if (this.touches.size > 1) {
      this.forgetTap();
      this.drag?.cancel();
      this.drag = null;
      return;
    }
    this.start = touch;
    this.stayed = false;
    this.pressTimer = setTimeout(() => this.press(), timing.longPress_ms);
  }

  /** @param {PointerEvent} event */
  move(event) {
    const touch = this.touchOf(event);
    const before = this.touches.get(event.pointerId);
    if (!before) {
      if (event.pointerType !== "touch") this.gestures.hover(touch);
      return;
    }
    if (this.touches.size === 2) this.pinch(event.pointerId, before, touch);
    else if (this.touches.size === 1) this.dragTo(before, touch);
    if (!this.start) this.touches.set(event.pointerId, touch);
  }

  /** @param {PointerEvent} event */
  up(event) {
    if (!this.touches.delete(event.pointerId)) return;
    const start = this.stayed ? null : this.start;
    this.forgetTap();
    this.drag?.end();
    this.drag = null;
    if (start) this.tapAt(start, event.timeStamp);
  }

  /** @param {PointerEvent} event */
  cancel(event) {
    this.touches.delete(event.pointerId);
    this.forgetTap();
    this.drag?.cancel();
    this.drag = null;
  }

  /** Moves one pointer: past the slop it drags a thing or the view. @param {Touch} before @param {Touch} touch */
  dragTo(before, touch) {
    if (this.start) {
      const slop = touch.pointer === "touch" ? SLOP_PX.touch : SLOP_PX.mouse;
      if (Math.hypot(touch.x - this.start.x, touch.y - this.start.y) < slop) return;
      this.drag = this.gestures.grab(this.start);
      this.forgetTap();
    }
    if (this.drag) this.drag.move(touch);
    else this.gestures.pan(touch.x - before.x, touch.y - before.y);
  }

  /** Moves one of two pointers, which pinch. @param {number} id @param {Touch} before @param {Touch} touch */
  pinch(id, before, touch) {
    const other = [...this.touches].find(([pointer]) => pointer !== id)?.[1];
    if (!other) return;
    const apart = (/** @type {Touch} */ touch) => Math.max(8, Math.hypot(touch.x - other.x, touch.y - other.y));
    this.gestures.pan((touch.x - before.x) / 2, (touch.y - before.y) / 2);
    this.gestures.zoom(apart(touch) / apart(before), (touch.x + other.x) / 2, (touch.y + other.y) / 2);
    this.touches.set(id, touch);
  }

  /** @param {Touch} at @param {number} time */
  tapAt(at, time) {
    const last = this.lastTap;
    this.lastTap = null;
    if (
      last &&
      time - last.time < timing.doubleTap_ms &&
      Math.hypot(at.x - last.at.x, at.y - last.at.y) < DOUBLE_TAP_PX
    ) {
      this.gestures.doubleTap(at);
    } else {
      this.lastTap = { at, time };
      this.gestures.tap(at);
    }
  }

  press() {
    if (!this.start) return;
    this.stayed = true;
    this.gestures.longPress(this.start);
  }

  forgetTap() {
    this.start = null;
    clearTimeout(this.pressTimer);
  }
}
