/** SHA-256 of a text in UTF-8, in full, as hexadecimal digits. */
export type Hash = (text: string) => string;

let chosen: Hash | undefined;

/** The platform's own SHA-256, where it can be had at once, else the one below. Loaded with the first text. */
export const sha256: Hash = (text) => {
  chosen ??= platformSha256() ?? plainSha256;
  return chosen(text);
};

/** Asked for in this way, nothing has to be loaded where there is no such module. */
function platformSha256(): Hash | undefined {
  const hash = globalThis.process?.getBuiltinModule?.('node:crypto')?.hash;
  return hash && ((text) => hash('sha256', text, 'hex'));
}

// biome-ignore format: a table
const FIRST = new Int32Array([
  0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
]);

// biome-ignore format: a table
const ROUNDS = new Int32Array([
  0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
  0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
  0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
  0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
  0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
  0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
  0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
  0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
]);

const BLOCK = 64;
/** Bytes at the end of the last block that tell how many bits there were. */
const LENGTH_BYTES = 8;

const encoder = new TextEncoder();
const words = new Int32Array(BLOCK);

/** SHA-256 in plain TypeScript, for platforms that have none which answers at once. */
export function plainSha256(text: string): string {
  const bytes = encoder.encode(text);
  const state = FIRST.slice();
  const tail = bytes.length - (bytes.length % BLOCK);
  const whole = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  for (let start = 0; start < tail; start += BLOCK) mix(state, whole, start);
  const end = lastBlocks(bytes.subarray(tail), bytes.length);
  for (let start = 0; start < end.byteLength; start += BLOCK) mix(state, end, start);
  return Array.from(state, (word) => (word >>> 0).toString(16).padStart(8, '0')).join('');
}

/** What does not fill a block, a bit that ends it, and the length of all in bits. */
function lastBlocks(rest: Uint8Array, length: number): DataView {
  const blocks = new Uint8Array(rest.length < BLOCK - LENGTH_BYTES ? BLOCK : 2 * BLOCK);
  blocks.set(rest);
  blocks[rest.length] = 0x80;
  const view = new DataView(blocks.buffer);
  view.setUint32(blocks.length - LENGTH_BYTES, Math.floor(length / 2 ** 29));
  view.setUint32(blocks.length - LENGTH_BYTES / 2, (length * 8) >>> 0);
  return view;
}

/** Takes one block into the state. */
function mix(state: Int32Array, bytes: DataView, start: number): void {
  for (let index = 0; index < 16; index++) words[index] = bytes.getInt32(start + 4 * index);
  for (let index = 16; index < BLOCK; index++) {
    const early = valueAt(words, index - 15);
    const late = valueAt(words, index - 2);
    const earlyMixed = turn(early, 7) ^ turn(early, 18) ^ (early >>> 3);
    const lateMixed = turn(late, 17) ^ turn(late, 19) ^ (late >>> 10);
    words[index] = valueAt(words, index - 16) + earlyMixed + valueAt(words, index - 7) + lateMixed;
  }
  let a = valueAt(state, 0);
  let b = valueAt(state, 1);
  let c = valueAt(state, 2);
  let d = valueAt(state, 3);
  let e = valueAt(state, 4);
  let f = valueAt(state, 5);
  let g = valueAt(state, 6);
  let h = valueAt(state, 7);
  for (let index = 0; index < BLOCK; index++) {
    const choice = (e & f) ^ (~e & g);
    const majority = (a & b) ^ (a & c) ^ (b & c);
    const first =
      (h +
        (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) +
        choice +
        valueAt(ROUNDS, index) +
        valueAt(words, index)) |
      0;
    const second = ((turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + majority) | 0;
    h = g;
    g = f;
    f = e;
    e = (d + first) | 0;
    d = c;
    c = b;
    b = a;
    a = (first + second) | 0;
  }
  state[0] = valueAt(state, 0) + a;
  state[1] = valueAt(state, 1) + b;
  state[2] = valueAt(state, 2) + c;
  state[3] = valueAt(state, 3) + d;
  state[4] = valueAt(state, 4) + e;
  state[5] = valueAt(state, 5) + f;
  state[6] = valueAt(state, 6) + g;
  state[7] = valueAt(state, 7) + h;
}

function valueAt(numbers: Int32Array, index: number): number {
  return numbers[index] ?? 0;
}

function turn(word: number, by: number): number {
  return (word >>> by) | (word << (32 - by));
}
