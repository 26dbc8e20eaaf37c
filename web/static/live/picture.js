/** Loads the camera's pictures beneath the drawing, one after another, without a flicker. */
import { loadPicture } from "../shared/http.js";

/** @typedef {import("../game/state.js").State} State */

const PAUSE_MS = 300;

/** Returns a function that loads a newer picture if there is one. @type {(state: State, changed: () => void) => () => void} */
export function createPicture(state, changed) {
  let frame = -1;
  let busy = false;
  const refresh = () => {
    const newest = state.now?.frame ?? -1;
    if (busy || !state.show.picture || document.hidden || newest < 0 || newest === frame) return;
    [busy, frame] = [true, newest];
    loadPicture(`/picture.jpg?v=${newest}`)
      .then(({ url }) => {
        replace(state, url);
        changed();
      })
      .catch(() => {
        frame = -1;
      })
      .finally(() =>
        setTimeout(() => {
          busy = false;
        }, PAUSE_MS),
      );
  };
  return refresh;
}

/** @type {(state: State, url: string) => void} */
function replace(state, url) {
  const old = state.pictureUrl;
  state.pictureUrl = url;
  // The old picture may be on the screen for one more frame.
  if (old) setTimeout(() => URL.revokeObjectURL(old), 1000);
}
