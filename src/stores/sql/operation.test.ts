import { describe, expect, it } from 'vitest';
import {
  addedRow,
  allRows,
  eachRow,
  firstRow,
  type Operation,
  perform,
  performAtOnce,
  type Step,
} from './operation.ts';
import { rawStatement } from './prepared.ts';

type Rows = Readonly<Record<string, readonly unknown[] | Error>>;

/** Both ways of running an operation, over a database that is a table of answers. */
const ways = [
  {
    way: 'at once',
    run: async <Result>(operation: Operation<Result>, answer: (step: Step) => readonly unknown[]) =>
      performAtOnce(operation, answer),
  },
  {
    way: 'later',
    run: <Result>(operation: Operation<Result>, answer: (step: Step) => readonly unknown[]) =>
      perform(operation, async (step) => answer(step)),
  },
];

describe.each(ways)('an operation that is run $way', ({ run }) => {
  const statement = (sql: string) => rawStatement<{ readonly id: number }>(sql);

  async function runOver<Result>(operation: Operation<Result>, rows: Rows) {
    const asked: string[] = [];
    const outcome = run(operation, ({ statement: { sql }, wanted }) => {
      asked.push(wanted === 'all' ? sql : `${sql} (${wanted})`);
      const found = rows[sql] ?? [];
      if (found instanceof Error) throw found;
      return found;
    });
    const result = await outcome.catch((error: Error) => error.message);
    return { asked, result };
  }

  it('gets the rows of each statement, in order', async () => {
    function* operation(): Operation<readonly unknown[]> {
      const first = yield* firstRow(statement('a'));
      const none = yield* firstRow(statement('b'));
      const added = [yield* addedRow(statement('d'), {}), yield* addedRow(statement('e'), {})];
      return [first, none, yield* allRows(statement('c')), added];
    }
    const rows = { a: [{ id: 1 }], c: [{ id: 2 }, { id: 3 }], d: [{ id: 4 }] };
    const { asked, result } = await runOver(operation(), rows);
    expect(asked).toEqual(['a (first)', 'b (first)', 'd (added)', 'e (added)', 'c']);
    expect(result).toEqual([{ id: 1 }, undefined, [{ id: 2 }, { id: 3 }], [{ id: 4 }, undefined]]);
  });

  it('can go on after a statement that failed', async () => {
    function* operation(): Operation<string> {
      try {
        yield* allRows(statement('a'));
      } catch {
        yield* allRows(statement('b'));
      }
      return 'done';
    }
    expect(await runOver(operation(), { a: new Error('locked') })).toEqual({
      asked: ['a', 'b'],
      result: 'done',
    });
  });

  it('ends where nobody catches the failure', async () => {
    function* operation(): Operation<void> {
      yield* allRows(statement('a'));
      yield* allRows(statement('b'));
    }
    expect(await runOver(operation(), { a: new Error('locked') })).toEqual({
      asked: ['a'],
      result: 'locked',
    });
  });

  it('visits all rows, a page at a time', async () => {
    const ids = Array.from({ length: 120 }, (_, index) => index);
    const seen: number[] = [];
    const operation = eachRow(statement('a'), { tenant: 't' }, ({ id }) => seen.push(id));
    const afters: unknown[] = [];
    await run(operation, ({ values: { after, limit, tenant } }) => {
      expect(tenant).toBe('t');
      afters.push(after);
      return ids
        .filter((id) => id > Number(after))
        .slice(0, Number(limit))
        .map((id) => ({ id }));
    });
    expect(seen).toEqual(ids);
    expect(afters).toEqual([-1, 49, 99]);
  });
});
