// @ts-check
/** Brings the camera's picture of the moment under the drawing, without a flicker. */

/** @typedef {import("./state.js").State} State */
/** @typedef {import("./replay_state.js").Replay} Replay */
/** @typedef {import("./replay_source.js").Source} Source */

/** The function that sees to it. @type {(state: State, replay: Replay, source: Source, changed: () => void) => () => void} */
export function createTablePicture(state, replay, source, changed) {
  /** @type {string | null} what is wanted; what is loaded late is not shown */
  let wanted = null;
  return () => {
    const entry = replay.film.pictureAt(replay.at);
    const url = state.show.picture && entry !== null ? source.pictureUrl(entry, "table") : null;
    if (url === wanted) return;
    wanted = url;
    void shown(url).then((isThere) => {
      if (wanted !== url) return;
      state.pictureUrl = isThere ? url : null;
      changed();
    });
  };
}

/** Whether a picture is ready to be shown. @type {(url: string | null) => Promise<boolean>} */
async function shown(url) {
  if (!url) return false;
  const image = new Image();
  image.src = url;
  return image.decode().then(() => true, () => false);
}
