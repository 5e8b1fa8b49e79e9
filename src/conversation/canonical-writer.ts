import { type CanonicalRules, strictRules } from './canonical-rules.ts';
import { isObject, type JsonObject } from './json.ts';
import { type VolatileTree, withoutVolatileFields } from './volatile.ts';

/** What is special about the fields of a message or a block. */
export interface Level {
  readonly rules: CanonicalRules;
  readonly special: ReadonlyMap<string, SpecialField>;
  /** What is special about the blocks in it, where that is something else. */
  readonly blocks?: Level;
}

interface SpecialField {
  readonly volatile: VolatileTree | boolean;
  readonly isStructure: boolean;
  readonly mayBeEmpty: boolean;
}

/** The fields that the rules and the volatile parts speak of. */
export function levelOf(rules: CanonicalRules, volatile: VolatileTree): Level {
  const keys = new Set([...volatile.keys(), ...rules.structure, ...rules.mayBeEmpty]);
  const special = new Map(
    [...keys].map((key) => [
      key,
      {
        volatile: volatile.get(key) ?? false,
        isStructure: rules.structure.has(key),
        mayBeEmpty: rules.mayBeEmpty.has(key),
      },
    ]),
  );
  return { rules, special };
}

/** What the arguments and the output of tools are: nothing in them is special. */
const data: Level = levelOf(strictRules, new Map());

/** A message in the one form that all messages have that say the same. */
export function writeMessage(raw: unknown, messages: Level): string {
  return isObject(raw) ? writeObject(raw, messages) : writeItem(raw);
}

/** A text behind its length, so that no two sequences of texts are written alike. Halves of surrogate pairs stay apart. */
export function writeText(text: string): string {
  return text.isWellFormed() ? `${text.length}:${text}` : `u${JSON.stringify(text)}`;
}

/** A message, a block, or an object that is data. Dates, addresses and objects of a class say themselves what they are. */
function writeObject(object: JsonObject, level: Level): string {
  if (typeof object['toJSON'] === 'function') return writeTold(object['toJSON'].call(object), level);
  let written = '{';
  for (const key of Object.keys(object).sort()) {
    const special = level.special.get(key);
    const value = object[key];
    if (special !== undefined) written += writeSpecial(key, special, { object, level });
    else if (!isLeftOut(value)) written += writeText(key) + writeData(value);
  }
  return `${written}}`;
}

/** What an object says that it is in JSON. Nobody asks it again. */
function writeTold(value: unknown, level: Level): string {
  return isObject(value) ? writeObject({ ...value, toJSON: undefined }, level) : writeItem(value);
}

function writeSpecial(
  key: string,
  { volatile, isStructure, mayBeEmpty }: SpecialField,
  { object, level }: { readonly object: JsonObject; readonly level: Level },
): string {
  const value = object[key];
  if (volatile === true || (mayBeEmpty && level.rules.saysNothing(key, value, object))) return '';
  const kept = volatile === false ? value : withoutVolatileFields(value, volatile);
  if (isLeftOut(kept)) return '';
  if (!isStructure) return writeText(key) + writeData(kept);
  const written =
    typeof kept === 'string'
      ? writeShortText(kept, level.rules.textBlockFor(object, key))
      : writeStructure(kept, level.blocks ?? level);
  return writeText(key) + written;
}

/** What stands under a structural key and is no text: blocks, or one block. */
function writeStructure(value: unknown, level: Level): string {
  if (isObject(value)) return writeObject(value, level);
  if (!Array.isArray(value)) return writeData(value);
  let written = '[';
  for (const item of value) written += isObject(item) ? writeObject(item, level) : writeItem(item);
  return `${written}]`;
}

/** A text that may be short for a list of one block of a type, and is written as that. */
function writeShortText(text: string, type: string | undefined): string {
  if (type === undefined) return writeText(text);
  return `[{${writeText('text')}${writeText(text)}${writeText('type')}${writeText(type)}}]`;
}

/** Any value, so that different ones are never written alike. */
function writeData(given: unknown): string {
  if (typeof given === 'string') return writeText(given);
  if (Array.isArray(given)) return `[${given.map(writeItem).join('')}]`;
  if (ArrayBuffer.isView(given) || given instanceof ArrayBuffer) return writeBytes(given);
  return isObject(given) ? writeObject(given, data) : writeScalar(given);
}

function writeItem(item: unknown): string {
  return writeData(isLeftOut(item) ? null : item);
}

/** What JSON leaves out of objects. */
function isLeftOut(value: unknown): boolean {
  return value === undefined || typeof value === 'function' || typeof value === 'symbol';
}

/** What is no text, list or object. */
function writeScalar(value: unknown): string {
  if (value === null) return 'z';
  if (typeof value === 'boolean') return value ? 't' : 'f';
  if (typeof value === 'bigint') return `i${value};`;
  // Minus zero is written as zero in JSON as well.
  return `n${value === 0 ? '0' : String(value)};`;
}

/** More arguments than this are too many for one call. */
const MOST_CODES = 1 << 13;

/** Bytes as characters. */
function writeBytes(value: ArrayBufferView | ArrayBuffer): string {
  const bytes = ArrayBuffer.isView(value)
    ? new Uint8Array(value.buffer, value.byteOffset, value.byteLength)
    : new Uint8Array(value);
  let written = `b${bytes.length}:`;
  for (let start = 0; start < bytes.length; start += MOST_CODES)
    written += String.fromCharCode(...bytes.subarray(start, start + MOST_CODES));
  return written;
}
