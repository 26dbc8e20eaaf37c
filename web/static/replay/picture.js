/** Brings the camera's picture of the moment under the drawing, without a flicker, and says so where it is older. */
import { byId, write } from "../shared/dom.js";

/** @typedef {import("../board/state.js").State} State */
/** @typedef {import("./state.js").Replay} Replay */
/** @typedef {import("./source.js").Source} Source */

/** The function that sees to it. @type {(state: State, replay: Replay, source: Source, changed: () => void) => () => void} */
export function createTablePicture(state, replay, source, changed) {
  /** @type {string | null} what is wanted; what is loaded late is not shown */
  let wanted = null;
  return () => {
    const picture = replay.film.pictureAt(replay.at);
    const url = state.show.picture && picture ? source.pictureUrl(picture.entry, "table") : null;
    if (url === wanted) return;
    wanted = url;
    void shown(url).then((isThere) => {
      if (wanted !== url) return;
      state.pictureUrl = isThere ? url : null;
      changed();
    });
  };
}

/** Say how old the picture beneath is, where not all lies as it shows. @type {(state: State, replay: Replay) => void} */
export function renderPictureAge(state, replay) {
  const { film, at, branch } = replay;
  const picture = state.show.picture && state.pictureUrl && !branch ? film.pictureAt(at) : null;
  const isOld = picture !== null && film.liesElsewhere(at, picture.at);
  byId("picture-age").hidden = !isOld;
  if (isOld) write(byId("picture-age"), `The picture is ${span(film.entries[at].t - film.entries[picture.at].t)} older than the units`);
}

/** So many seconds in words. @type {(seconds: number) => string} */
function span(seconds) {
  if (seconds < 90) return `${Math.max(1, Math.round(seconds))} s`;
  return `${Math.round(seconds / 60)} min`;
}

/** Whether a picture is ready to be shown. @type {(url: string | null) => Promise<boolean>} */
async function shown(url) {
  if (!url) return false;
  const image = new Image();
  image.src = url;
  return image.decode().then(() => true, () => false);
}
