import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { rememberFold } from './prefix-memory.ts';

interface Item {
  readonly size: number;
}

/** A fold that also counts how many items it was given, over all lists. */
function countingSum({ canRewind = false } = {}) {
  let added = 0;
  const rewind = (sums: number[], length: number) => {
    sums.length = length;
  };
  const fold = rememberFold<Item, number[]>({
    start: () => [],
    add: (sums, { size }) => {
      added++;
      sums.push((sums.at(-1) ?? 0) + size);
    },
    ...(canRewind ? { rewind } : {}),
  });
  return { sum: (items: readonly Item[]) => fold(items).at(-1) ?? 0, added: () => added };
}

const pool = Array.from({ length: 6 }, (_, index) => ({ size: 2 ** index }));

describe('rememberFold', () => {
  it('takes only what is new when a list has grown', () => {
    const { sum, added } = countingSum();

    expect(sum(pool.slice(0, 4))).toBe(15);
    expect(sum(pool)).toBe(63);
    expect(sum([...pool])).toBe(63);
    expect(added()).toBe(6);
  });

  it('does not mind that the list it was given before is pushed to', () => {
    const { sum } = countingSum();
    const list = pool.slice(0, 2);
    sum(list);
    list.push(pool[2]!);

    expect(sum(list)).toBe(7);
  });

  it('remembers a conversation and its shortened form side by side', () => {
    const { sum, added } = countingSum();
    const shortened = [pool[0]!, pool[5]!];
    sum(pool);
    sum(shortened);
    const before = added();

    expect([sum(pool), sum(shortened), sum(pool)]).toEqual([63, 33, 63]);
    expect(added()).toBe(before);
  });

  it('goes on from a change near the end when the fold can be rewound', () => {
    const { sum, added } = countingSum({ canRewind: true });
    sum(pool);

    expect(sum([...pool.slice(0, 5), pool[0]!])).toBe(32);
    expect(added()).toBe(7);
  });

  test.prop([fc.array(fc.array(fc.constantFrom(...pool))), fc.boolean()])(
    'gives for any lists in any order what folding each of them alone gives',
    (lists, canRewind) => {
      const { sum } = countingSum({ canRewind });

      for (const list of lists) {
        expect(sum(list)).toBe(list.reduce((total, { size }) => total + size, 0));
      }
    },
  );
});
