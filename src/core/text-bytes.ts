/** Shorter texts are copied unit by unit: asking the encoder would cost more than that. */
const SHORT = 80;
/** What is kept of the room that a huge message has taken. */
const ROOM_KEPT = 1 << 20;
const ZERO = 0x30;
const encoder = new TextEncoder();

/** Pieces of text, written behind each other in UTF-8. Half of a surrogate pair cannot be told from another. */
export class TextBytes {
  #bytes = new Uint8Array(1 << 14);
  #length = 0;

  /** What was written; true until something else is. */
  written(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  /** How many bytes were written. */
  get length(): number {
    return this.#length;
  }

  /** Takes back what was written behind the first `length` bytes. */
  cutTo(length: number): void {
    this.#length = length;
    if (length === 0 && this.#bytes.length > ROOM_KEPT) this.#bytes = new Uint8Array(ROOM_KEPT);
  }

  addBytes(added: Uint8Array): void {
    const { length } = added;
    const bytes = this.#roomFor(length);
    const start = this.#length;
    if (length > SHORT) bytes.set(added, start);
    else for (let index = 0; index < length; index++) bytes[start + index] = added[index] ?? 0;
    this.#length = start + length;
  }

  /** One character of ASCII. */
  addUnit(unit: number): void {
    this.#roomFor(1)[this.#length++] = unit;
  }

  /** The digits of a whole number that is not negative. */
  addDigits(number: number): void {
    if (number < 10) {
      this.addUnit(ZERO + number);
      return;
    }
    const rest = Math.floor(number / 10);
    this.addDigits(rest);
    this.addUnit(ZERO + number - 10 * rest);
  }

  add(text: string): void {
    if (!this.#addShort(text)) this.#encode(text);
  }

  /** Writes a text that is short and all ASCII; false, and nothing is written, when it is not. */
  #addShort(text: string): boolean {
    const { length } = text;
    if (length > SHORT) return false;
    const bytes = this.#roomFor(length);
    const start = this.#length;
    for (let index = 0; index < length; index++) {
      const unit = text.charCodeAt(index);
      if (unit > 0x7f) return false;
      bytes[start + index] = unit;
    }
    this.#length = start + length;
    return true;
  }

  #encode(text: string): void {
    const room = this.#roomFor(text.length);
    const { read, written } = encoder.encodeInto(text, room.subarray(this.#length));
    this.#length += written;
    if (read === text.length) return;
    const rest = text.slice(read);
    // No unit takes more than three bytes.
    const more = this.#roomFor(3 * rest.length);
    this.#length += encoder.encodeInto(rest, more.subarray(this.#length)).written;
  }

  #roomFor(count: number): Uint8Array {
    const needed = this.#length + count;
    if (needed > this.#bytes.length) {
      const larger = new Uint8Array(Math.max(needed, 2 * this.#bytes.length));
      larger.set(this.#bytes.subarray(0, this.#length));
      this.#bytes = larger;
    }
    return this.#bytes;
  }
}
