import { fc, test } from '@fast-check/vitest';
import { describe, expect } from 'vitest';
import { initialAutoCompactState } from '../compaction/breaker.ts';
import type { StoreRecord } from '../stores/store.ts';
import { createExportWriter, readExport } from './export-format.ts';

const name = fc.string({ unit: 'binary', maxLength: 20 });
const place = fc.nat();
const span = fc.record({
  span: fc.record({
    tenant: name,
    conversation: name,
    handle: name,
    start: place,
    end: place,
    body: fc.uint8Array({ maxLength: 200 }),
    text: name,
    createdAt: place,
  }),
});
const checkpoint = fc.record({
  checkpoint: fc.record({
    version: fc.constant(1 as const),
    tenant: name,
    configuration: name,
    conversation: name,
    chain: name,
    boundary: place,
    // As they come out of a store: what JSON cannot hold was lost on the way in.
    parts: fc.array(fc.jsonValue().map((value) => ({ raw: JSON.parse(JSON.stringify(value)) as unknown }))),
    parent: name,
    receipt: fc.constant({
      version: 1 as const,
      strategy: 'summarize',
      messagesBefore: 4,
      messagesAfter: 2,
      tokensBefore: 4000,
      tokensAfter: 400,
      runs: [],
    }),
    state: fc.constant(initialAutoCompactState),
    createdAt: place,
  }),
});
const records: fc.Arbitrary<readonly StoreRecord[]> = fc.array(fc.oneof(span, checkpoint), { maxLength: 5 });

function write(list: readonly StoreRecord[]): Buffer {
  const writer = createExportWriter();
  return Buffer.from(`${writer.first()}${list.map((one) => writer.record(one)).join('')}${writer.last()}`);
}

async function read(bytes: Uint8Array, chunkLength = bytes.length) {
  const found: StoreRecord[] = [];
  let isRefused = false;
  for await (const one of readExport(chunksOf(bytes, chunkLength), () => true)) {
    if ('record' in one) found.push(one.record);
    if ('damage' in one) isRefused = true;
  }
  return { found, isRefused };
}

async function* chunksOf(bytes: Uint8Array, length: number): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < bytes.length; start += length) yield bytes.subarray(start, start + length);
}

describe('the lines of an export', () => {
  test.prop([records, fc.integer({ min: 1, max: 300 })])(
    'give every record back, however the bytes arrive',
    async (list, chunkLength) => {
      const { found, isRefused } = await read(write(list), chunkLength);

      expect(isRefused).toBe(false);
      expect(found).toEqual(list);
      expect(write(found).equals(write(list))).toBe(true);
    },
  );

  test.prop([records, fc.nat(), fc.integer({ min: 1, max: 255 })])(
    'never give another record when a byte was changed',
    async (list, at, flip) => {
      const bytes = write(list);
      const index = at % bytes.length;
      bytes[index] = (bytes[index] ?? 0) ^ flip;
      const { found, isRefused } = await read(bytes);

      expect(isRefused || write(found).equals(write(list))).toBe(true);
    },
  );
});
