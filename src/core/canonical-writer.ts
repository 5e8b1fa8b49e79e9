import { type CanonicalRules, strictRules } from './canonical-rules.ts';
import { codeOf } from './canonical-words.ts';
import { isObject, type JsonObject } from './json.ts';
import { type KeyShape, type PlannedKey, startOfShapes } from './key-order.ts';
import { TextBytes } from './text-bytes.ts';
import { type VolatileTree, withoutVolatileFields } from './volatile.ts';

/** What is special about the fields of a message or a block. */
export interface Level {
  readonly rules: CanonicalRules;
  readonly start: KeyShape<FieldRule>;
  /** What is special about the blocks in it, where that is something else. */
  readonly blocks?: Level;
}

interface FieldRule {
  /** The key as it is written before its value, where it is no word. */
  readonly bytes: Uint8Array;
  /** The byte of a key that is a word; otherwise 0. */
  readonly code: number;
  /** Undefined for most: then nothing is special. */
  readonly special: SpecialField | undefined;
  /** Whether the value is a word more often than not. */
  readonly isWord: boolean;
}

interface SpecialField {
  readonly volatile: VolatileTree | boolean;
  readonly isStructure: boolean;
  readonly mayBeEmpty: boolean;
}

export function levelOf(rules: CanonicalRules, volatile: VolatileTree): Level {
  const specialKeys = new Set([...volatile.keys(), ...rules.structure, ...rules.mayBeEmpty]);
  return {
    rules,
    start: startOfShapes((key) => ({
      bytes: bytesOf(key),
      code: codeOf(key) ?? 0,
      isWord: WORD_FIELDS.has(key),
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
const NULL = 0x7a;
const TRUE = 0x74;
const FALSE = 0x66;
const NUMBER = 0x6e;
const BIG_INTEGER = 0x69;
const BYTES = 0x62;
const TEXT = codeOf('text');
const TYPE = codeOf('type');

/** Fields whose values are words of the format. */
const WORD_FIELDS: ReadonlySet<string> = new Set(['role', 'type']);

function writeWord(text: string, out: TextBytes): void {
  const code = codeOf(text);
  if (code === undefined) out.addText(text);
  else out.addUnit(code);
}

const alone = new TextBytes();

/** A text as it is written. */
function bytesOf(text: string): Uint8Array {
  alone.clear();
  alone.addText(text);
  return new Uint8Array(alone.written());
}

/** What the arguments and the output of tools are: nothing in them is special. */
const data: Level = levelOf(strictRules, new Map());

/** Writes messages down in one way. */
export class CanonicalWriter {
  readonly #messages: Level;
  #out = new TextBytes();
  /** Fields of the objects that are being written, each in the object's own order: taken once, told in another one. */
  readonly #fields: unknown[] = [];
  #fieldCount = 0;

  constructor(messages: Level) {
    this.#messages = messages;
  }

  write(raw: unknown, out: TextBytes): void {
    this.#out = out;
    this.#fieldCount = 0;
    if (isObject(raw)) this.#object(raw, this.#messages);
    else this.#item(raw);
  }

  /** A message, a block, or an object that is data. Dates, addresses and objects of a class say themselves what they are. */
  #object(object: JsonObject, level: Level): void {
    if (Object.getPrototypeOf(object) === Object.prototype) this.#fieldsOf(object, level);
    else if (typeof object['toJSON'] === 'function') this.#told(object['toJSON'].call(object), level);
    // Only what is its own is written.
    else this.#fieldsOf({ ...object }, level);
  }

  /** What an object says that it is in JSON. Nobody asks it again. */
  #told(value: unknown, level: Level): void {
    if (!isObject(value)) this.#item(value);
    else this.#fieldsOf({ ...value, toJSON: undefined }, level);
  }

  #fieldsOf(object: JsonObject, level: Level): void {
    const out = this.#out;
    const fields = this.#fields;
    const first = this.#fieldCount;
    let shape = level.start;
    let count = first;
    // Faster than a list of the keys, and as good: whoever calls has left behind what is inherited.
    for (const key in object) {
      const value = object[key];
      if (key === 'toJSON' && typeof value === 'function') {
        this.#told(value.call(object), level);
        return;
      }
      shape = shape.with(key);
      fields[count++] = value;
    }
    this.#fieldCount = count;
    const { plan } = shape;
    out.addUnit(OPEN_OBJECT);
    for (let index = 0; index < plan.length; index++) {
      const planned = plan[index];
      if (planned === undefined) continue;
      const place = first + planned.place;
      const value = fields[place];
      // Not kept alive until another object takes the place.
      fields[place] = undefined;
      if (planned.known.special !== undefined) this.#special(planned, value, object, level);
      else if (!isLeftOut(value)) this.#field(planned.known, value);
    }
    out.addUnit(CLOSE_OBJECT);
    this.#fieldCount = first;
  }

  #special(planned: PlannedKey<FieldRule>, value: unknown, owner: JsonObject, level: Level): void {
    const { key, known } = planned;
    const { special } = known;
    if (special === undefined) return;
    const { volatile, isStructure, mayBeEmpty } = special;
    if (volatile === true || (mayBeEmpty && level.rules.saysNothing(key, value, owner))) return;
    const kept = volatile === false ? value : withoutVolatileFields(value, volatile);
    if (isLeftOut(kept)) return;
    if (!isStructure) {
      this.#field(known, kept);
      return;
    }
    this.#key(known);
    if (typeof kept === 'string') this.#text(kept, level.rules.textBlockFor(owner, key));
    else this.#structure(kept, level.blocks ?? level);
  }

  #field(rule: FieldRule, value: unknown): void {
    this.#key(rule);
    if (typeof value !== 'string') this.#data(value);
    else if (rule.isWord) writeWord(value, this.#out);
    else this.#out.addText(value);
  }

  #key({ code, bytes }: FieldRule): void {
    if (code === 0) this.#out.addBytes(bytes);
    else this.#out.addUnit(code);
  }

  /** What stands under a structural key and is no text: blocks, or one block. */
  #structure(value: unknown, level: Level): void {
    if (Array.isArray(value)) {
      this.#out.addUnit(OPEN_LIST);
      for (let index = 0; index < value.length; index++) {
        const item: unknown = value[index];
        if (isObject(item)) this.#object(item, level);
        else this.#item(item);
      }
      this.#out.addUnit(CLOSE_LIST);
    } else if (isObject(value)) this.#object(value, level);
    else this.#data(value);
  }

  /** A text that may be short for a list of one block of a type, and is written as that. */
  #text(text: string, type: string | undefined): void {
    const out = this.#out;
    if (type === undefined) {
      out.addText(text);
      return;
    }
    out.addUnit(OPEN_LIST);
    out.addUnit(OPEN_OBJECT);
    out.addUnit(TEXT);
    out.addText(text);
    out.addUnit(TYPE);
    writeWord(type, out);
    out.addUnit(CLOSE_OBJECT);
    out.addUnit(CLOSE_LIST);
  }

  /** Any value, so that different ones are never written alike: every string is told with its length. */
  #data(given: unknown): void {
    if (typeof given === 'string') this.#out.addText(given);
    else if (isObject(given)) {
      if (ArrayBuffer.isView(given) || given instanceof ArrayBuffer) writeBytes(given, this.#out);
      else this.#object(given, data);
    } else if (Array.isArray(given)) this.#list(given);
    else if (given === null) this.#out.addUnit(NULL);
    else writeScalar(given, this.#out);
  }

  #item(item: unknown): void {
    this.#data(isLeftOut(item) ? null : item);
  }

  #list(list: readonly unknown[]): void {
    this.#out.addUnit(OPEN_LIST);
    for (const item of list) this.#item(item);
    this.#out.addUnit(CLOSE_LIST);
  }
}

/** What JSON leaves out of objects. */
function isLeftOut(value: unknown): boolean {
  return value === undefined || typeof value === 'function' || typeof value === 'symbol';
}

/** What is no text, list or object: a mark, and what it is in digits. */
function writeScalar(value: unknown, out: TextBytes): void {
  if (typeof value === 'boolean') out.addUnit(value ? TRUE : FALSE);
  else if (typeof value === 'bigint') writeMarked(BIG_INTEGER, String(value), out);
  // Minus zero is written as zero in JSON as well.
  else writeMarked(NUMBER, value === 0 ? '0' : String(value), out);
}

function writeMarked(mark: number, text: string, out: TextBytes): void {
  out.addUnit(mark);
  out.addText(text);
}

function writeBytes(value: ArrayBufferView | ArrayBuffer, out: TextBytes): void {
  const bytes = ArrayBuffer.isView(value)
    ? new Uint8Array(value.buffer, value.byteOffset, value.byteLength)
    : new Uint8Array(value);
  writeMarked(BYTES, String(bytes.length), out);
  out.addBytes(bytes);
}
