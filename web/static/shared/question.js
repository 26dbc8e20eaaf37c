/** Asks one question at a time, again when what it is about has changed. */

/**
 * One question at a time in one slot: asked when its text is new, never while it is under way.
 *
 * One that says false was not answered: it is asked again after a while.
 *
 * @type {(again: () => void) => (text: string, ask: () => Promise<boolean | void>) => void}
 */
export function createQuestion(again) {
  let asked = "";
  let busy = false;
  return (text, ask) => {
    if (busy || text === asked) return;
    [busy, asked] = [true, text];
    const pause = new Promise((done) => setTimeout(done, SPARING_MS));
    ask().then(async (isAnswered) => {
      await pause;
      if (isAnswered === false) {
        await new Promise((done) => setTimeout(done, RETRY_MS));
        asked = "";
      }
      busy = false;
      again();
    });
  };
}

const SPARING_MS = 150;

/** So long it waits before it asks again what it could not be settled. */
const RETRY_MS = 2000;
