import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { loadChecksum } from './checksum.ts';

const checksum = await loadChecksum();
const CHUNK = 64 * 1024;

describe('the sum of a record', () => {
  it.each([
    { identity: '', payload: '', sum: 11_698_336_341_727_500_636n },
    { identity: '["span","tenant","c","rf:1",0]', payload: 'a payload', sum: 14_563_074_319_739_420_440n },
  ])('is the one of $payload under $identity that was written before', ({ identity, payload, sum }) => {
    expect(checksum(identity, Buffer.from(payload))).toBe(sum);
  });

  it.each([1, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK, 3 * CHUNK + 5])(
    'tells every byte of %i from another one',
    (length) => {
      const payload = new Uint8Array(length).fill(7);
      const sum = checksum('identity', payload);
      const places = new Set([0, CHUNK - 1, CHUNK, 2 * CHUNK - 1, 2 * CHUNK, length - 1]);
      for (const place of [...places].filter((one) => one < length)) {
        expect(checksum('identity', payload.with(place, 8))).not.toBe(sum);
      }
      expect(checksum('identity', payload.subarray(1))).not.toBe(sum);
      expect(checksum('other identity', payload)).not.toBe(sum);
    },
  );

  it('tells the order of the pieces that it is made of', () => {
    const [first, second] = [new Uint8Array(CHUNK).fill(1), new Uint8Array(CHUNK).fill(2)];
    expect(checksum('', Buffer.concat([first, second]))).not.toBe(
      checksum('', Buffer.concat([second, first])),
    );
  });

  test.prop([fc.string({ unit: 'binary' }), fc.uint8Array({ maxLength: 300 })])(
    'is the same for the same, wherever its bytes stand',
    (identity, payload) => {
      const elsewhere = new Uint8Array([1, 2, 3, ...payload, 4]).subarray(3, 3 + payload.length);
      expect(checksum(identity, elsewhere)).toBe(checksum(identity, payload));
    },
  );
});
