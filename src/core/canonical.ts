import { type CanonicalRules, canonicalRulesOf } from './canonical-rules.ts';
import { isObject, type JsonObject } from './json.ts';
import {
  type VolatileParts,
  type VolatileTree,
  volatileTree,
  withoutMarkers,
  withoutVolatileFields,
} from './volatile.ts';

/** The one way in which a wire format's messages are written down to be compared. */
export interface Canonical {
  /**
   * Appends pieces of a text that two messages share when they say the same to the provider, and only then: neither the
   * order of keys nor a short form nor a volatile part makes a difference, everything else does, fields that nobody
   * knows included.
   */
  write(raw: unknown, out: string[]): void;
  /** The message without the cache markers of the request it came in; the very same value when it has none. */
  withoutMarkers(raw: unknown): unknown;
  /** Changes when the rules do. */
  readonly version: string;
}

/** Changes with the way of writing, so that chains of another one never match. */
const VERSION = '1';

/** The canonical form of a wire format. Volatile parts come on top of the format's own cache markers. */
export function createCanonical(format: string, volatile: Partial<VolatileParts> = {}): Canonical {
  const rules = canonicalRulesOf(format);
  const anywherePaths = [...rules.volatile.anywhere, ...(volatile.anywhere ?? [])];
  const messagePaths = [...rules.volatile.ofMessages, ...(volatile.ofMessages ?? [])];
  const anywhere = volatileTree(anywherePaths);
  const blocks = { rules, keys: keyRules(rules, anywhere) };
  const messages = {
    rules,
    keys: keyRules(rules, volatileTree([...anywherePaths, ...messagePaths])),
    blocks,
  };
  return {
    version: JSON.stringify([VERSION, anywherePaths.toSorted(), messagePaths.toSorted()]),
    write(raw, out) {
      if (isObject(raw)) writeBlock(raw, messages, out);
      else writeItem(raw, out);
    },
    withoutMarkers: (raw) => withoutMarkers(raw, { structure: rules.structure, anywhere }),
  };
}

/** What is special about the fields of a message or a block. */
interface Level {
  readonly rules: CanonicalRules;
  readonly keys: ReadonlyMap<string, KeyRule>;
  /** What is special about the blocks in it, where that is something else. */
  readonly blocks?: Level;
}

interface KeyRule {
  readonly volatile: VolatileTree | boolean;
  readonly isStructure: boolean;
  readonly mayBeEmpty: boolean;
}

/** One look at a key tells all there is to know, mostly nothing. */
function keyRules(rules: CanonicalRules, volatile: VolatileTree): ReadonlyMap<string, KeyRule> {
  const keys = new Set([...volatile.keys(), ...rules.structure, ...rules.mayBeEmpty]);
  return new Map(
    Array.from(keys, (key) => [
      key,
      {
        volatile: volatile.get(key) ?? false,
        isStructure: rules.structure.has(key),
        mayBeEmpty: rules.mayBeEmpty.has(key),
      },
    ]),
  );
}

/** A message or a block. */
function writeBlock(given: JsonObject, level: Level, out: string[]): void {
  const block = plain(given);
  if (!isObject(block)) {
    writeData(block, out);
    return;
  }
  const keys = sortedKeys(block);
  out.push('{');
  for (let index = 0; index < keys.length; index++) {
    const key = keys[index] ?? '';
    const value = block[key];
    const rule = level.keys.get(key);
    if (rule !== undefined) writeField(rule, { key, value, owner: block }, level, out);
    else if (!isLeftOut(value)) {
      writeKey(key, out);
      writeData(value, out);
    }
  }
  out.push('}');
}

interface Field {
  readonly key: string;
  readonly value: unknown;
  readonly owner: JsonObject;
}

function writeField(rule: KeyRule, { key, value, owner }: Field, level: Level, out: string[]): void {
  const { volatile, isStructure, mayBeEmpty } = rule;
  if (volatile === true || (mayBeEmpty && level.rules.saysNothing(key, value, owner))) return;
  const kept = volatile === false ? value : withoutVolatileFields(value, volatile);
  if (isLeftOut(kept)) return;
  writeKey(key, out);
  if (isStructure) writeStructure({ key, value: kept, owner }, level.blocks ?? level, out);
  else writeData(kept, out);
}

/** What stands under a structural key: blocks, one block, or a text that is short for one. */
function writeStructure({ key, value, owner }: Field, level: Level, out: string[]): void {
  if (typeof value === 'string') {
    const type = level.rules.textBlockFor(owner, key);
    if (type === undefined) writeString(value, out);
    else writeData([{ text: value, type }], out);
  } else if (Array.isArray(value)) {
    out.push('[');
    for (const item of value) {
      if (isObject(item)) writeBlock(item, level, out);
      else writeItem(item, out);
    }
    out.push(']');
  } else if (isObject(value)) writeBlock(value, level, out);
  else writeData(value, out);
}

/** What JSON leaves out of objects. */
function isLeftOut(value: unknown): boolean {
  return value === undefined || typeof value === 'function' || typeof value === 'symbol';
}

/** Any value, so that different ones are never written alike: every string is told with its length. */
function writeData(given: unknown, out: string[]): void {
  if (typeof given === 'string') writeString(given, out);
  else if (typeof given === 'object') writeObject(plain(given), out);
  else if (typeof given === 'boolean') out.push(given ? 't' : 'f');
  // Minus zero is written as zero in JSON as well.
  else out.push(typeof given === 'bigint' ? `i${given};` : `n${given === 0 ? 0 : String(given)};`);
}

function writeItem(item: unknown, out: string[]): void {
  writeData(isLeftOut(item) ? null : item, out);
}

function writeObject(value: unknown, out: string[]): void {
  if (value === null) out.push('z');
  else if (typeof value !== 'object') writeItem(value, out);
  else if (Array.isArray(value)) {
    out.push('[');
    for (const item of value) writeItem(item, out);
    out.push(']');
  } else if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) writeBytes(value, out);
  else {
    const fields = value as JsonObject; // an object that is no array: any key may be asked for
    out.push('{');
    for (const key of sortedKeys(fields)) {
      if (isLeftOut(fields[key])) continue;
      writeKey(key, out);
      writeData(fields[key], out);
    }
    out.push('}');
  }
}

/** What JSON would be made of: a date, an address or an object of a class says so itself. */
function plain(value: object | null): unknown {
  const own: unknown = value === null ? undefined : (value as { readonly toJSON?: unknown }).toJSON;
  return typeof own === 'function' ? (own.call(value) as unknown) : value;
}

const writtenKeys = new Map<string, string>();
const MOST_WRITTEN_KEYS = 1000;

/** Keys are few and always the same. */
function writeKey(key: string, out: string[]): void {
  let written = writtenKeys.get(key);
  if (written === undefined) {
    const parts: string[] = [];
    writeString(key, parts);
    written = parts.join('');
    if (writtenKeys.size < MOST_WRITTEN_KEYS) writtenKeys.set(key, written);
  }
  out.push(written);
}

/** Half of a surrogate pair would be lost in UTF-8, and two texts would be one: such a text is told in JSON. */
function writeString(text: string, out: string[]): void {
  if (text.isWellFormed()) out.push(`s${text.length}:`, text);
  else {
    const told = JSON.stringify(text);
    out.push(`u${told.length}:`, told);
  }
}

function writeBytes(value: ArrayBufferView | ArrayBuffer, out: string[]): void {
  const bytes = ArrayBuffer.isView(value)
    ? new Uint8Array(value.buffer, value.byteOffset, value.byteLength)
    : new Uint8Array(value);
  out.push(`b${bytes.length}:`);
  for (const byte of bytes) out.push(byte.toString(16).padStart(2, '0'));
}

/** In the order of their UTF-16 units. Objects of messages have few keys, mostly in order. */
function sortedKeys(object: JsonObject): readonly string[] {
  const keys = Object.keys(object);
  for (let index = 1; index < keys.length; index++) {
    const key = keys[index] ?? '';
    let place = index;
    for (; place > 0 && (keys[place - 1] ?? '') > key; place--) keys[place] = keys[place - 1] ?? '';
    keys[place] = key;
  }
  return keys;
}
