import { createHash } from 'node:crypto';
import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { plainSha256, sha256 } from './sha256.ts';

const expected = (text: string) => createHash('sha256').update(text, 'utf8').digest('hex');

describe('the plain SHA-256', () => {
  it('is that of the standard', () => {
    expect(plainSha256('')).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
    expect(plainSha256('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  });

  it('is right for every length around the end of a block', () => {
    for (let length = 0; length <= 200; length++)
      expect(plainSha256('x'.repeat(length))).toBe(expected('x'.repeat(length)));
  });

  it('is right for long texts, and for pairs that stand where a piece would end', () => {
    for (const text of ['€'.repeat(100_000), `${'a'.repeat(16_383)}😀${'é'.repeat(20_000)}`])
      expect(plainSha256(text)).toBe(expected(text));
  });

  test.prop([fc.string({ unit: 'grapheme', maxLength: 150 })])('is that of the platform', (text) => {
    expect(plainSha256(text)).toBe(expected(text));
    expect(sha256(text)).toBe(expected(text));
  });
});
