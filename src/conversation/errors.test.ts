import { describe, expect, it } from 'vitest';
import { describePlace, RoundfoldError } from './errors.ts';

describe('RoundfoldError', () => {
  it('is recognised across copies of the package by its mark, not by its class', () => {
    const foreign = { [Symbol.for('roundfold.error')]: true };

    expect(RoundfoldError.is(foreign)).toBe(true);
    expect(RoundfoldError.is(new RoundfoldError('usage', 'no'))).toBe(true);
    expect(RoundfoldError.is(new Error('no'))).toBe(false);
    expect(RoundfoldError.is(null)).toBe(false);
  });
});

describe('describePlace', () => {
  it.each([
    { place: undefined, text: '' },
    { place: { source: 'a.jsonl', line: 2, column: 7 }, text: 'a.jsonl:2:7' },
    { place: { source: 'a.json', path: 'messages.0' }, text: 'a.json (messages.0)' },
    { place: { path: 'messages.0' }, text: 'messages.0' },
  ])('prints $text', ({ place, text }) => {
    expect(describePlace(place)).toBe(text);
  });
});
