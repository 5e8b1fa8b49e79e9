import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { checkpointOf } from '../../../test/support/store-records.ts';
import { ENVELOPE_ROOM } from './envelope.ts';
import { readCheckpoint, writeCheckpoint } from './payload.ts';

const payloadOf = (...args: Parameters<typeof writeCheckpoint>) =>
  writeCheckpoint(...args).subarray(ENVELOPE_ROOM);

const characters = fc.constantFrom('a', '"', '\\', '\n', '\u0000', 'é', '漢', '\ud83d\ude00', '\ud800');
const short = fc.string({ unit: characters, maxLength: 5 });
/** Short and long ones, of few kinds of characters: one with half a surrogate is written differently. */
const text = fc
  .tuple(short, characters, fc.nat({ max: 3000 }), short)
  .map(([start, character, times, end]) => `${start}${character.repeat(times)}${end}`);

describe('a checkpoint as bytes', () => {
  test.prop([fc.array(text, { maxLength: 4 })])('is read back with every text of it', (texts) => {
    const parts = texts.map((each) => ({ raw: { role: 'user', content: [{ type: 'text', text: each }] } }));
    const checkpoint = checkpointOf({ parts });
    expect(readCheckpoint(payloadOf(checkpoint))).toStrictEqual(checkpoint);
  });

  it('has long texts as they are', () => {
    const long = 'it said "no"\n'.repeat(100);
    const payload = payloadOf(checkpointOf({ parts: [{ raw: { text: long } }] }));
    expect(payload.toString().split(long)).toHaveLength(2);
  });

  const whole = payloadOf(checkpointOf({ parts: [{ raw: { text: 'é'.repeat(600) } }, { raw: 'short' }] }));

  it('is damaged when it ends early or goes on', () => {
    for (let length = 0; length < whole.length; length++) {
      expect(readCheckpoint(whole.subarray(0, length))).toBe('damaged');
    }
    expect(readCheckpoint(Buffer.concat([whole, Buffer.of(0)]))).toBe('damaged');
  });

  it.each([
    { why: 'no JSON', json: 'no' },
    { why: 'no list', json: '{}' },
    { why: 'an empty list', json: '[]' },
    { why: 'texts that are none', json: '[{"parts":[""]},[[1]]]' },
    { why: 'no parts', json: '[null,[[[0],0]]]' },
    { why: 'a text without a place', json: '[{"parts":["taken"]},[[[0],0]]]' },
  ])('is damaged when it holds $why', ({ json }) => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(json.length);
    expect(readCheckpoint(Buffer.concat([length, Buffer.from(json)]))).toBe('damaged');
  });
});
