import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { lineCost } from './line-cost.ts';
import { AGAIN } from './line-index.ts';
import { LINE_END, MOST_UNITS, readUnits, units } from './line-units.ts';
import { hashOf, hashOfRead, NameTable, nameTableOf } from './name-table.ts';
import { NumberList, Records } from './records.ts';
import { markRepeated, sortSpots } from './spots.ts';

describe('NameTable', () => {
  const unit = fc.oneof(
    fc.constantFrom('a', 'b', 'é'),
    fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
  );
  const names = fc.array(fc.string({ minLength: 1, maxLength: 6, unit }), { maxLength: 200 });
  test.prop([names, fc.constantFrom(hashOf, hashOfRead, () => 7)])(
    'numbers names in the order in which they first occur, whatever their hashes are',
    (wanted, hash) => {
      const table = new NameTable();
      const known = new Map<string, number>();
      for (const name of wanted) {
        const end = readUnits(name);
        expect(table.find(0, end, hash(0, end))).toBe(known.get(name) ?? -1);
        if (!known.has(name)) known.set(name, known.size);
        expect(table.numberOf(0, end, hash(0, end))).toBe(known.get(name));
      }
      expect(table.length).toBe(known.size);
      for (const [name, id] of known) {
        const own = table.characters.subarray(table.startOf(id), table.endOf(id));
        expect([...own]).toEqual(unitsOf(name));
      }
    },
  );

  it('tells names apart by their last unit', () => {
    const table = new NameTable();
    const ids = ['a', 'b', 'abc', 'abd', 'ab', 'a'].map((name) => table.numberOf(0, readUnits(name), 7));

    expect(ids).toEqual([0, 1, 2, 3, 4, 0]);
  });

  it('looks at nothing outside of a stretch', () => {
    const table = new NameTable();
    readUnits('one two one ones');
    const ids = [0, 4, 8, 12].map((start) => table.numberOf(start, start + 3, hashOf(start, start + 3)));

    expect(ids).toEqual([0, 1, 0, 0]);
    expect(table.isSame(0, 12, 16)).toBe(false);
  });

  it('is made of names', () => {
    const table = nameTableOf(['one', 'two', 'one']);

    expect(table.find(0, readUnits('two'), hashOf(0, 3))).toBe(1);
    expect(table.length).toBe(2);
  });
});

describe('readUnits', () => {
  test.prop([fc.string({ unit: 'binary', maxLength: 300 })])('reads what a string holds', (text) => {
    expect(readUnits(text)).toBe(text.length);
    expect([...units.subarray(0, text.length)]).toEqual(unitsOf(text));
    expect(units[text.length]).toBe(LINE_END);
  });

  it.each(['a', 'é', '漢'])('stops in a text that is too long, whatever it holds: %s', (character) => {
    const text = character.repeat(MOST_UNITS + 10);
    expect(readUnits(text)).toBe(MOST_UNITS);
    expect(lineCost(text)).toBeCloseTo((lineCost(text.slice(10)) * text.length) / MOST_UNITS, 6);
  });
});

function unitsOf(text: string): readonly number[] {
  return Array.from({ length: text.length }, (_, index) => text.charCodeAt(index));
}

describe('Records', () => {
  it('keeps every record while it grows', () => {
    const records = new Records();
    for (let id = 0; id < 1000; id++) {
      expect(records.push()).toBe(id);
      records.set(id, 0, id);
      records.add(id, 15, id - 1);
      records.mark(id, 7, 1);
      records.mark(id, 7, 4);
    }
    for (let id = 0; id < 1000; id++) {
      expect([records.get(id, 0), records.get(id, 7), records.get(id, 8), records.get(id, 15)]).toEqual([
        id,
        5,
        0,
        id - 1,
      ]);
    }
  });
});

describe('NumberList', () => {
  it('takes three numbers at once, also where it has to grow', () => {
    const list = new NumberList();
    for (let number = 0; number < 500; number += 3) list.pushThree(number, number + 1, number + 2);

    expect(Array.from({ length: list.length }, (_, index) => list.get(index))).toEqual([
      ...Array(list.length).keys(),
    ]);
  });
});

describe('spots', () => {
  const spot = fc.tuple(fc.integer({ min: -1, max: 3 }), fc.nat(20));
  test.prop([fc.array(spot, { maxLength: 20 })])('stand in order, each name once', (wanted) => {
    const list = new NumberList();
    // What stands before belongs to another line.
    for (const value of [1, 99, 100]) list.push(value);
    for (const [id, start] of wanted) for (const value of [id, start, start + 1]) list.push(value);
    sortSpots(list, 3);
    markRepeated(list, 3);
    const seen = new Set<number>();
    const expected = wanted
      .toSorted((left, right) => left[1] - right[1])
      .flatMap(([id, start]) => {
        const isAgain = id >= 0 && seen.has(id);
        seen.add(id);
        return [isAgain ? AGAIN - id : id, start, start + 1];
      });
    expect(Array.from({ length: list.length }, (_, index) => list.get(index))).toEqual([
      1,
      99,
      100,
      ...expected,
    ]);
  });
});
