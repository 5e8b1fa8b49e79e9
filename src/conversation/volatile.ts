import { isObject, type JsonObject } from './json.ts';

/**
 * What clients change in messages that stay the same: two requests that differ in nothing else have the same chain. Names
 * of fields; a path with dots leads into a field, and `*` stands for any key. What stands inside the arguments or the
 * output of a tool is never volatile, whatever it is called.
 */
export interface VolatileParts {
  /** In a message and in every block of it, however deep: cache markers. */
  readonly anywhere: readonly string[];
  /** In a message itself alone: an `id` or a `timestamp` that a client makes anew for every request. */
  readonly ofMessages: readonly string[];
}

/** A tree of the names in paths: `true` where a path ends. */
export type VolatileTree = ReadonlyMap<string, VolatileTree | true>;

/** The paths as a tree, which is what it takes to look a field up. */
export function volatileTree(paths: readonly string[]): VolatileTree {
  const tree = new Map<string, VolatileTree | true>();
  for (const path of paths) {
    let level = tree;
    const names = path.split('.');
    for (const [index, name] of names.entries()) {
      const known = level.get(name);
      if (known === true) break;
      if (index === names.length - 1) level.set(name, true);
      else {
        // Only maps are ever put in.
        const next = (known ?? new Map()) as Map<string, VolatileTree | true>;
        level.set(name, next);
        level = next;
      }
    }
  }
  return tree;
}

/** What is left of a field whose volatile parts are gone; undefined when nothing is. */
export function withoutVolatileFields(value: unknown, tree: VolatileTree): unknown {
  if (!isObject(value)) return value;
  const kept: [string, unknown][] = [];
  let isSame = true;
  for (const key of Object.keys(value)) {
    const below = tree.get(key) ?? tree.get('*');
    const field = value[key];
    const left =
      below === undefined ? field : below === true ? undefined : withoutVolatileFields(field, below);
    if (left !== field) isSame = false;
    if (left !== undefined) kept.push([key, left]);
  }
  if (isSame) return value;
  // Made from entries, so that no key has a meaning of its own.
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
}

/**
 * A message of the wire format without the parts that are volatile anywhere: one that is kept for later requests must not
 * keep a cache marker of this one. The very same value when there are none.
 */
export function withoutMarkers(
  raw: unknown,
  rules: { readonly structure: ReadonlySet<string>; readonly anywhere: VolatileTree },
): unknown {
  if (Array.isArray(raw)) {
    const items = raw.map((item) => withoutMarkers(item, rules));
    return items.some((item, index) => item !== raw[index]) ? items : raw;
  }
  if (!isObject(raw)) return raw;
  const { structure, anywhere } = rules;
  const changed: [string, unknown][] = [];
  for (const key of Object.keys(raw)) {
    const below = anywhere.get(key);
    const field = raw[key];
    const left =
      below === undefined
        ? structure.has(key)
          ? withoutMarkers(field, rules)
          : field
        : below === true
          ? undefined
          : withoutVolatileFields(field, below);
    if (left !== field) changed.push([key, left]);
  }
  return changed.length === 0 ? raw : replaceFields(raw, new Map(changed));
}

function replaceFields(raw: JsonObject, changed: ReadonlyMap<string, unknown>): JsonObject {
  return Object.fromEntries(
    Object.entries(raw).flatMap(([key, value]) => {
      if (!changed.has(key)) return [[key, value]];
      const left = changed.get(key);
      return left === undefined ? [] : [[key, left]];
    }),
  );
}
