import { isObject } from '../../conversation/json.ts';

/** JSON escapes character by character, so that texts of this length and more are kept beside it. */
const LONG = 512;
/** Messages have their texts near the top. What is deeper stays in the JSON. */
const DEEPEST = 12;
/** What stands in the place of a text that was taken out. */
const TAKEN = '';

/** Where a text stands in a value: the keys on the way to it. */
type Path = readonly (string | number)[];

/** A text that was taken out of a value. */
export interface LongText {
  readonly path: Path;
  readonly text: string;
}

/** The list without its long texts, and those. What has none stays the very same. */
export function takeLongTexts<Item>(list: readonly Item[]): {
  readonly rest: readonly Item[];
  readonly texts: readonly LongText[];
} {
  const texts: LongText[] = [];
  const rest = take(list, [], texts) as readonly Item[]; // nothing is another one but texts
  return { rest, texts };
}

function take(value: unknown, path: (string | number)[], texts: LongText[]): unknown {
  if (typeof value === 'string') {
    // UTF-8 does not keep half surrogates, and JSON does.
    if (value.length < LONG || !value.isWellFormed()) return value;
    texts.push({ path: [...path], text: value });
    return TAKEN;
  }
  if (path.length === DEEPEST) return value;
  if (Array.isArray(value)) return takeFromList(value, path, texts);
  // What writes itself as JSON is left to it.
  return isObject(value) && value['toJSON'] === undefined ? takeFromFields(value, path, texts) : value;
}

function takeFromList(list: readonly unknown[], path: (string | number)[], texts: LongText[]): unknown {
  let copy: unknown[] | undefined;
  for (let index = 0; index < list.length; index++) {
    path.push(index);
    const rest = take(list[index], path, texts);
    path.pop();
    if (rest === list[index]) continue;
    copy ??= [...list];
    copy[index] = rest;
  }
  return copy ?? list;
}

function takeFromFields(
  fields: Readonly<Record<string, unknown>>,
  path: (string | number)[],
  texts: LongText[],
): unknown {
  let copy: Record<string, unknown> | undefined;
  for (const key of Object.keys(fields)) {
    // Nothing could be put back there.
    if (key === '__proto__') continue;
    path.push(key);
    const rest = take(fields[key], path, texts);
    path.pop();
    if (rest === fields[key]) continue;
    copy ??= { ...fields };
    copy[key] = rest;
  }
  return copy ?? fields;
}

/** Puts a text back where it was taken from, into a value that nobody else has. Whether it has such a place. */
export function putLongText(value: unknown, { path, text }: LongText): boolean {
  let owner = value;
  for (const key of path.slice(0, -1)) owner = fieldOf(owner, key);
  const last = path.at(-1);
  if (last === undefined || fieldOf(owner, last) !== TAKEN) return false;
  (owner as Record<string | number, unknown>)[last] = text; // it has that field
  return true;
}

function fieldOf(owner: unknown, key: string | number): unknown {
  if (typeof owner !== 'object' || owner === null || !Object.hasOwn(owner, key)) return undefined;
  return (owner as Readonly<Record<string | number, unknown>>)[key]; // it has that field
}
