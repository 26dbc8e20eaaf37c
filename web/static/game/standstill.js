/** A simulated battle that was told to stop: when all of it is seen at rest. */

/** @typedef {import("../board/state.js").State} State */
/** @typedef {import("../board/state.js").TableState} TableState */

const LOOK_MS = 150;
/** What is not at rest by then lies under a hand, or is not seen at all. */
const MOST_LOOKS = 60;
/** What moves by less has not moved: the camera's noise is well below it. */
const STILL_MM = 1;

/** Wait until the table is seen twice alike, with nothing hidden. @type {(state: State) => Promise<void>} */
export async function standstill(state) {
  let before = state.now;
  for (let look = 0; look < MOST_LOOKS; look += 1) {
    await new Promise((done) => setTimeout(done, LOOK_MS));
    if (state.now?.frame === before?.frame) continue;
    if (isAtRest(state.now, before)) return;
    before = state.now;
  }
}

/** @type {(now: TableState | null, before: TableState | null) => boolean} */
export function isAtRest(now, before) {
  if (!now || !before || now.simulated?.paused === false || before.simulated?.paused === false) return false;
  if (now.health.tags_held > 0 || now.units.length !== before.units.length) return false;
  const places = new Map(before.units.map(({ id, x_mm, y_mm }) => [id, { x_mm, y_mm }]));
  return now.units.every(({ id, x_mm, y_mm }) => {
    const lay = places.get(id);
    return lay !== undefined && Math.hypot(x_mm - lay.x_mm, y_mm - lay.y_mm) < STILL_MM;
  });
}
