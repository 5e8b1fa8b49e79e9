import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { RoundfoldError } from './errors.ts';
import { choice, flag, integer, list, number, readOptions, text } from './options.ts';

const specs = {
  rounds: integer({ default: 2, min: 1, max: 9, help: 'rounds' }),
  share: number({ default: 0.2, max: 1, help: 'share' }),
  tokens: integer({ default: 0, help: 'tokens' }),
  isLoud: flag({ default: false, help: 'loud' }),
  words: text({ default: '', help: 'words' }),
  unit: choice({ default: 'tokens', choices: ['tokens', 'bytes'], help: 'unit' }),
  tools: list({ default: ['read'], help: 'tools' }),
};

function errorOf(given: Readonly<Record<string, unknown>>): RoundfoldError {
  try {
    readOptions(specs, given, 'thing');
  } catch (error) {
    if (RoundfoldError.is(error)) return error;
  }
  throw new Error('was not refused');
}

describe('options', () => {
  it('have their defaults where nothing is given', () => {
    const defaults = {
      rounds: 2,
      share: 0.2,
      tokens: 0,
      isLoud: false,
      words: '',
      unit: 'tokens',
      tools: ['read'],
    };

    expect(readOptions(specs, {}, 'thing')).toEqual(defaults);
    expect(readOptions(specs, { rounds: undefined, tools: undefined }, 'thing')).toEqual(defaults);
  });

  it.each([
    { given: { rounds: 9 }, read: 9 },
    { given: { rounds: '7' }, read: 7 },
    { given: { tokens: '20_000' }, read: 20_000 },
    { given: { tokens: Number.MAX_SAFE_INTEGER }, read: Number.MAX_SAFE_INTEGER },
    { given: { share: 1 }, read: 1 },
    { given: { share: '0.5' }, read: 0.5 },
    { given: { share: 0 }, read: 0 },
    { given: { isLoud: true }, read: true },
    { given: { isLoud: 'YES' }, read: true },
    { given: { isLoud: 'off' }, read: false },
    { given: { words: '12' }, read: '12' },
    { given: { unit: 'bytes' }, read: 'bytes' },
    { given: { tools: ['a', 'b'] }, read: ['a', 'b'] },
    { given: { tools: 'a, b' }, read: ['a', 'b'] },
    { given: { tools: 'a,,b,' }, read: ['a', 'b'] },
    { given: { tools: '' }, read: [] },
    { given: { tools: [] }, read: [] },
  ])('read $given as $read', ({ given, read }) => {
    const [name] = Object.keys(given);

    expect(Reflect.get(readOptions(specs, given, 'thing'), name!)).toEqual(read);
  });

  it.each([
    { given: { rounds: 0 }, says: ['thing', 'rounds', 'at least 1', 'at most 9', '0'] },
    { given: { rounds: 10 }, says: ['rounds', 'at most 9', '10'] },
    { given: { rounds: -3 }, says: ['rounds', 'whole number', '-3'] },
    { given: { rounds: 1.5 }, says: ['rounds', 'whole number', '1.5'] },
    { given: { rounds: Number.NaN }, says: ['rounds', 'NaN'] },
    { given: { rounds: '' }, says: ['rounds', '""'] },
    { given: { rounds: ' ' }, says: ['rounds'] },
    { given: { rounds: 'many' }, says: ['rounds', '"many"'] },
    { given: { rounds: null }, says: ['rounds', 'null'] },
    { given: { rounds: true }, says: ['rounds', 'true'] },
    { given: { rounds: [1] }, says: ['rounds'] },
    { given: { tokens: -1 }, says: ['tokens', 'at least 0', '-1'] },
    { given: { tokens: 2 ** 60 }, says: ['tokens'] },
    { given: { tokens: Number.POSITIVE_INFINITY }, says: ['tokens', 'Infinity'] },
    { given: { share: 1.01 }, says: ['share', 'at most 1', '1.01'] },
    { given: { share: -0.1 }, says: ['share', 'at least 0', '-0.1'] },
    { given: { isLoud: 'perhaps' }, says: ['isLoud', 'yes or no', '"perhaps"'] },
    { given: { isLoud: 1 }, says: ['isLoud', 'yes or no'] },
    { given: { words: 5 }, says: ['words', 'text'] },
    { given: { unit: 'pounds' }, says: ['unit', 'tokens, bytes', '"pounds"'] },
    { given: { unit: 'toString' }, says: ['unit', 'tokens, bytes'] },
    { given: { tools: 5 }, says: ['tools', 'list'] },
    { given: { tools: ['a', 5] }, says: ['tools', 'list'] },
  ])('refuse $given and say so: $says', ({ given, says }) => {
    const error = errorOf(given);

    expect(error.code).toBe('usage');
    for (const part of says) expect(error.message).toContain(part);
  });

  it('refuse with a remedy, whatever is wrong', () => {
    for (const given of [{ rounds: 0 }, { unit: 'x' }, { tools: 1 }, { isLoud: 2 }, { words: 3 }]) {
      expect(errorOf(given).remedy, JSON.stringify(given)).toMatch(/\w/);
    }
  });

  it.each(['round', '__proto__', 'constructor', 'toString'])(
    'do not know %s, and name those they know',
    (name) => {
      const error = errorOf(JSON.parse(`{"${name}":1}`));

      expect(error.message).toContain(name);
      expect(error.remedy).toContain('rounds, share, tokens, isLoud, words, unit, tools');
    },
  );

  test.prop([fc.constantFrom(...Object.keys(specs)), fc.anything()])(
    'take any value for what it is or refuse it, and throw nothing else',
    (name, value) => {
      try {
        expect(Reflect.get(readOptions(specs, { [name]: value }, 'thing'), name)).toBeDefined();
      } catch (error) {
        expect(RoundfoldError.is(error)).toBe(true);
        expect(String(error)).toContain(name);
      }
    },
  );
});
