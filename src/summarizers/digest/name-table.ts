import { NumberList } from './records.ts';

const FIRST_SIZE = 256;
const FIRST_HASH = 0x811c9dc5;
const HASH_FACTOR = 0x01000193;

/** Numbers names in the order in which they first occur. It looks at units in place, so that a known name costs no string. */
export class NameTable {
  /** How many names there are. */
  length = 0;
  private slots = new Int32Array(FIRST_SIZE).fill(-1);
  private readonly hashes = new NumberList();
  /** Units of all names, one after the other, and where each name begins. */
  private readonly characters = new NumberList();
  private readonly starts = new NumberList();

  /** The number of the name that stands in this stretch; the next one if it is new. */
  numberOf(units: Uint16Array, start: number, end: number): number {
    let hash = FIRST_HASH;
    for (let index = start; index < end; index++) hash = Math.imul(hash ^ (units[index] ?? 0), HASH_FACTOR);
    hash ^= hash >>> 15;
    const mask = this.slots.length - 1;
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const id = this.slots[slot] ?? -1;
      if (id === -1) {
        this.slots[slot] = this.length;
        this.hashes.push(hash);
        return this.add(units, start, end);
      }
      if (this.hashes.get(id) === hash && this.isSame(id, units, start, end)) return id;
    }
  }

  private isSame(id: number, units: Uint16Array, start: number, end: number): boolean {
    const from = this.starts.get(id);
    const to = id + 1 < this.length ? this.starts.get(id + 1) : this.characters.length;
    if (to - from !== end - start) return false;
    for (let index = start; index < end; index++) {
      if (this.characters.get(from + index - start) !== units[index]) return false;
    }
    return true;
  }

  private add(units: Uint16Array, start: number, end: number): number {
    this.starts.push(this.characters.length);
    for (let index = start; index < end; index++) this.characters.push(units[index] ?? 0);
    if (++this.length * 2 > this.slots.length) this.grow();
    return this.length - 1;
  }

  private grow(): void {
    const slots = new Int32Array(this.slots.length * 2).fill(-1);
    const mask = slots.length - 1;
    for (let id = 0; id < this.length; id++) {
      let slot = this.hashes.get(id) & mask;
      while (slots[slot] !== -1) slot = (slot + 1) & mask;
      slots[slot] = id;
    }
    this.slots = slots;
  }
}
