import type { Violation } from '../contract.ts';
import { isObject, read } from '../json-value.ts';
import { defineRules, report } from '../rule.ts';

/** Rules about single values, which several groups report. */
export const valueRules = defineRules({
  'missing-field': {
    alias: 'A2',
    title: 'required fields are there',
    fix: 'Add the missing field.',
    evidence: 'reported',
    wording: (path: string) => `${path}: Field required`,
  },
  'unknown-field': {
    alias: 'A4',
    title: 'every field is one the API knows',
    fix: 'Remove the field, or send the beta header it belongs to.',
    evidence: 'documented',
    wording: (path: string) => `${path}: Extra inputs are not permitted`,
  },
  'unknown-type': {
    alias: 'A5',
    title: 'the type is one the API knows',
    fix: 'Use one of the expected types, or send the beta header the type belongs to.',
    evidence: 'reported',
    wording: (path: string, tag: string, expected: readonly string[]) =>
      `${path}: Input tag '${tag}' found using 'type' does not match any of the expected tags: ${quoted(expected)}`,
  },
  'wrong-kind-of-value': {
    alias: 'A6',
    title: 'every field holds the kind of value the API expects',
    fix: 'Send a value of the expected kind.',
    evidence: 'reported',
    wording: (path: string, expected: string) => `${path}: Input should be ${expected}`,
  },
});

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
  if (value === undefined) return [report(valueRules['missing-field'], path)];
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
  return kinds[kind].holds(value)
    ? []
    : [report(valueRules['wrong-kind-of-value'], path, kinds[kind].expected)];
}

/** An object whose `type` is one of the tags. */
export function checkTag(value: unknown, tags: readonly string[], path: string): readonly Violation[] {
  const tag = read(value, 'type');
  if (typeof tag !== 'string') return checkRequired(value, 'type', 'string', `${path}.type`);
  return tags.includes(tag) ? [] : [report(valueRules['unknown-type'], path, tag, tags)];
}

function quoted(names: readonly string[]): string {
  return names.map((name) => `'${name}'`).join(', ');
}
