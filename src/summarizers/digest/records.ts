/** Fields of a record: so many fill a line of a processor's cache. */
const WIDTH_BITS = 4;
const FIRST_CAPACITY = 64;

/**
 * Records of sixteen whole numbers each, one after the other in one array: there are hundreds of thousands of them, and
 * objects would cost several times as much to make, to read and to throw away.
 */
export class Records {
  length = 0;
  private data = new Int32Array(FIRST_CAPACITY << WIDTH_BITS);

  /** Adds a record of zeros, and gives its number. */
  push(): number {
    if (this.length << WIDTH_BITS === this.data.length) this.data = doubled(this.data);
    return this.length++;
  }

  get(id: number, field: number): number {
    return this.data[(id << WIDTH_BITS) | field] ?? 0;
  }

  set(id: number, field: number, value: number): void {
    this.data[(id << WIDTH_BITS) | field] = value;
  }

  add(id: number, field: number, value: number): void {
    const index = (id << WIDTH_BITS) | field;
    this.data[index] = (this.data[index] ?? 0) + value;
  }

  /** Sets bits of a field. */
  mark(id: number, field: number, bits: number): void {
    const index = (id << WIDTH_BITS) | field;
    this.data[index] = (this.data[index] ?? 0) | bits;
  }
}

/** A list of whole numbers that grows. */
export class NumberList {
  length = 0;
  private data = new Int32Array(FIRST_CAPACITY);

  push(value: number): void {
    if (this.length === this.data.length) this.data = doubled(this.data);
    this.data[this.length++] = value;
  }

  /** Adds three numbers that belong together. */
  pushThree(first: number, second: number, third: number): void {
    const { length } = this;
    if (length + 3 > this.data.length) this.data = doubled(this.data);
    const { data } = this;
    data[length] = first;
    data[length + 1] = second;
    data[length + 2] = third;
    this.length = length + 3;
  }

  get(index: number): number {
    return this.data[index] ?? 0;
  }

  set(index: number, value: number): void {
    this.data[index] = value;
  }
}

function doubled(data: Int32Array<ArrayBuffer>): Int32Array<ArrayBuffer> {
  const grown = new Int32Array(data.length * 2);
  grown.set(data);
  return grown;
}
