import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it, onTestFinished } from 'vitest';
import { RoundfoldError } from '../../src/conversation/errors.ts';
import { postgresStore } from '../../src/stores/postgres.ts';
import { sqliteStore } from '../../src/stores/sqlite.ts';
import type { Store } from '../../src/stores/store.ts';
import { keeping, session, telling } from '../support/keeping.ts';
import { startPostgres } from '../support/postgres.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const folder = temporaryFolder();
const limits = { windowTokens: 20_000, trigger: 3000, target: 1500 };

/** A fault: makes it, and gives the way to take it back. */
type Break = (path: string) => () => void;

const faults: readonly (readonly [name: string, make: Break])[] = [
  [
    'a directory in its place',
    (path) => {
      mkdirSync(path, { recursive: true });
      return () => rmSync(path, { recursive: true });
    },
  ],
  [
    'a file where its folder should be',
    (path) => {
      writeFileSync(dirname(path), 'not a folder');
      return () => rmSync(dirname(path));
    },
  ],
  [
    'a file that is no database',
    (path) => {
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, 'no database'.repeat(1000));
      return () => rmSync(path);
    },
  ],
  [
    'a lock that somebody else holds',
    (path) => {
      mkdirSync(dirname(path), { recursive: true });
      const other = new DatabaseSync(path);
      other.exec('begin exclusive');
      return () => {
        other.exec('rollback');
        other.close();
      };
    },
  ],
];

/** Turns of one conversation through a store that fails at first; what was told before and after it was mended. */
async function liveThrough(store: Store, mend: () => void | Promise<void>) {
  const { summarizer, requests } = telling();
  const { keeper, events } = keeping({ store, summarizer, ...limits });
  const turn = async (rounds: number) => {
    const prepared = await keeper.prepare(session(rounds));
    await keeper.settle();
    return prepared.status;
  };
  const broken = [await turn(22), await turn(23), await turn(24)];
  const failures = events.flatMap((event) => (event.type === 'store-failed' ? [event.error] : []));
  await mend();
  const told = events.length;
  await turn(25);
  const mended = await turn(26);
  const another = await keeping({ store, summarizer, ...limits }).keeper.prepare(session(26));
  return { broken, failures, mended, another: another.status, events: events.slice(told), requests };
}

function expectToRecover({ broken, failures, mended, another, events, requests }: Lived): void {
  expect(broken[0]).toBe('unchanged');
  // No request failed, none waited for the store, and each failure says what is the matter.
  expect(failures.length).toBeGreaterThan(0);
  for (const error of failures) {
    expect(RoundfoldError.is(error) && error.code).toBe('store');
    expect(String(error)).not.toContain('#0#');
  }
  expect(mended).toBe('folded');
  expect(another).toBe('folded');
  expect(events.map(({ type }) => type)).toContain('checkpoint-saved');
  expect(events.map(({ type }) => type)).not.toContain('store-failed');
  // What was paid for while nothing could be stored is not paid for again.
  expect(requests).toHaveLength(1);
}

type Lived = Awaited<ReturnType<typeof liveThrough>>;

describe('a conversation whose store fails', () => {
  it.each(faults)('goes on, and is kept again afterwards: %s', async (name, make) => {
    const path = join(folder.path, name.replaceAll(' ', '-'), 'store.sqlite');
    const mend = make(path);
    const store = sqliteStore({ path, waitMilliseconds: 50 });
    onTestFinished(() => store.close());

    expectToRecover(await liveThrough(store, mend));
  });

  it('goes on, and is kept again afterwards: a server that went away', async () => {
    const server = await startPostgres();
    onTestFinished(() => server.stop());
    const store = postgresStore({ connectionString: await server.createDatabase() });
    onTestFinished(() => store.close());
    await server.pause();

    expectToRecover(await liveThrough(store, () => server.resume()));
  });
});
