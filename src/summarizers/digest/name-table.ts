import { readUnits, unitPairs, units } from './line-units.ts';
import { NumberList } from './records.ts';

const FIRST_SIZE = 256;
const FIRST_CHARACTERS = 4096;
const HASH_FACTOR = 0x01000193;
const LINE_FACTOR = 0x2c1b3c6d;

/** The hash of no units at all. */
export const FIRST_HASH = 0x811c9dc5 | 0;

/** The hash of a stretch from that of all but its last unit. */
export function nextHash(hash: number, unit: number): number {
  return Math.imul(hash ^ unit, HASH_FACTOR);
}

/** The hash of a stretch of the text that was read. */
export function hashOf(start: number, end: number): number {
  let hash = FIRST_HASH;
  for (let index = start; index < end; index++) hash = nextHash(hash, units[index] ?? 0);
  return hash;
}

/** The same for a stretch of the text that was read: another hash, two units at a time. */
export function hashOfRead(start: number, end: number): number {
  let hash = FIRST_HASH;
  let index = start;
  for (; index + 1 < end; index += 2) {
    hash = Math.imul(hash ^ unitPairs.getInt32(index << 1, true), LINE_FACTOR);
    hash ^= hash >>> 15;
  }
  return index < end ? nextHash(hash, units[index] ?? 0) : hash;
}

/** Numbers names in the order in which they first occur. It looks at units in place, so that a known name costs no string. */
export class NameTable {
  /** How many names there are. */
  length = 0;
  /** Units of all names, one after the other. */
  characters: Uint16Array<ArrayBuffer> = new Uint16Array(FIRST_CHARACTERS);
  /** The same, to be looked at two at a time. */
  private pairs = new DataView(this.characters.buffer);
  private slots = new Int32Array(FIRST_SIZE).fill(-1);
  private readonly hashes = new NumberList();
  /** Where each name ends among the units. */
  private readonly ends = new NumberList();

  /** The number of the name in this stretch of the text that was read, whose hash this is; the next one if it is new. */
  numberOf(start: number, end: number, hash: number): number {
    const known = this.find(start, end, hash);
    return known === -1 ? this.add(start, end, hash) : known;
  }

  /** The same for a name that may not be known; -1 if it is not. */
  find(start: number, end: number, hash: number): number {
    const { slots, hashes } = this;
    const mask = slots.length - 1;
    for (let slot = placeOf(hash) & mask; ; slot = (slot + 1) & mask) {
      const id = slots[slot] ?? -1;
      if (id === -1) return -1;
      if (hashes.get(id) === hash && this.isSame(id, start, end)) return id;
    }
  }

  /** Whether a name is what stands in this stretch of the text that was read. */
  isSame(id: number, start: number, end: number): boolean {
    const from = this.startOf(id);
    if (this.ends.get(id) - from !== end - start) return false;
    const { pairs } = this;
    const last = end - 1;
    const shift = from - start;
    let index = start;
    for (; index < last; index += 2) {
      if (pairs.getInt32((index + shift) << 1, true) !== unitPairs.getInt32(index << 1, true)) return false;
    }
    return index >= end || this.characters[index + shift] === units[index];
  }

  /** Where a name begins among the units. */
  startOf(id: number): number {
    return id === 0 ? 0 : this.ends.get(id - 1);
  }

  /** Where a name ends among the units. */
  endOf(id: number): number {
    return this.ends.get(id);
  }

  /** Adds a name that is not known. */
  add(start: number, end: number, hash: number): number {
    const id = this.length++;
    const from = this.startOf(id);
    const to = from + end - start;
    this.makeRoom(to + 1);
    const { pairs } = this;
    const shift = from - start;
    // Where the length is odd, one unit too many is copied; the next name takes its place.
    for (let index = start; index < end; index += 2) {
      pairs.setInt32((index + shift) << 1, unitPairs.getInt32(index << 1, true), true);
    }
    this.ends.push(to);
    this.hashes.push(hash);
    if (this.length * 2 > this.slots.length) this.grow();
    else this.enter(id, hash);
    return id;
  }

  private enter(id: number, hash: number): void {
    const { slots } = this;
    const mask = slots.length - 1;
    let slot = placeOf(hash) & mask;
    while (slots[slot] !== -1) slot = (slot + 1) & mask;
    slots[slot] = id;
  }

  private makeRoom(length: number): void {
    if (length <= this.characters.length) return;
    const characters = new Uint16Array(Math.max(length, this.characters.length * 2));
    characters.set(this.characters);
    this.characters = characters;
    this.pairs = new DataView(characters.buffer);
  }

  private grow(): void {
    this.slots = new Int32Array(this.slots.length * 4).fill(-1);
    for (let id = 0; id < this.length; id++) this.enter(id, this.hashes.get(id));
  }
}

/** A table of these names, each of which has to be short. */
export function nameTableOf(names: readonly string[]): NameTable {
  const table = new NameTable();
  for (const name of names) {
    const end = readUnits(name);
    table.numberOf(0, end, hashOf(0, end));
  }
  return table;
}

/** Where to look for a hash first. Its upper bits know most of the name. */
function placeOf(hash: number): number {
  return (hash ^ (hash >>> 15)) & 0x7fffffff;
}
