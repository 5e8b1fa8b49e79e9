import { describe, expect, it } from 'vitest';
import { Recent } from './recent.ts';

describe('Recent', () => {
  it('makes an entry once, and forgets the one that was not used for longest', () => {
    let made = 0;
    const recent = new Recent<string, number>(2);

    expect(['a', 'b', 'a', 'c', 'a', 'b'].map((name) => recent.take(name, () => ++made))).toEqual([
      1, 2, 1, 3, 1, 4,
    ]);
  });

  it('keeps what may not leave, however many there are', () => {
    const recent = new Recent<string, number>(2, (entry) => entry > 2);
    for (const [index, name] of ['a', 'b', 'c', 'd'].entries()) recent.use(name, index + 1);

    expect(recent.values()).toEqual([1, 2, 4]);
    expect(recent.get('c')).toBeUndefined();
  });
});
