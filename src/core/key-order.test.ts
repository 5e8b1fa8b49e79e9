import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { rememberKeyOrder } from './key-order.ts';

const fieldsOf = rememberKeyOrder((key) => key.length);

describe('the order of keys', () => {
  test.prop([fc.uniqueArray(fc.string({ unit: 'binary', maxLength: 3 }), { maxLength: 6 })])(
    'is that of their units, however the object was made',
    (keys) => {
      const expected = keys.toSorted().map((key) => ({ key, known: key.length }));
      for (const order of [keys, keys.toReversed()]) {
        expect(fieldsOf(Object.fromEntries(order.map((key) => [key, 1])))).toEqual(expected);
      }
    },
  );

  it('is remembered for shapes that come again', () => {
    expect(fieldsOf({ b: 1, a: 2 })).toBe(fieldsOf({ b: 3, a: 4 }));
  });

  it('is true of any number of shapes, and remembers no more than so many', () => {
    const order = rememberKeyOrder(() => 0);
    for (let index = 0; index < 3000; index++) order({ [`key ${index}`]: 1, a: 2 });
    const object = { last: 1, first: 2 };
    expect(order(object).map(({ key }) => key)).toEqual(['first', 'last']);
    expect(order(object)).not.toBe(order(object));
  });
});
