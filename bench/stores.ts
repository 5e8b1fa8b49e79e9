/** What the stores cost: durable writes against appending to a file, reads against reading from a file. 10 kB records. */
import { randomBytes } from 'node:crypto';
import { closeSync, fdatasyncSync, mkdtempSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { sqliteStore } from '../src/stores/sqlite.ts';
import type { ArchivedSpan, Checkpoint, Commit, Store } from '../src/stores/store.ts';
import { checkpointOf, commitAlone, lookupOf, spanOf } from '../test/support/store-records.ts';
import { collectGarbage, printGoals } from './timing.ts';

const RECORD_BYTES = 10_000;
const PUTS = 500;
const BATCH = 100;
const BATCHES = 25;
/** Records of each kind that gets choose from. */
const RECORDS = 2000;
/** Each record about ten times. */
const GETS = 20_000;
/** Stores that are opened anew, one after the other. */
const ROUNDS = 3;
/** Calls in a row. */
const TURN = 5;
/** The share of writes that nothing got in the way of. */
const UNDISTURBED = 0.25;
const MEDIAN = 0.5;

const folder = mkdtempSync(join(tmpdir(), 'roundfold-bench-'));
const storePath = join(folder, 'store.sqlite');
const text = randomBytes(RECORD_BYTES).toString('base64').slice(0, RECORD_BYTES);
const payload = Buffer.from(text);

type Calls<Name extends string> = Readonly<Record<Name, (index: number) => Promise<unknown> | unknown>>;

/** Times in milliseconds, taken in turns: a busy machine is busy for all alike. */
async function timesOf<Name extends string>(
  count: number,
  calls: Calls<Name>,
): Promise<ReadonlyMap<Name, readonly number[]>> {
  const names = Object.keys(calls) as Name[]; // the keys of that very object
  const times = new Map(names.map((name) => [name, [] as number[]]));
  for (let turn = 0; turn * TURN < count; turn++) {
    // Whoever comes after a write pays for some of it, so that all come after all.
    for (const name of [...names.slice(turn % names.length), ...names.slice(0, turn % names.length)]) {
      for (let index = turn * TURN; index < (turn + 1) * TURN; index++) {
        const start = performance.now();
        await calls[name](index);
        times.get(name)?.push(performance.now() - start);
      }
    }
  }
  return times;
}

/** The time within which that share of the calls of each kind was done, over all rounds. */
function quantiles<Name extends string>(
  rounds: readonly ReadonlyMap<Name, readonly number[]>[],
  share: number,
): Record<Name, number> {
  const names = [...(rounds[0]?.keys() ?? [])];
  const timeOf = (name: Name) => {
    const sorted = rounds.flatMap((times) => times.get(name) ?? []).sort((left, right) => left - right);
    return sorted[Math.floor(sorted.length * share)] ?? Number.NaN;
  };
  return Object.fromEntries(names.map((name) => [name, timeOf(name)])) as Record<Name, number>; // one each
}

let written = 0;

function newCheckpoint() {
  written++;
  return checkpointOf({ boundary: written, parts: [{ raw: { text } }] });
}

function newSpan() {
  written++;
  return spanOf({ handle: `rf:${written}`, start: written, text: 'a few words', body: payload });
}

async function measureWrites(store: Store, file: number) {
  let end = 0;
  const append = (records: number) => {
    for (let index = 0; index < records; index++) end += writeSync(file, payload, 0, payload.length, end);
    fdatasyncSync(file);
  };
  const lease = await store.acquire({ tenant: 'tenant', key: 'bench', owner: 'bench', milliseconds: 1e9 });
  if (lease === undefined) throw new Error('somebody else has the lease');
  // Made before, as the bytes of the file are.
  const puts = Array.from({ length: PUTS }, () => ({ checkpoint: newCheckpoint() }));
  const commits = Array.from({ length: PUTS }, () => ({ checkpoint: newCheckpoint(), spans: [], lease }));
  const spans = Array.from({ length: PUTS }, () => ({ span: newSpan() }));
  const batches = Array.from({ length: BATCHES }, () =>
    Array.from({ length: BATCH }, () => ({ checkpoint: newCheckpoint() })),
  );
  const single = await timesOf(PUTS, {
    rawPut: () => append(1),
    put: (index) => store.restore(puts[index] ?? []),
    commit: (index) => store.commit(commits[index] as Commit), // below PUTS
    putSpan: (index) => store.restore(spans[index] ?? []),
  });
  const many = await timesOf(BATCHES, {
    rawBatch: () => append(BATCH),
    batch: (index) => store.restore(batches[index] ?? []),
  });
  return quantiles([new Map([...single, ...many])], UNDISTURBED);
}

/**
 * Every get gives the caller bytes of its own: raw is `pread` into a new buffer, from a file that is open and in the system's
 * cache, at a known place, without a check. First every record once, by the store that has committed it, as the file was
 * written by the process that reads it. Then by stores that were opened anew, which have seen none of them: every record
 * once, and records chosen at random, some of them for the first time and some again. The store that has committed them, and
 * one that is asked again, answer from memory; a first recall is what the database itself takes.
 */
async function measureReads(store: Store, file: number) {
  const checkpoints = Array.from({ length: RECORDS }, newCheckpoint);
  const spans = Array.from({ length: RECORDS }, newSpan);
  for (let from = 0; from < RECORDS; from += BATCH) {
    await store.restore(checkpoints.slice(from, from + BATCH).map((checkpoint) => ({ checkpoint })));
    await commitAlone(store, newCheckpoint(), spans.slice(from, from + BATCH));
  }
  for (let index = 0; index < RECORDS; index++)
    writeSync(file, payload, 0, RECORD_BYTES, index * RECORD_BYTES);
  const read = (index: number) => {
    const buffer = Buffer.allocUnsafe(RECORD_BYTES);
    readSync(file, buffer, 0, RECORD_BYTES, index * RECORD_BYTES);
    return buffer;
  };
  const recall = (from: Store, index: number) => from.recall(spans[index] as ArchivedSpan); // below RECORDS
  // Of a conversation that ends where its checkpoint does.
  const find = (index: number) => {
    const checkpoint = checkpoints[index] as Checkpoint; // the same
    return store.find({ ...lookupOf(checkpoint), to: checkpoint.boundary });
  };

  const readCommitted = () =>
    timesOf(RECORDS, {
      rawFirst: (index) => read(scattered(index)),
      recallFirst: (index) => recall(store, scattered(index)),
      findFirst: (index) => find(scattered(index)),
    });
  const readAnew = async () => {
    const opened = openStore();
    const connection = new DatabaseSync(storePath);
    const statement = connection.prepare(SPAN_STATEMENT);
    statement.setReturnArrays(true);
    await opened.list();
    const times = await timesOf(RECORDS, {
      rawAnew: (index) => read(scattered(index)),
      statementAnew: (index) => statement.get(spans[scattered(RECORDS - 1 - index)]?.handle ?? ''),
      recallAnew: (index) => recall(opened, scattered(index)),
    });
    connection.close();
    await opened.close();
    return times;
  };
  const readAtRandom = async () => {
    const chosen = Array.from({ length: GETS }, () => Math.floor(Math.random() * RECORDS));
    const choose = (index: number) => chosen[index] ?? 0;
    const opened = openStore();
    const times = await timesOf(GETS, {
      rawAtRandom: (index) => read(choose(index)),
      // Other records, which the call before has not brought near.
      recallAtRandom: (index) => recall(opened, choose(GETS - 1 - index)),
    });
    await opened.close();
    return times;
  };

  collectGarbage();
  return {
    ...quantiles([await readCommitted()], MEDIAN),
    ...quantiles(await inTurn(ROUNDS, readAnew), MEDIAN),
    ...quantiles([await readAtRandom()], MEDIAN),
  };
}

/** What an action comes to, so many times. */
async function inTurn<Value>(times: number, action: () => Promise<Value>): Promise<readonly Value[]> {
  const values: Value[] = [];
  while (values.length < times) values.push(await action());
  return values;
}

/** No less than what a recall needs, run by SQLite without anything of ours. */
const SPAN_STATEMENT = `select body from spans where tenant = 'tenant' and handle = ?
  order by place, conversation_id limit 1`;

/** Each number below RECORDS once, in another order. */
function scattered(index: number): number {
  return (index * 797) % RECORDS;
}

const openStore = () => sqliteStore({ path: storePath });
const store = openStore();
const file = openSync(join(folder, 'raw'), 'w+');
const times = { ...(await measureWrites(store, file)), ...(await measureReads(store, file)) };
await store.close();
closeSync(file);
rmSync(folder, { recursive: true });

type Name = keyof typeof times;
const ratioOf = (over: Name, under: Name) => times[over] / times[under];
for (const [name, time] of Object.entries(times))
  console.log(`      ${name}: ${(time * 1000).toFixed(1)} µs`);

const isFine = printGoals([
  { name: 'durable put, speed against append + fdatasync', measured: ratioOf('rawPut', 'put'), atLeast: 0.8 },
  { name: 'commit under a lease, the same', measured: ratioOf('rawPut', 'commit'), atLeast: 0.8 },
  { name: 'put of a span with its words, the same', measured: ratioOf('rawPut', 'putSpan'), atLeast: 0.5 },
  { name: `batch of ${BATCH}, the same`, measured: ratioOf('rawBatch', 'batch'), atLeast: 0.15 },
  {
    name: 'recall of what was committed, times of pread',
    measured: ratioOf('recallFirst', 'rawFirst'),
    atMost: 3,
  },
  {
    name: 'recall at random by a store opened anew, times of pread',
    measured: ratioOf('recallAtRandom', 'rawAtRandom'),
    atMost: 3,
  },
  {
    name: 'first recall of each by a store opened anew, times of pread',
    measured: ratioOf('recallAnew', 'rawAnew'),
    atMost: 3,
  },
  {
    name: "the same, times of SQLite's own statement",
    measured: ratioOf('recallAnew', 'statementAnew'),
    atMost: 1.75,
  },
]);
process.exitCode = isFine ? 0 : 1;
