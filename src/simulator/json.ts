import { isObject, type JsonObject } from '../conversation/json.ts';

/** The object itself, or an empty one when the value is none. */
export function asObject(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

/** No request comes near it; whatever walks through a body may then do so by calling itself. */
const maxDepth = 500;

/** The JSON of a body; undefined when it is none, or nested more than 500 levels deep. */
export function tryParseJson(bytes: Buffer): { readonly value: unknown } | undefined {
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'));
    return isTooDeep(value) ? undefined : { value };
  } catch {
    return undefined;
  }
}

function isTooDeep(value: unknown): boolean {
  let level = [value].filter(isNested);
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > maxDepth) return true;
    level = level.flatMap((outer): unknown[] => Object.values(outer)).filter(isNested);
  }
  return false;
}

function isNested(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/**
 * A value as text that is the same for every order of keys and wherever its cache markers stand. String content is the
 * same as one text block of it.
 */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (key, inner: unknown) => {
    if (key === 'cache_control') return undefined;
    if (key === 'content' && typeof inner === 'string') return [{ text: inner, type: 'text' }];
    return isObject(inner) ? withSortedKeys(inner) : inner;
  });
}

function withSortedKeys(value: JsonObject): object {
  return Object.fromEntries(Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1)));
}
