/** Shorter texts are copied unit by unit: a call out of JavaScript would cost more than that. */
const SHORT = 40;
/** What is kept of the room that a huge message has taken. */
const ROOM_KEPT = 1 << 20;
const LONGEST_HEADER = 6;
const NO_SMALL_LENGTH = 0x80;
const NARROW = 0x73;
const WIDE = 0x77;
/** In a text of bytes the engine knows without looking that there is none. */
const WIDE_UNIT = /[\u0100-\uffff]/;

/** Texts, numbers and marks, written behind each other so that no two sequences of them are the same bytes. */
export class TextBytes {
  #bytes: Buffer = Buffer.allocUnsafeSlow(1 << 14);
  /** How many bytes there is room for: asking the buffer itself takes longer than writing one. */
  #room = this.#bytes.length;
  #length = 0;

  /** What was written; true until something else is. */
  written(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  /** How many bytes were written. */
  get length(): number {
    return this.#length;
  }

  clear(): void {
    this.#length = 0;
    if (this.#room > ROOM_KEPT) this.#take(Buffer.allocUnsafeSlow(ROOM_KEPT));
  }

  /** One character of ASCII. */
  addUnit(unit: number): void {
    this.#roomFor(1)[this.#length++] = unit;
  }

  /** What another one has written. */
  addBytes(added: Uint8Array): void {
    const { length } = added;
    const bytes = this.#roomFor(length);
    const start = this.#length;
    if (length > SHORT) bytes.set(added, start);
    else for (let index = 0; index < length; index++) bytes[start + index] = added[index] ?? 0;
    this.#length = start + length;
  }

  /**
   * A text behind its length: one byte for each of its UTF-16 units where that is enough, otherwise two. Far cheaper than
   * UTF-8 where the text is not all ASCII, and half of a surrogate pair stays what it is.
   */
  addText(text: string): void {
    const { length } = text;
    const bytes = this.#roomFor(LONGEST_HEADER + 2 * length);
    if (length <= SHORT) {
      if (this.#addShort(text, bytes)) return;
    } else if (!WIDE_UNIT.test(text)) {
      this.#addHeader(NARROW, length, bytes);
      this.#length += bytes.write(text, this.#length, 'latin1');
      return;
    }
    this.#addHeader(WIDE, length, bytes);
    this.#length += bytes.write(text, this.#length, 'utf16le');
  }

  /** False, and nothing is written, where a unit takes two bytes. */
  #addShort(text: string, bytes: Buffer): boolean {
    const before = this.#length;
    const { length } = text;
    this.#addHeader(NARROW, length, bytes);
    const start = this.#length;
    for (let index = 0; index < length; index++) {
      const unit = text.charCodeAt(index);
      if (unit > 0xff) {
        this.#length = before;
        return false;
      }
      bytes[start + index] = unit;
    }
    this.#length = start + length;
    return true;
  }

  /** A mark, and a length: in one byte where it is small, otherwise in four behind one that is no small length. */
  #addHeader(mark: number, length: number, bytes: Buffer): void {
    const start = this.#length;
    bytes[start] = mark;
    if (length < NO_SMALL_LENGTH) {
      bytes[start + 1] = length;
      this.#length = start + 2;
      return;
    }
    bytes[start + 1] = NO_SMALL_LENGTH;
    // A call of the buffer's own method checks more than it writes.
    bytes[start + 2] = length;
    bytes[start + 3] = length >>> 8;
    bytes[start + 4] = length >>> 16;
    bytes[start + 5] = length >>> 24;
    this.#length = start + LONGEST_HEADER;
  }

  #roomFor(count: number): Buffer {
    const needed = this.#length + count;
    if (needed > this.#room) {
      const larger = Buffer.allocUnsafeSlow(Math.max(needed, 2 * this.#room));
      larger.set(this.written());
      this.#take(larger);
    }
    return this.#bytes;
  }

  #take(bytes: Buffer): void {
    this.#bytes = bytes;
    this.#room = bytes.length;
  }
}
