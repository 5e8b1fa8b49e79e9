import { inspect } from 'node:util';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { RoundfoldError } from '../../src/conversation/errors.ts';
import { createPool, type PostgresPool, postgresStore } from '../../src/stores/postgres.ts';
import { openStore } from '../../src/stores/registry.ts';
import { type PostgresServer, startPostgres } from '../support/postgres.ts';
import { openRaw } from '../support/store-database.ts';
import { checkpointOf, commitAlone, leaseOf, lookupOf, spanOf } from '../support/store-records.ts';

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());

const checkpoint = checkpointOf();

function open(connectionString: string, schema?: string) {
  const store = postgresStore({ connectionString, schema });
  onTestFinished(() => store.close());
  return store;
}

async function errorOf(call: Promise<unknown>): Promise<RoundfoldError> {
  return call.then(
    () => expect.fail('it should have failed'),
    (error: RoundfoldError) => error,
  );
}

function openPool(connectionString: string): pg.Pool {
  const pool = new pg.Pool({ connectionString });
  // The server of these tests may stop while a connection of the pool is still being closed.
  pool.on('error', () => undefined);
  onTestFinished(() => pool.end());
  return pool;
}

/** A pool whose transactions ask before each of their statements. */
function watchedPool(pool: pg.Pool, before: (text: string) => Promise<void> | void): PostgresPool {
  return {
    query: (text, values) => pool.query(text, values),
    end: () => pool.end(),
    async connect() {
      const client = await pool.connect();
      return {
        on: (event, listener) => client.on(event, listener),
        off: (event, listener) => client.off(event, listener),
        release: (isBroken) => client.release(isBroken),
        async query(text, values) {
          await before(text);
          return client.query(text, values);
        },
      };
    },
  };
}

describe('a store in PostgreSQL', () => {
  it.each([
    { what: 'no server', change: (url: URL) => (url.port = '9'), message: /cannot be reached/ },
    {
      what: 'no such host',
      change: (url: URL) => (url.hostname = 'nowhere.invalid'),
      message: /cannot be reached/,
    },
    {
      what: 'a wrong password',
      change: (url: URL) => (url.password = 'hunter2'),
      message: /refuses this user/,
    },
    {
      what: 'no such database',
      change: (url: URL) => (url.pathname = '/nothing'),
      message: /no database of that name/,
    },
  ])('says that there is $what, and no password', async ({ change, message }) => {
    const url = new URL(await server.createDatabase());
    change(url);
    const error = await errorOf(open(url.href).find(lookupOf(checkpoint)));
    expect(error).toMatchObject({ code: 'store', message: expect.stringMatching(message) });
    expect(error.remedy).toBeTypeOf('string');
    expect(inspect(error, { depth: 10, showHidden: true })).not.toContain(url.password);
  });

  it.each([
    ['no address at all', 'postgres://user:hunter2@[broken'],
    ['an address of something else', 'mysql://user:hunter2@host/database'],
  ])('refuses %s without repeating it', (_what, connectionString) => {
    for (const make of [() => postgresStore({ connectionString }), () => openStore(connectionString)]) {
      expect(make).toThrow(expect.objectContaining({ code: 'usage' }));
      expect(make).not.toThrow(/hunter2/);
    }
  });

  it.each([{}, { connectionString: 'postgres://host', pool: new pg.Pool() }, { schema: 'a"; drop table' }])(
    'refuses options that do not fit: %o',
    (options) => {
      expect(() => postgresStore(options)).toThrow(expect.objectContaining({ code: 'usage' }));
    },
  );

  it('goes on when the server comes back', async () => {
    const store = open(await server.createDatabase());
    await commitAlone(store, checkpoint);
    await server.pause();
    for (const call of [() => store.find(lookupOf(checkpoint)), () => leaseOf(store)]) {
      expect(await errorOf(call())).toMatchObject({
        code: 'store',
        message: expect.stringMatching(/reached|shutting/),
      });
    }
    await server.resume();
    expect(await store.find(lookupOf(checkpoint))).toStrictEqual(checkpoint);
    await commitAlone(store, checkpointOf({ boundary: 9 }));
  });

  it('loses its connections in the middle of everything, and no record', async () => {
    const address = await server.createDatabase();
    const store = open(address);
    await store.list();
    const raw = await openRaw(address);
    const results: unknown[] = [];
    for (let boundary = 1; boundary <= 20; boundary++) {
      const record = checkpointOf({ boundary });
      const written = store.restore({ checkpoint: record }).then(
        () => results.push(record),
        (error: unknown) => expect(error).toMatchObject({ code: 'store' }),
      );
      await raw.run(
        'select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and usename is not null',
      );
      await written;
    }
    await raw.close();
    const kept = await store.checkpoints({ tenant: 'tenant', conversation: 'conversation' });
    expect(kept).toEqual(expect.arrayContaining(results));
    await commitAlone(store, checkpointOf({ boundary: 99 }));
  });

  it('makes its tables anew when somebody has removed them', async () => {
    const address = await server.createDatabase();
    const store = open(address);
    await commitAlone(store, checkpoint);
    const raw = await openRaw(address);
    await raw.run('drop schema roundfold cascade');
    await raw.close();
    await expect(store.find(lookupOf(checkpoint))).rejects.toMatchObject({ code: 'store' });
    expect(await store.find(lookupOf(checkpoint))).toBeUndefined();
    await commitAlone(store, checkpoint);
  });

  it.each([
    { what: 'a later version', version: 7, message: /tables of version 7.* up to version 5/ },
    { what: 'an earlier version', version: 3, message: /tables of version 3.* from version 5 on/ },
  ])('is refused when its tables come from $what', async ({ version, message }) => {
    const address = await server.createDatabase();
    await open(address).list();
    const raw = await openRaw(address);
    await raw.run('update schema_version set version = $1', [version]);
    await raw.close();
    await expect(open(address).list()).rejects.toMatchObject({
      code: 'store',
      message: expect.stringMatching(message),
      remedy: expect.any(String),
    });
  });

  it('makes its tables once when many come at the same time', async () => {
    const address = await server.createDatabase();
    const stores = Array.from({ length: 6 }, () => open(address));
    expect(await Promise.all(stores.map((store) => store.list()))).toEqual(stores.map(() => []));
  });

  it('is separate from another schema, and leaves a pool open that it was given', async () => {
    const connectionString = await server.createDatabase();
    const pool = openPool(connectionString);
    const stores = ['one', 'two'].map((schema) => postgresStore({ pool, schema }));
    await commitAlone(stores[0] ?? expect.fail(), checkpoint);
    expect(await stores[1]?.find(lookupOf(checkpoint))).toBeUndefined();
    for (const store of stores) await store.close();
    expect((await pool.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
  });

  it('reads where it may not write', async () => {
    const address = await server.createDatabase();
    await commitAlone(open(address), checkpoint);
    const readOnly = `${address}?options=-c%20default_transaction_read_only%3Don`;
    const store = open(readOnly);
    expect(await store.find(lookupOf(checkpoint))).toStrictEqual(checkpoint);
    const later = postgresStore({ connectionString: readOnly, now: () => Date.now() + 3_600_000 });
    onTestFinished(() => later.close());
    // Its last use should be written down, and cannot.
    expect(await later.find(lookupOf(checkpoint))).toStrictEqual(checkpoint);
    await expect(leaseOf(store)).rejects.toMatchObject({
      code: 'store',
      message: expect.stringMatching(/read-only/),
    });
  });

  it('takes the time of the server for leases', async () => {
    const store = open(await server.createDatabase());
    const raw = await openRaw(await server.createDatabase());
    const [row] = await raw.run('select extract(epoch from clock_timestamp()) * 1000 as now');
    await raw.close();
    const lease = await leaseOf(store);
    expect(Math.abs(lease.expiresAt - 60_000 - Number(row?.['now']))).toBeLessThan(30_000);
    expect(await store.renew(lease, 1)).toMatchObject({ fence: lease.fence });
    while (
      (await store.acquire({ tenant: 'tenant', key: 'conversation', owner: 'next', milliseconds: 1000 })) ===
      undefined
    );
    expect(await store.commit({ checkpoint, spans: [], lease })).toBe('fenced');
  });

  it('keeps what is deleted during a commit deleted', async () => {
    const store = open(await server.createDatabase());
    for (let round = 0; round < 25; round++) {
      const record = checkpointOf({ conversation: `c${round}`, chain: `c${round}` });
      const key = { tenant: 'tenant', conversation: record.conversation };
      const lease = await leaseOf(store, record.conversation);
      const spans = [spanOf(key)];
      const [result] = await Promise.all([
        store.commit({ checkpoint: record, spans, lease }),
        store.forget(key),
      ]);
      expect(['committed', 'forgotten']).toContain(result);
      expect(await store.find(lookupOf(record))).toBeUndefined();
      expect(await store.spans(key)).toEqual([]);
    }
  });

  it('finds with one query, and with two more behind another branch', async () => {
    const connectionString = await server.createDatabase();
    const pool = openPool(connectionString);
    let queries = 0;
    const counting: PostgresPool = {
      connect: () => pool.connect(),
      end: () => pool.end(),
      query(text, values) {
        queries++;
        return pool.query(text, values);
      },
    };
    const store = postgresStore({ pool: counting });
    const branches = [5, 6, 7].map((boundary) => checkpointOf({ tenant: checkpoint.tenant, boundary }));
    await commitAlone(store, checkpoint);
    queries = 0;
    expect(await store.find(lookupOf(checkpoint))).toStrictEqual(checkpoint);
    expect(queries).toBe(1);
    await store.restore(branches.map((branch) => ({ checkpoint: branch })));
    queries = 0;
    expect(await store.find(lookupOf(checkpoint))).toStrictEqual(checkpoint);
    expect(queries).toBe(3);
  });

  it('lets a deletion wait for a commit that is nearly done, and take its records too', async () => {
    const connectionString = await server.createDatabase();
    const pool = openPool(connectionString);
    const gate = Promise.withResolvers<void>();
    const reached = Promise.withResolvers<void>();
    const slow = postgresStore({
      pool: watchedPool(pool, async (text) => {
        if (text !== 'commit') return;
        reached.resolve();
        await gate.promise;
      }),
    });
    const store = open(connectionString);
    await commitAlone(store, checkpoint);
    const lease = await leaseOf(store);
    const late = checkpointOf({ boundary: 9 });
    const commit = slow.commit({ checkpoint: late, spans: [spanOf()], lease });
    await reached.promise;
    let isForgotten = false;
    const forgetting = store.forget(checkpoint).finally(() => {
      isForgotten = true;
    });
    const raw = await openRaw(connectionString);
    const isWaiting = async () =>
      (await raw.run("select 1 from pg_stat_activity where wait_event_type = 'Lock'")).length > 0;
    while (!isForgotten && !(await isWaiting()));
    gate.resolve();
    expect(await commit).toBe('committed');
    expect(await forgetting).toBe(3);
    expect(await store.find(lookupOf(checkpoint, late))).toBeUndefined();
    await raw.close();
  });

  it('never has two imports wait for each other', async () => {
    let rollbacks = 0;
    const watched = watchedPool(openPool(await server.createDatabase()), (text) => {
      if (text === 'rollback') rollbacks++;
    });
    const stores = [1, 2].map(() => postgresStore({ pool: watched }));
    for (let boundary = 1; boundary <= 20; boundary++) {
      const records = ['a', 'b', 'c'].map((conversation) => ({
        checkpoint: checkpointOf({ conversation, boundary }),
      }));
      await Promise.all([stores[0]?.restore(records), stores[1]?.restore(records.toReversed())]);
    }
    expect(rollbacks).toBe(0);
    expect(await stores[0]?.list()).toHaveLength(3);
  });

  it('says what to install when pg is missing', async () => {
    const absent = new Error('Cannot find package');
    const error = await errorOf(createPool('postgres://host', () => Promise.reject(absent)));
    expect(error).toMatchObject({ code: 'missing-dependency', cause: absent });
    expect(error.remedy).toContain('npm install pg');
  });
});
