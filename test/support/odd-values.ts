import fc from 'fast-check';
import { isObject, type JsonObject } from '../../src/conversation/json.ts';

const inherited = ['__proto__', 'constructor', 'toString'];
const oddValue = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.constantFrom<unknown>(...inherited, '', null, -1),
  // A parser makes a key of `__proto__`, which a literal does not.
  fc.constant<unknown>(JSON.parse(`{${inherited.map((key) => `"${key}":{"type":"text"}`).join()}}`)),
);

/**
 * Values built like the samples, but with anything at any place: fields are missing, hold odd values, or what stands in
 * the same place of another sample. So they come past the first look of whoever reads them.
 */
export function oddLike(samples: readonly unknown[]): fc.Arbitrary<unknown> {
  const words = samples.filter((sample) => typeof sample !== 'object');
  const elements = samples.filter((sample) => Array.isArray(sample)).flat();
  const objects = samples.filter(isObject);
  return fc.oneof(
    { weight: 1, arbitrary: oddValue },
    ...(words.length > 0 ? [{ weight: 5, arbitrary: fc.constantFrom(...words) }] : []),
    ...(elements.length > 0 ? [{ weight: 5, arbitrary: fc.array(oddLike(elements), { maxLength: 6 }) }] : []),
    ...(objects.length > 0 ? [{ weight: 5, arbitrary: oddObjectLike(objects) }] : []),
  );
}

function oddObjectLike(objects: readonly JsonObject[]): fc.Arbitrary<JsonObject> {
  const keys = [...new Set(objects.flatMap((object) => Object.keys(object)))];
  const fields = keys.map((key) => {
    const samples = objects.flatMap((object) => (Object.hasOwn(object, key) ? [object[key]] : []));
    return [key, oddLike(samples)] as const;
  });
  const base = fc.oneof(fc.constant({}), fc.constantFrom(...objects));
  const changes = fc.record(Object.fromEntries(fields), { requiredKeys: [] });
  return fc.tuple(base, changes).map(([kept, changed]) => ({ ...kept, ...changed }));
}

/** One fault of a list somewhere in a value: an element lost, doubled, or two of them swapped. */
export interface Mangle {
  readonly kind: 'delete' | 'duplicate' | 'swap';
  /** Which of the value's lists, and which of its elements. Numbers beyond the end wrap around. */
  readonly list: number;
  readonly at: number;
  readonly other: number;
}

/** Up to four faults. */
export const mangles: fc.Arbitrary<readonly Mangle[]> = fc.array(
  fc.record({
    kind: fc.constantFrom('delete', 'duplicate', 'swap'),
    list: fc.nat(),
    at: fc.nat(),
    other: fc.nat(),
  }),
  { minLength: 1, maxLength: 4 },
);

/** The value after all faults, as a new one. A value without a list stays as it is. */
export function applyMangles(value: unknown, all: readonly Mangle[]): unknown {
  return all.reduce((current, mangle) => {
    const paths = listPaths(current);
    const path = paths[mangle.list % paths.length];
    return path === undefined ? current : changeList(current, path, (list) => mangleList(list, mangle));
  }, value);
}

function mangleList(list: readonly unknown[], { kind, at, other }: Mangle): readonly unknown[] {
  const first = at % list.length;
  const second = other % list.length;
  if (kind === 'delete') return list.toSpliced(first, 1);
  if (kind === 'duplicate') return list.toSpliced(first, 0, list[first]);
  return list.with(first, list[second]).with(second, list[first]);
}

/** The ways to all lists in a value that have an element. */
function listPaths(value: unknown): readonly (readonly string[])[] {
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return [];
  const inside = Object.entries(value).flatMap(([key, inner]) =>
    listPaths(inner).map((path) => [key, ...path]),
  );
  return Array.isArray(value) && value.length > 0 ? [[], ...inside] : inside;
}

function changeList(
  value: unknown,
  [key, ...rest]: readonly string[],
  change: (list: readonly unknown[]) => readonly unknown[],
): unknown {
  if (key === undefined) return change(value as readonly unknown[]);
  if (Array.isArray(value))
    return value.with(Number(key), changeList(value[Number(key)], rest, change)) as unknown;
  return { ...(value as JsonObject), [key]: changeList((value as JsonObject)[key], rest, change) };
}
