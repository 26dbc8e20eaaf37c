/**
 * The settings that players may overrule, as the game describes them: numbers, choices and switches of
 * the game, of a side or of a unit. Nothing here draws or sends requests.
 */
import { sentence } from "../shared/text.js";
import { sideName } from "../board/things.js";
import { playing } from "./state.js";

/** @typedef {import("./state.js").State} State */
/** @typedef {import("./state.js").Mark} Mark */
/** @typedef {boolean | number | string} Value */

/**
 * @typedef {object} Setting
 * @property {string} key  under which an overrule sets it
 * @property {string} title
 * @property {"game" | "side" | "unit"} of
 * @property {"number" | "choice" | "switch"} kind
 * @property {Record<string, Value>} values  by side or unit; the game's under an empty id
 * @property {{value: Value, text: string, title?: string}[]} [choices]
 * @property {number} least
 * @property {number} [most]
 * @property {string} [falls_with]  the setting whose increase lowers this number
 * @property {boolean} is_rare
 * @property {boolean} is_restated
 * @property {Mark["kind"]} [marker]  the kind of marker that shows it
 */

/** @typedef {Record<string, any>} Patch  the values that an overrule sets; those of sides and units by id */
/** @typedef {{text: string, set: Patch, label: string, isSet?: boolean, title?: string, side?: string}} Choice  a button */
/** @typedef {{key: string, title: string, side?: string, value?: string, choices: Choice[]}} Row */

/** The rows of the settings of the game and its sides. @type {(state: State, patch: Patch, isAll: boolean) => Row[]} */
export function commonRows(state, patch, isAll) {
  // A setting without a present value is an order, such as where to continue, and not part of all settings.
  const isOffered = (/** @type {Setting} */ { values, is_rare }) => (isAll ? Object.keys(values).length > 0 : !is_rare);
  const settings = (playing(state)?.settings ?? []).filter((setting) => setting.of !== "unit" && isOffered(setting));
  return settings.flatMap((setting) => {
    if (setting.of === "game") return [row(state, setting, "", patch)];
    return state.facts.sides.filter((side) => side in setting.values).map((side) => row(state, setting, side, patch));
  });
}

/** The rows of a unit's settings. @type {(state: State, unit: string, patch: Patch) => Row[]} */
export function unitRows(state, unit, patch) {
  const settings = (playing(state)?.settings ?? []).filter(({ of, values }) => of === "unit" && unit in values);
  return settings.map((setting) => row(state, setting, unit, patch));
}

/** Merges the values of one button into a patch. @type {(patch: Patch, set: Patch) => Patch} */
export function mergedPatch(patch, set) {
  const merged = { ...patch };
  for (const [key, value] of Object.entries(set))
    merged[key] = value !== null && typeof value === "object" ? { ...patch[key], ...value } : value;
  return merged;
}

/** A patch with the settings that are sent even if unchanged. @type {(state: State, patch: Patch) => Patch} */
export function restated(state, patch) {
  const settings = (playing(state)?.settings ?? []).filter(({ is_restated }) => is_restated);
  return { ...Object.fromEntries(settings.map(({ key, values }) => [key, values[""]])), ...patch };
}

/** The units' markers, with those that a patch sets. @type {(state: State, patch: Patch) => Record<string, Mark[]>} */
export function markedBy(state, patch) {
  const marks = { ...playing(state)?.marks };
  for (const { key, title, marker } of playing(state)?.settings ?? []) {
    if (!marker || !(key in patch)) continue;
    for (const [unit, value] of Object.entries(patch[key])) {
      const others = (marks[unit] ?? []).filter(({ kind }) => kind !== marker);
      const mark = { kind: marker, text: `${title} ${value}`, count: Number(value) };
      marks[unit] = value ? [mark, ...others] : others;
    }
  }
  return marks;
}

/** @type {(state: State, setting: Setting, id: string, patch: Patch) => Row} */
function row(state, setting, id, patch) {
  const { key, of, kind } = setting;
  const value = (of === "game" ? patch[key] : patch[key]?.[id]) ?? presentValue(state, setting, id, patch);
  const whose = of === "side" ? sideName(state, id) : id;
  const title = whose ? `${whose}: ${setting.title}` : setting.title;
  const set = (/** @type {Value} */ to) => ({ [key]: of === "game" ? to : { [id]: to } });
  const named = { key: `${key} ${id}`, title, side: of === "side" ? id : undefined };
  if (kind === "number" && setting.most === undefined)
    return { ...named, ...stepper(title, Number(value), setting, set) };
  return {
    ...named,
    choices: choicesOf(setting).map(({ value: to, text, title: more }) => ({
      text,
      set: set(to),
      isSet: value === undefined ? undefined : to === value,
      label: kind === "number" ? `${title} ${text}` : `${title}: ${text}`,
      title: more,
      side: state.facts.sides.includes(String(to)) ? String(to) : undefined,
    })),
  };
}

/** The value in the game, before any change on this page. @type {(state: State, setting: Setting, id: string, patch: Patch) => Value} */
function presentValue(state, { values, falls_with }, id, patch) {
  const other = playing(state)?.settings.find(({ key }) => falls_with && key === falls_with);
  if (!other) return values[id];
  const added = Object.entries(patch[other.key] ?? {}).map(([name, value]) => value - Number(other.values[name]));
  return Math.max(0, Number(values[id]) - added.reduce((sum, more) => sum + more, 0));
}

/** @type {(setting: Setting) => {value: Value, text: string, title?: string}[]} */
function choicesOf({ kind, choices = [], least, most = 0 }) {
  if (kind === "choice") return choices.map((choice) => ({ ...choice, text: sentence(choice.text) }));
  if (kind === "switch")
    return [
      { value: true, text: "on" },
      { value: false, text: "off" },
    ];
  return Array.from({ length: most - least + 1 }, (_, index) => ({
    value: least + index,
    text: String(least + index),
  }));
}

/** @type {(title: string, now: number, setting: Setting, set: (value: number) => Patch) => {value: string, choices: Choice[]}} */
function stepper(title, now, { least }, set) {
  const less = { text: "−", set: set(now - 1), label: `${title}: one less`, title: String(now - 1) };
  const more = { text: "+", set: set(now + 1), label: `${title}: one more`, title: String(now + 1) };
  return { value: String(now), choices: now > least ? [less, more] : [more] };
}
