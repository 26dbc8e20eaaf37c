/** Words and figures as people read them. */

/** Capitalises the first letter. @type {(text: string) => string} */
export function sentence(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

const SHORT = 90;

/** The first clauses of a long text; all of one that is short. @type {(text: string) => string} */
export function beginning(text) {
  if (text.length <= SHORT) return text;
  const ends = [...text.slice(0, SHORT).matchAll(/[;.] /g)].map(({ index }) => index);
  return `${text.slice(0, ends.at(-1) ?? text.lastIndexOf(" ", SHORT))} …`;
}

/** A side's name cut to three letters and a full stop, or all of one with four. @type {(name: string) => string} */
export function briefName(name) {
  const last = name.split(" ").at(-1) ?? name;
  return last.length > 4 ? `${last.slice(0, 3)}.` : last;
}

/** A duration in words. @type {(seconds: number) => string} */
export function duration(seconds) {
  return seconds < 90 ? `${Math.floor(seconds)} s` : `${Math.floor(seconds / 60)} min`;
}

/** @type {(at: string) => string} */
export function timeOfDay(at) {
  return new Date(at).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", second: "2-digit" });
}

const ARROWS = [..."→↗↑↖←↙↓↘"];

/** A text whose arrows beside compass words are turned like a view, clockwise. @type {(text: string, quarters: number) => string} */
export function asTurned(text, quarters) {
  const turned = (/** @type {string} */ arrow) => ARROWS[(ARROWS.indexOf(arrow) + 8 - 2 * quarters) % 8];
  return text.replace(/(?<=(?:north|south|east|west) )[→↗↑↖←↙↓↘]/gu, turned);
}
