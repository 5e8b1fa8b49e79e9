import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { rememberFold } from './prefix-memory.ts';

interface Item {
  readonly size: number;
}

/** A fold that also counts how many items it was given, over all lists. */
function countingSum() {
  let added = 0;
  const fold = rememberFold<Item, { sum: number }>({
    start: () => ({ sum: 0 }),
    add: (state, { size }) => {
      added++;
      state.sum += size;
    },
  });
  return { sum: (items: readonly Item[]) => fold(items).sum, added: () => added };
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

  test.prop([fc.array(fc.array(fc.constantFrom(...pool)))])(
    'gives for any lists in any order what folding each of them alone gives',
    (lists) => {
      const { sum } = countingSum();

      for (const list of lists) {
        expect(sum(list)).toBe(list.reduce((total, { size }) => total + size, 0));
      }
    },
  );
});
