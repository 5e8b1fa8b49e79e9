import { describe, expect, it } from 'vitest';
import { rememberRecent } from './recent.ts';

describe('rememberRecent', () => {
  it('makes an entry once, and forgets the one that was not asked for longest', () => {
    let made = 0;
    const recent = rememberRecent(2, () => ++made);

    expect(['a', 'b', 'a', 'c', 'a', 'b'].map((name) => recent.take(name))).toEqual([1, 2, 1, 3, 1, 4]);
  });
});
