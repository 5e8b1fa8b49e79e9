import { RoundfoldError } from '../../conversation/errors.ts';
import type { StoreOptions } from '../options.ts';
import { admitCommit, admitRecords } from '../record/admission.ts';
import type { Checksum } from '../record/checksum.ts';
import { createRecordCodec } from '../record/codec.ts';
import { createSeal, type Seal } from '../record/seal.ts';
import type { ConversationKey, Lease, Store, StoreFault, StoreRecord } from '../store.ts';
import type { Database, DatabaseOpener } from './database.ts';
import { KnownConversations } from './known-conversations.ts';
import { acquireLease, releaseLease, renewLease } from './leases.ts';
import type { Operation } from './operation.ts';
import { findCheckpoint, findFaults, listCheckpoints, listSpans, searchSpans } from './read-records.ts';
import { recallSpan } from './recall-span.ts';
import { rememberSpans } from './recallable-spans.ts';
import { collectConversations, forgetConversation, listConversations } from './remove-records.ts';
import { SpanMemory } from './span-memory.ts';
import type { Statements } from './statements.ts';
import type { Work } from './work.ts';
import { commitRecords, restoreRecords } from './write-records.ts';

interface Opened {
  readonly database: Database;
  readonly work: Work;
}

/** A store in a database. Opened with the first call, and again when it was lost. */
export class SqlStore implements Store {
  readonly name: string;
  readonly #opener: DatabaseOpener;
  readonly #seal: Seal | undefined;
  readonly #onFault: StoreOptions['onFault'];
  readonly #now: () => number;
  #opened: Promise<Opened> | undefined;
  /** What `#opened` has come to, so that nobody waits for what is there. */
  #current: Opened | undefined;
  #isClosed = false;

  constructor(name: string, opener: DatabaseOpener, { secret, onFault, now = Date.now }: StoreOptions) {
    this.name = name;
    this.#opener = opener;
    this.#seal = secret === undefined ? undefined : createSeal(secret);
    this.#onFault = onFault;
    this.#now = now;
  }

  find(lookup: Parameters<Store['find']>[0]) {
    return this.#read((work) => findCheckpoint(work, lookup));
  }

  async commit(commit: Parameters<Store['commit']>[0]) {
    admitCommit(commit);
    const { result } = await this.#use(({ database, work }) =>
      database.write(
        () => commitRecords(work, commit),
        ({ recallable }) => rememberSpans(work, recallable),
      ),
    );
    return result;
  }

  acquire(request: Parameters<Store['acquire']>[0]) {
    return this.#use(({ database, work }) => acquireLease(database, work, request));
  }

  renew(lease: Lease, milliseconds: number) {
    return this.#write((work) => renewLease(work, lease, milliseconds));
  }

  release(lease: Lease) {
    return this.#write((work) => releaseLease(work, lease));
  }

  recall(key: Parameters<Store['recall']>[0]) {
    return this.#use(({ database, work }) => recallSpan(database, work, key), 'read');
  }

  search(query: Parameters<Store['search']>[0]) {
    return this.#read((work) => searchSpans(work, query));
  }

  list({ tenant }: { readonly tenant?: string | undefined } = {}) {
    return this.#use(async ({ database, work }) => {
      const conversations = await listConversations(database, work, tenant);
      return conversations.map(({ id: _, ...conversation }) => conversation);
    });
  }

  checkpoints(key: ConversationKey) {
    return this.#read((work) => listCheckpoints(work, key));
  }

  spans(key: ConversationKey) {
    return this.#read((work) => listSpans(work, key));
  }

  async restore(records: StoreRecord | readonly StoreRecord[]) {
    const list = [records].flat();
    admitRecords(list);
    await this.#write((work) => restoreRecords(work, list));
  }

  forget(key: ConversationKey) {
    return this.#remove(({ database, work }) => forgetConversation(database, work, key));
  }

  collect(retention: Parameters<Store['collect']>[0]) {
    return this.#remove(({ database, work }) => collectConversations(database, work, retention));
  }

  verify() {
    return this.#use(async ({ database, work }) => {
      await database.check();
      return database.read(() => findFaults(work));
    });
  }

  async close() {
    this.#isClosed = true;
    const opened = await this.#opened?.catch(() => undefined);
    this.#opened = undefined;
    this.#current = undefined;
    if (opened !== undefined) await closeQuietly(opened.database);
  }

  #read<Result>(begin: (work: Work) => Operation<Result>): Promise<Result> {
    return this.#use(({ database, work }) => database.read(() => begin(work)), 'read');
  }

  #write<Result>(begin: (work: Work) => Operation<Result>): Promise<Result> {
    return this.#use(({ database, work }) => database.write(() => begin(work)));
  }

  #remove(run: (opened: Opened) => Promise<number>): Promise<number> {
    return this.#use(async (opened) => {
      const removed = await run(opened);
      if (removed > 0) await opened.database.purge();
      return removed;
    });
  }

  #workOf({ database, statements, checksum }: Loaded): Work {
    return {
      statements,
      dialect: database.dialect,
      codec: createRecordCodec(checksum, this.#seal),
      memory: new SpanMemory(this.#now),
      conversations: new KnownConversations(this.#now),
      generation: () => database.generation(),
      report: (fault) => this.#report(fault),
    };
  }

  #report(fault: StoreFault): void {
    try {
      this.#onFault?.(fault);
    } catch {
      // A listener that fails must not turn a missing record into a failing store.
    }
  }

  async #use<Result>(
    run: (opened: Opened) => Result | Promise<Result>,
    use: 'read' | 'write' = 'write',
  ): Promise<Result> {
    let opened: Opened | undefined;
    try {
      opened = this.#readyFor(use);
      while (opened === undefined) {
        await this.#reopen();
        // Somebody else who has waited for it may have found it lost meanwhile.
        opened = this.#readyFor(use);
      }
      const result = run(opened);
      // What is there is not waited for.
      return result instanceof Promise ? await result : result;
    } catch (error) {
      if (opened !== undefined && this.#opener.isLost(error)) await this.#discard(opened);
      throw RoundfoldError.is(error) ? error : this.#opener.explain(error);
    }
  }

  /** What is open, where it will do. */
  #readyFor(use: 'read' | 'write'): Opened | undefined {
    if (this.#isClosed) throw new RoundfoldError('usage', 'the store was closed');
    return this.#current?.database.isCurrent(use) === true ? this.#current : undefined;
  }

  async #reopen(): Promise<void> {
    if (this.#current !== undefined) await this.#discard(this.#current);
    this.#opened ??= this.#start();
    await this.#opened;
  }

  async #start(): Promise<Opened> {
    try {
      const loaded = await load(this.#opener);
      const opened = { database: loaded.database, work: this.#workOf(loaded) };
      this.#current = opened;
      return opened;
    } catch (error) {
      // The next call tries again: the cause may be gone by then.
      this.#opened = undefined;
      throw error;
    }
  }

  async #discard(opened: Opened): Promise<void> {
    if (this.#current !== opened) return;
    this.#current = undefined;
    this.#opened = undefined;
    await closeQuietly(opened.database);
  }
}

/** An open database, and what is loaded with the first one. */
interface Loaded {
  readonly database: Database;
  readonly statements: Statements;
  readonly checksum: Checksum;
}

async function load(opener: DatabaseOpener): Promise<Loaded> {
  const [{ statementsOf }, { migrate }, { migrations }, { loadChecksum }] = await Promise.all([
    import('./statements.ts'),
    import('./migrate.ts'),
    import('./migrations/registry.ts'),
    import('../record/checksum.ts'),
  ]);
  const checksum = await loadChecksum();
  const database = await opener.open();
  try {
    await migrate(database, migrations);
  } catch (error) {
    await closeQuietly(database);
    throw error;
  }
  return { database, statements: statementsOf(database.dialect), checksum };
}

/** There is nothing left to do for one that cannot be closed. */
async function closeQuietly(database: Database): Promise<void> {
  try {
    await database.close();
  } catch {}
}
