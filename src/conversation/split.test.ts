import { describe, expect, it } from 'vitest';
import { messagesOfShape } from '../../test/support/shapes.ts';
import { safeSplitPoint } from './split.ts';

describe('safeSplitPoint', () => {
  it.each([
    { shape: 'uau', points: [0, 0, 2, 3, 3] },
    { shape: 'uaucra', points: [0, 0, 2, 2, 2, 2, 6, 6] },
    { shape: 'ra', points: [0, 0, 2, 2] },
    { shape: 'u', points: [0, 1, 1] },
    { shape: 'ucrau', points: [0, 0, 0, 0, 4, 5, 5] },
    { shape: 'uuuu', points: [0, 1, 2, 3, 4, 4] },
    { shape: 'ucrcrcrcrcr', points: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 11, 11] },
  ])('gives $points for $shape and every wanted index up to one past the end', ({ shape, points }) => {
    const messages = messagesOfShape(shape);

    expect(points.map((_, desired) => safeSplitPoint(messages, desired))).toEqual(points);
    expect(safeSplitPoint(messages, -3)).toBe(0);
  });
});
