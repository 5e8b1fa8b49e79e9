import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { isDeepStrictEqual } from 'node:util';
import { RoundfoldError } from '../../src/conversation/errors.ts';
import { sqliteStore } from '../../src/stores/sqlite.ts';
import type { StoreFault } from '../../src/stores/store.ts';
import { commitAlone, lookupOf } from './store-records.ts';
import { recordOfWrite } from './store-tasks.ts';

/** Records in the file itself, and records that are only in the log beside it. */
const SETTLED = 5;
const LOGGED = 2;

/** A store as it is on disk at some moment. */
export interface StoreFiles {
  readonly database: Uint8Array;
  readonly log: Uint8Array;
  /** Where the last record begins: bytes from here on are cut one by one. */
  readonly lastInDatabase: number;
  readonly lastInLog: number;
}

/** Files of a store with records in both. */
export async function storeFiles(folder: string): Promise<StoreFiles> {
  const path = join(folder, 'original.sqlite');
  const store = sqliteStore({ path });
  for (let index = 0; index < SETTLED - 1; index++) await write(store, index);
  settle(path);
  const lastInDatabase = statSync(path).size;
  await write(store, SETTLED - 1);
  settle(path);
  for (let index = SETTLED; index < SETTLED + LOGGED - 1; index++) await write(store, index);
  const lastInLog = statSync(`${path}-wal`).size;
  await write(store, SETTLED + LOGGED - 1);
  const files = { database: readFileSync(path), log: readFileSync(`${path}-wal`), lastInDatabase, lastInLog };
  await store.close();
  return files;
}

function write(store: ReturnType<typeof sqliteStore>, index: number): Promise<void> {
  const { checkpoint, spans } = recordOfWrite(index);
  return commitAlone(store, checkpoint, spans);
}

function settle(path: string): void {
  const connection = new DatabaseSync(path);
  connection.exec('pragma wal_checkpoint(truncate)');
  connection.close();
}

/** What a store with cut files did. */
interface CutReport {
  /** Records that were served, of all that were written. */
  readonly served: number;
  /** It said that it cannot be used. */
  readonly isRefused: boolean;
  readonly wrong: readonly string[];
}

/** Opens a store whose files end early, and reads everything. */
async function readCut(folder: string, database: Uint8Array, log: Uint8Array): Promise<CutReport> {
  const path = join(folder, 'cut', 'store.sqlite');
  rmSync(join(folder, 'cut'), { recursive: true, force: true });
  mkdirSync(join(folder, 'cut'));
  writeFileSync(path, database);
  if (log.length > 0) writeFileSync(`${path}-wal`, log);
  const faults: StoreFault[] = [];
  const store = sqliteStore({ path, onFault: (fault) => faults.push(fault) });
  const wrong: string[] = [];
  let served = 0;
  let isRefused = false;
  for (let index = 0; index < SETTLED + LOGGED; index++) {
    const { checkpoint, spans } = recordOfWrite(index);
    try {
      const found = await store.find(lookupOf(checkpoint));
      const span = await store.recall({ tenant: 'tenant', handle: `rf:${index}` });
      if (found !== undefined && !isDeepStrictEqual(found, checkpoint)) wrong.push(`checkpoint ${index}`);
      if (span !== undefined && !isDeepStrictEqual(span, spans[0])) wrong.push(`span ${index}`);
      if (found !== undefined && span !== undefined) served++;
    } catch (error) {
      isRefused = true;
      if (!RoundfoldError.is(error) || error.code !== 'store')
        wrong.push(`record ${index}: ${String(error)}`);
    }
  }
  await store.close();
  return { served, isRefused, wrong };
}

/** What is wrong with a store whose log ends early: what was settled must be there, and nothing may be made up. */
export async function wrongAfterLogCut(
  folder: string,
  files: StoreFiles,
  length: number,
): Promise<readonly string[]> {
  const { served, isRefused, wrong } = await readCut(folder, files.database, files.log.subarray(0, length));
  const isWhole = length === files.log.length;
  const expected = isWhole ? SETTLED + LOGGED : SETTLED;
  if (isRefused) return [...wrong, `refused with a log of ${length} bytes`];
  return served < expected ? [...wrong, `${served} records with a log of ${length} bytes`] : wrong;
}

/** What is wrong with a store whose file ends early: it may refuse, and must not make anything up. */
export async function wrongAfterFileCut(
  folder: string,
  files: StoreFiles,
  length: number,
): Promise<readonly string[]> {
  return (await readCut(folder, files.database.subarray(0, length), new Uint8Array())).wrong;
}
