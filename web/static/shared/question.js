/** Asks a question again when its text has changed, one request at a time. */

/**
 * Asks a question whenever its text has changed, but never while a request is under way.
 *
 * A request that resolves to false has failed, and is repeated after a pause.
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

/** Pause before a failed question is asked again. */
const RETRY_MS = 2000;
