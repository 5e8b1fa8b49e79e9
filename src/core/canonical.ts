import { type CanonicalRules, canonicalRulesOf } from './canonical-rules.ts';
import { isObject, type JsonObject } from './json.ts';
import { type KeyPlan, rememberKeyOrder } from './key-order.ts';
import { TextBytes } from './text-bytes.ts';
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
   * Appends a text, in UTF-8, that two messages share when they say the same to the provider, and only then: neither the
   * order of keys nor a short form nor a volatile part makes a difference, everything else does, fields that nobody
   * knows included.
   */
  write(raw: unknown, out: TextBytes): void;
  /** The same text as a string. */
  textOf(raw: unknown): string;
  /** The message without the cache markers of the request it came in; the very same value when it has none. */
  withoutMarkers(raw: unknown): unknown;
  /** Changes when the rules do. */
  readonly version: string;
}

/** Changes with the way of writing, so that chains of another one never match. */
const VERSION = '1';
const decoder = new TextDecoder();

/** The canonical form of a wire format. Volatile parts come on top of the format's own cache markers. */
export function createCanonical(format: string, volatile: Partial<VolatileParts> = {}): Canonical {
  const rules = canonicalRulesOf(format);
  const anywherePaths = [...rules.volatile.anywhere, ...(volatile.anywhere ?? [])];
  const messagePaths = [...rules.volatile.ofMessages, ...(volatile.ofMessages ?? [])];
  const anywhere = volatileTree(anywherePaths);
  const messages: Level = {
    ...levelOf(rules, volatileTree([...anywherePaths, ...messagePaths])),
    blocks: levelOf(rules, anywhere),
  };
  const alone = new TextBytes();
  const write = (raw: unknown, out: TextBytes) => {
    if (isObject(raw)) writeBlock(raw, messages, out);
    else writeItem(raw, out);
  };
  return {
    version: JSON.stringify([VERSION, anywherePaths.toSorted(), messagePaths.toSorted()]),
    write,
    textOf(raw) {
      alone.cutTo(0);
      write(raw, alone);
      return decoder.decode(alone.written());
    },
    withoutMarkers: (raw) => withoutMarkers(raw, { structure: rules.structure, anywhere }),
  };
}

/** What is special about the fields of a message or a block. */
interface Level {
  readonly rules: CanonicalRules;
  readonly fieldsOf: (object: object) => KeyPlan<FieldRule>;
  /** What is special about the blocks in it, where that is something else. */
  readonly blocks?: Level;
}

interface FieldRule extends WrittenKey {
  /** Undefined for most: then nothing is special. */
  readonly special: SpecialField | undefined;
}

interface SpecialField {
  readonly volatile: VolatileTree | boolean;
  readonly isStructure: boolean;
  readonly mayBeEmpty: boolean;
}

function levelOf(rules: CanonicalRules, volatile: VolatileTree): Level {
  const specialKeys = new Set([...volatile.keys(), ...rules.structure, ...rules.mayBeEmpty]);
  return {
    rules,
    fieldsOf: rememberKeyOrder((key) => ({
      ...writtenKey(key),
      special: specialKeys.has(key)
        ? {
            volatile: volatile.get(key) ?? false,
            isStructure: rules.structure.has(key),
            mayBeEmpty: rules.mayBeEmpty.has(key),
          }
        : undefined,
    })),
  };
}

const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;

/** A message or a block. */
function writeBlock(given: JsonObject, level: Level, out: TextBytes): void {
  const block = plain(given);
  if (!isObject(block)) {
    writeData(block, out);
    return;
  }
  out.addUnit(OPEN_OBJECT);
  for (const { key, known } of level.fieldsOf(block)) {
    const value = block[key];
    if (known.special !== undefined) writeSpecial(known, { key, value, owner: block }, level, out);
    else if (!isLeftOut(value)) {
      out.addBytes(known.bytes);
      writeData(value, out);
    }
  }
  out.addUnit(CLOSE_OBJECT);
}

interface Field {
  readonly key: string;
  readonly value: unknown;
  readonly owner: JsonObject;
}

function writeSpecial(
  { special, bytes }: FieldRule,
  { key, value, owner }: Field,
  level: Level,
  out: TextBytes,
): void {
  if (special === undefined) return;
  const { volatile, isStructure, mayBeEmpty } = special;
  if (volatile === true || (mayBeEmpty && level.rules.saysNothing(key, value, owner))) return;
  const kept = volatile === false ? value : withoutVolatileFields(value, volatile);
  if (isLeftOut(kept)) return;
  out.addBytes(bytes);
  if (isStructure) writeStructure({ key, value: kept, owner }, level.blocks ?? level, out);
  else writeData(kept, out);
}

/** What stands under a structural key: blocks, one block, or a text that is short for one. */
function writeStructure({ key, value, owner }: Field, level: Level, out: TextBytes): void {
  if (typeof value === 'string') {
    const type = level.rules.textBlockFor(owner, key);
    if (type === undefined) writeString(value, out);
    else writeData([{ text: value, type }], out);
  } else if (Array.isArray(value)) {
    out.addUnit(OPEN_LIST);
    for (const item of value) {
      if (isObject(item)) writeBlock(item, level, out);
      else writeItem(item, out);
    }
    out.addUnit(CLOSE_LIST);
  } else if (isObject(value)) writeBlock(value, level, out);
  else writeData(value, out);
}

/** What JSON leaves out of objects. */
function isLeftOut(value: unknown): boolean {
  return value === undefined || typeof value === 'function' || typeof value === 'symbol';
}

/** Any value, so that different ones are never written alike: every string is told with its length. */
function writeData(given: unknown, out: TextBytes): void {
  if (typeof given === 'string') writeString(given, out);
  else if (typeof given === 'object') writeObject(plain(given), out);
  else if (typeof given === 'boolean') out.add(given ? 't' : 'f');
  // Minus zero is written as zero in JSON as well.
  else out.add(typeof given === 'bigint' ? `i${given};` : `n${given === 0 ? 0 : String(given)};`);
}

function writeItem(item: unknown, out: TextBytes): void {
  writeData(isLeftOut(item) ? null : item, out);
}

function writeObject(value: unknown, out: TextBytes): void {
  if (value === null) out.add('z');
  else if (typeof value !== 'object') writeItem(value, out);
  else if (Array.isArray(value)) {
    out.addUnit(OPEN_LIST);
    for (const item of value) writeItem(item, out);
    out.addUnit(CLOSE_LIST);
  } else if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) writeBytes(value, out);
  else {
    const fields = value as JsonObject; // an object that is no array: any key may be asked for
    out.addUnit(OPEN_OBJECT);
    for (const { key, known } of fieldsOfData(fields)) {
      if (isLeftOut(fields[key])) continue;
      out.addBytes(known.bytes);
      writeData(fields[key], out);
    }
    out.addUnit(CLOSE_OBJECT);
  }
}

/** What JSON would be made of: a date, an address or an object of a class says so itself. */
function plain(value: object | null): unknown {
  const own: unknown = value === null ? undefined : (value as { readonly toJSON?: unknown }).toJSON;
  return typeof own === 'function' ? (own.call(value) as unknown) : value;
}

/** A key as it is written before its value. */
interface WrittenKey {
  readonly bytes: Uint8Array;
}

const keyText = new TextBytes();

function writtenKey(key: string): WrittenKey {
  keyText.cutTo(0);
  writeString(key, keyText);
  return { bytes: keyText.written().slice() };
}

const fieldsOfData = rememberKeyOrder(writtenKey);
const WHOLE_TEXT = 0x73;
const COLON = 0x3a;

/** Half of a surrogate pair would be lost in UTF-8, and two texts would be one: such a text is told in JSON. */
function writeString(text: string, out: TextBytes): void {
  const { length: start } = out;
  out.addUnit(WHOLE_TEXT);
  out.addDigits(text.length);
  out.addUnit(COLON);
  const { length: textStart } = out;
  out.add(text);
  // As many bytes as units: all of it is ASCII, and nobody has to look for halves.
  if (out.length - textStart === text.length || text.isWellFormed()) return;
  const told = JSON.stringify(text);
  out.cutTo(start);
  out.add(`u${told.length}:`);
  out.add(told);
}

function writeBytes(value: ArrayBufferView | ArrayBuffer, out: TextBytes): void {
  const bytes = ArrayBuffer.isView(value)
    ? new Uint8Array(value.buffer, value.byteOffset, value.byteLength)
    : new Uint8Array(value);
  out.add(`b${bytes.length}:`);
  for (const byte of bytes) out.add(byte.toString(16).padStart(2, '0'));
}
