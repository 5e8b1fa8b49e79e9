import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { LegalNames } from './legal-names.ts';

describe('LegalNames', () => {
  it.each([
    { wanted: ['a', 'b'], given: ['a', 'b'] },
    { wanted: ['a', 'a', 'a'], given: ['a', 'a_1', 'a_2'] },
    { wanted: ['a_1', 'a', 'a'], given: ['a_1', 'a', 'a_2'] },
    { wanted: [undefined, '', undefined], given: ['call_1', 'call_2', 'call_3'] },
    { wanted: ['x.y', 'x:y'], given: ['x_y', 'x_y_1'] },
    {
      wanted: ['0123456789', '0123456789ab', '0123456789cd'],
      given: ['0123456789', '01234567_1', '01234567_2'],
    },
  ])('gives $given for $wanted', ({ wanted, given }) => {
    const names = new LegalNames(10, 'call');

    expect(wanted.map((name) => names.take(name))).toEqual(given);
  });

  test.prop([fc.array(fc.option(fc.string({ maxLength: 12 }), { nil: undefined }))])(
    'never gives a name twice, an illegal one or one that is too long',
    (wanted) => {
      const names = new LegalNames(6, 'call');
      const given = wanted.map((name) => names.take(name));

      expect(new Set(given).size).toBe(given.length);
      for (const name of given) expect(name).toMatch(/^[\w-]{1,6}$/);
    },
  );
});

test.prop([fc.array(fc.string({ maxLength: 3 }))])(
  'get gives the same name for the same thing, and another one for another',
  (wanted) => {
    const names = new LegalNames(8, 'tool');
    const pairs = new Map(wanted.map((name) => [name, names.get(name)]));

    expect(wanted.map((name) => names.get(name))).toEqual(wanted.map((name) => pairs.get(name)));
    expect(new Set(pairs.values()).size).toBe(pairs.size);
  },
);
