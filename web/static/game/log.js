/** The log of the game: the server sends what is new of it, and here it is kept whole. */

/** @typedef {import("./state.js").GameNow} GameNow */
/** @typedef {import("./state.js").Happened} Happened */
/** @typedef {GameNow & {log_is_whole?: boolean, log_mark?: string}} Told  as the server tells it */

export class KeptLog {
  /** @type {Happened[]} */
  #lines = [];
  #mark = "";
  #version = 0;

  /** What the server is asked with: where this log ends. */
  get query() {
    return this.#mark ? `?${new URLSearchParams({ after: this.#mark })}` : "";
  }

  /** The game with its whole log; an answer that others have overtaken changes nothing here. @param {Told} told @returns {GameNow} */
  whole(told) {
    const mark = told.log_mark ?? "";
    const isSame = runOf(mark) === runOf(this.#mark);
    const isLate = isSame && told.version < this.#version;
    if (told.log_is_whole === false && (isLate || !isSame)) return { ...told, log: this.#lines };
    if (isLate) return told;
    this.#lines = told.log_is_whole === false ? merged(this.#lines, told.log) : (told.log ?? []);
    [this.#mark, this.#version] = [mark, told.version];
    return { ...told, log: this.#lines };
  }
}

/** Which game's a mark is, and which seat's. @type {(mark: string) => string} */
function runOf(mark) {
  return mark.slice(0, mark.lastIndexOf("."));
}

/** Lines with those of some deeds replaced, in the order of the deeds. @type {(lines: Happened[], fresh: Happened[]) => Happened[]} */
function merged(lines, fresh) {
  const deeds = new Set(fresh.map(({ deed }) => deed));
  return [...lines.filter(({ deed }) => !deeds.has(deed)), ...fresh].sort((one, other) => one.deed - other.deed);
}
