import { isObject } from '../conversation/json.ts';

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

function withSortedKeys(value: Readonly<Record<string, unknown>>): object {
  return Object.fromEntries(Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1)));
}
