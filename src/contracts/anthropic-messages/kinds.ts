import type { Violation } from '../contract.ts';
import { isObject, read } from '../json-value.ts';
import { rules } from './rules.ts';
import { report } from './worded-rule.ts';

/** Kinds of values a field can be asked to hold. */
export type Kind = 'string' | 'integer' | 'boolean' | 'list' | 'object' | 'text or list' | 'anything';

interface KindTest {
  /** As the API names the kind. */
  readonly expected: string;
  readonly holds: (value: unknown) => boolean;
}

const kinds: Readonly<Record<Kind, KindTest>> = {
  string: { expected: 'a valid string', holds: (value) => typeof value === 'string' },
  integer: { expected: 'a valid integer', holds: Number.isInteger },
  boolean: { expected: 'a valid boolean', holds: (value) => typeof value === 'boolean' },
  list: { expected: 'a valid list', holds: Array.isArray },
  object: { expected: 'an object', holds: isObject },
  'text or list': {
    expected: 'a valid list',
    holds: (value) => typeof value === 'string' || Array.isArray(value),
  },
  anything: { expected: 'a valid value', holds: () => true },
};

/** A field that must be there and hold the right kind of value. */
export function checkRequired(owner: unknown, name: string, kind: Kind, path: string): readonly Violation[] {
  const value = read(owner, name);
  if (value === undefined) return [report(rules.missingField, path)];
  return checkKind(value, kind, path);
}

/** A field that may be absent or null, but must otherwise hold the right kind of value. */
export function checkOptional(owner: unknown, name: string, kind: Kind, path: string): readonly Violation[] {
  const value = read(owner, name);
  return value === undefined || value === null ? [] : checkKind(value, kind, path);
}

/** Whether a value is of a kind. */
export function isOfKind(value: unknown, kind: Kind): boolean {
  return value !== undefined && kinds[kind].holds(value);
}

/** A value of the right kind. */
export function checkKind(value: unknown, kind: Kind, path: string): readonly Violation[] {
  return kinds[kind].holds(value) ? [] : [report(rules.wrongKindOfValue, path, kinds[kind].expected)];
}

/** An object whose `type` is one of the tags. */
export function checkTag(value: unknown, tags: readonly string[], path: string): readonly Violation[] {
  const tag = read(value, 'type');
  if (typeof tag !== 'string') return checkRequired(value, 'type', 'string', `${path}.type`);
  return tags.includes(tag) ? [] : [report(rules.unknownType, path, tag, tags)];
}
