import { describe, expect, it } from 'vitest';
import { idLength } from './store.ts';

describe('short forms', () => {
  it.each([
    [[], 12],
    [['a', 'a'], 12],
    [['0123456789abcdef', '0123456789abcdxx'], 15],
    [['0123456789abcdef', '0123456789abcdef0', 'b'], 17],
  ])('of ids %j: %d letters', (ids, length) => {
    expect(idLength(ids)).toBe(length);
  });
});
