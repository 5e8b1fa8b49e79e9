import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { type KeyShape, startOfShapes } from './key-order.ts';

const start = startOfShapes((key) => key.length);

function shapeOf<Known>(first: KeyShape<Known>, keys: readonly string[]): KeyShape<Known> {
  return keys.reduce((shape, key) => shape.with(key), first);
}

describe('the order of keys', () => {
  test.prop([fc.uniqueArray(fc.string({ unit: 'binary', maxLength: 3 }), { maxLength: 6 })])(
    'is that of their units, however they came',
    (keys) => {
      for (const order of [keys, keys.toReversed()]) {
        const expected = keys
          .toSorted()
          .map((key) => ({ key, place: order.indexOf(key), known: key.length }));
        expect(shapeOf(start, order).plan).toEqual(expected);
      }
    },
  );

  it('is remembered for shapes that come again', () => {
    expect(shapeOf(start, ['b', 'a'])).toBe(shapeOf(start, ['b', 'a']));
    expect(shapeOf(start, ['b', 'a'])).not.toBe(shapeOf(start, ['a', 'b']));
  });

  it('is true of any number of shapes, and remembers no more than so many', () => {
    const all = startOfShapes(() => 0);
    for (let index = 0; index < 3000; index++) shapeOf(all, [`key ${index}`, 'a']);
    const last = shapeOf(all, ['last', 'first']);
    expect(last.plan.map(({ key }) => key)).toEqual(['first', 'last']);
    expect(shapeOf(all, ['last', 'first'])).not.toBe(last);
  });

  it('remembers nothing behind a key that is long enough to be data', () => {
    const all = startOfShapes(() => 0);
    const keys = ['x'.repeat(200), 'a'];
    expect(shapeOf(all, keys).plan.map(({ place }) => place)).toEqual([1, 0]);
    expect(shapeOf(all, keys)).not.toBe(shapeOf(all, keys));
  });
});
