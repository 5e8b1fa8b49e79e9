import { createRecordCodec } from './codec.ts';
import {
  admitCommit,
  admitRecords,
  checkpointsIn,
  nameFromColumn,
  nameInColumn,
  spansIn,
} from './records.ts';
import { byLastUse, byPlace, conversationsToCollect, isStale, leaseDuration } from './rules.ts';
import type { Statements } from './schema.ts';
import { hasWords, matchOf, searchWords } from './search.ts';
import { LazyDatabase, lockRow, type Session, type SqlBackend, type SqlDatabase } from './sql-database.ts';
import { SqlLeases } from './sql-leases.ts';
import { type BigInteger, linkOf, type PlaceRow, type RecordRow, SqlRecords } from './sql-records.ts';
import type {
  ArchivedSpan,
  Checkpoint,
  CheckpointLookup,
  CommitResult,
  ConversationKey,
  Lease,
  Store,
  StoredConversation,
  StoreOptions,
  StoreRecord,
} from './store.ts';
import { wishesFromColumn, wishesInColumn } from './wishes.ts';

interface ConversationRow {
  readonly id: BigInteger;
  readonly forgotten_fence: BigInteger;
  readonly used_at: BigInteger;
}

interface ListedRow
  extends Readonly<Record<'checkpoints' | 'spans' | 'bytes' | 'created_at' | 'used_at', BigInteger>> {
  readonly id: BigInteger;
  readonly tenant: string;
  readonly conversation: string;
}

interface ListedConversation extends StoredConversation {
  readonly id: BigInteger;
}

type PlaceId = Pick<PlaceRow, 'id'>;

interface WishesRow {
  readonly wishes: string;
}

/** A store in a database. */
export class SqlStore implements Store {
  readonly name: string;
  readonly #backend: SqlBackend;
  readonly #sql: Statements;
  readonly #database: LazyDatabase;
  readonly #records: SqlRecords;
  readonly #leases: SqlLeases;
  readonly #isSealed: boolean;
  readonly #now: () => number;

  constructor(backend: SqlBackend, { secret, onFault, now = Date.now }: StoreOptions) {
    this.name = backend.name;
    this.#backend = backend;
    this.#sql = backend.statements;
    this.#database = new LazyDatabase(backend);
    const codec = createRecordCodec(secret);
    this.#records = new SqlRecords(backend, codec, onFault);
    this.#leases = new SqlLeases(backend.statements);
    this.#isSealed = codec.isSealed;
    this.#now = now;
  }

  /**
   * One query where the longest checkpoint of all is true, which it nearly always is: a branch of the conversation may have
   * a longer one. Then all are looked through, and those that are true are read until one can be served.
   */
  async find(lookup: Parameters<Store['find']>[0]) {
    const { tenant, configuration, conversations, from, to, isTrue, known } = lookup;
    const count = conversations.length;
    if (count === 0) return undefined;
    const names = [nameInColumn(tenant), nameInColumn(configuration)];
    const asked = [...names, from, to, ...conversations.map(nameInColumn)];
    return this.#read(async (session) => {
      const [longest] = await session.query<RecordRow>(this.#sql.longestCheckpoint(count), [
        ...asked,
        known === undefined ? null : nameInColumn(known.chain),
      ]);
      if (longest === undefined) return undefined;
      const isLongest = isTrue(linkOf(longest));
      if (isLongest && known !== undefined && longest.body === null) {
        await this.#touch(session, longest);
        return known;
      }
      const first = isLongest ? await this.#serveFirst(session, [longest]) : [];
      if (first.length > 0) return checkpointsIn(first)[0];
      const places = await session.query<PlaceRow>(this.#sql.checkpointPlaces(count), asked);
      return this.#firstTrue(
        session,
        places.filter(({ id }) => id !== longest.id),
        isTrue,
      );
    });
  }

  async commit(commit: Parameters<Store['commit']>[0]): Promise<CommitResult> {
    admitCommit(commit);
    const { checkpoint, spans, lease } = commit;
    return this.#write(async (session) => {
      if ((await this.#leases.heldAt(session, lease)) === undefined) return 'fenced';
      const { id, forgotten_fence } = await this.#lockConversation(session, checkpoint);
      if (Number(forgotten_fence) > lease.fence) return 'forgotten';
      const target = { id, replaces: 'unreadable' } as const;
      const isNew = await this.#records.put(session, target, { checkpoint });
      for (const span of spans) await this.#records.put(session, target, { span });
      return isNew ? 'committed' : 'known';
    });
  }

  async acquire(request: Parameters<Store['acquire']>[0]) {
    const asked = { ...request, milliseconds: leaseDuration(request.milliseconds) };
    if (await this.#read((session) => this.#leases.isTaken(session, asked))) return undefined;
    return this.#write((session) => this.#leases.take(session, asked));
  }

  async renew(lease: Lease, milliseconds: number) {
    const duration = leaseDuration(milliseconds);
    return this.#write((session) => this.#leases.renew(session, lease, duration));
  }

  async release(lease: Lease) {
    await this.#write((session) => this.#leases.release(session, lease));
  }

  /** The span that can be served nearest to the beginning of its conversation, of the oldest conversation. */
  async recall({ tenant, handle }: Parameters<Store['recall']>[0]) {
    const names = [nameInColumn(tenant), nameInColumn(handle)];
    return this.#read(async (session) => {
      const rows = await session.query<RecordRow>(this.#sql.spansByHandle, names);
      return spansIn(await this.#serveFirst(session, rows))[0];
    });
  }

  /** Sealed spans are not indexed: those of the conversation are opened and read. */
  async search({ words, limit, ...key }: Parameters<Store['search']>[0]) {
    const wanted = searchWords(words);
    if (wanted.size === 0) return [];
    return this.#read(async (session) => {
      const conversation = await this.#conversation(session, key);
      if (conversation === undefined) return [];
      const { id, used_at } = conversation;
      const values = [id, this.#backend.wordsQuery(String(id), wanted), limit];
      const spans = this.#isSealed
        ? (await this.#spansOf(session, id)).filter(({ text }) => hasWords(text, wanted)).slice(0, limit)
        : spansIn(this.#records.serve(await session.query<RecordRow>(this.#sql.spansWithWords, values)));
      if (spans.length > 0) await this.#touch(session, { conversation_id: id, used_at });
      return spans.map((span) => matchOf(span, wanted));
    });
  }

  async list({ tenant }: { readonly tenant?: string | undefined } = {}) {
    const listed = await this.#read((session) => this.#list(session, tenant));
    return listed.map(({ id: _, ...conversation }) => conversation);
  }

  async checkpoints(key: ConversationKey) {
    return this.#read(async (session) => {
      const conversation = await this.#conversation(session, key);
      if (conversation === undefined) return [];
      const rows = await session.query<RecordRow>(this.#sql.recordsOf, [conversation.id, 'checkpoint']);
      return checkpointsIn(this.#records.serve(rows));
    });
  }

  async spans(key: ConversationKey) {
    return this.#read(async (session) => {
      const conversation = await this.#conversation(session, key);
      return conversation === undefined ? [] : this.#spansOf(session, conversation.id);
    });
  }

  async restore(records: StoreRecord | readonly StoreRecord[]) {
    const list = [records].flat();
    admitRecords(list);
    const groups = Map.groupBy(list, (record) => JSON.stringify(keyNames(ownerOf(record))));
    // Two transactions that lock conversations in the same order never wait for each other.
    const ordered = [...groups].sort(([left], [right]) => (left < right ? -1 : 1));
    await this.#write(async (session) => {
      for (const [, [first, ...rest]] of ordered) {
        if (first === undefined) continue;
        const { id } = await this.#lockConversation(session, ownerOf(first));
        for (const record of [first, ...rest]) {
          await this.#records.put(session, { id, replaces: 'damaged' }, record);
        }
      }
    });
  }

  async forget(key: ConversationKey) {
    return this.#remove((database) =>
      database.write(async (session) => {
        const { id } = await this.#lockConversation(session, key);
        const fence = await this.#leases.nextFence(session);
        await session.query(this.#sql.markForgotten, [id, fence, await session.now()]);
        return this.#records.removeAll(session, id);
      }),
    );
  }

  async wishes(tenant: string) {
    const rows = await this.#read(({ query }) =>
      query<WishesRow & { readonly conversation: string }>(this.#sql.wishesOf, [nameInColumn(tenant)]),
    );
    return rows.map(({ conversation, wishes }) => ({
      ...wishesFromColumn(wishes),
      conversation: nameFromColumn(conversation),
    }));
  }

  async wish(key: ConversationKey, change: Parameters<Store['wish']>[1]) {
    return this.#write(async ({ query }) => {
      const [row] = await query<WishesRow & PlaceId>(this.#sql.lockStored, keyNames(key));
      if (row === undefined) return undefined;
      const wishes = wishesInColumn(change(wishesFromColumn(row.wishes)));
      await query(this.#sql.setWishes, [row.id, wishes]);
      return wishesFromColumn(wishes);
    });
  }

  /** Leases first, as everybody: a commit that is under way ends before, and one that comes later has lost its lease. */
  async erase(tenant: string) {
    const names = [nameInColumn(tenant)];
    return this.#remove((database) =>
      database.write(async (session) => {
        await session.query(this.#sql.removeLeasesOf, names);
        let removed = 0;
        for (const { id } of await session.query<PlaceId>(this.#sql.lockTenant, names)) {
          removed += await this.#records.removeAll(session, id);
          await session.query(this.#sql.removeConversation, [id]);
        }
        return removed;
      }),
    );
  }

  /** In small transactions: others want to write as well. */
  async collect(retention: Parameters<Store['collect']>[0]) {
    return this.#remove(async (database) => {
      const now = await database.read((session) => session.now());
      const conversations = await database.read((session) => this.#list(session));
      let removed = 0;
      for (const { id, usedAt } of conversationsToCollect(conversations, retention, now)) {
        removed += await database.write(async (session) => {
          const unused = await session.query(this.#sql.lockUnused, [id, usedAt]);
          return unused.length === 0 ? 0 : this.#records.removeAll(session, id);
        });
      }
      await database.write(({ query }) => query(this.#sql.removeEndedLeases, [now]));
      await database.write(async ({ query }) => {
        // Whoever has drawn a fence holds this lock until the lease can be seen.
        await query(this.#sql.lockFences);
        for (const { id } of await query<PlaceId>(this.#sql.lockTombstones)) {
          await query(this.#sql.removeTombstone, [id]);
        }
      });
      return removed;
    });
  }

  async verify() {
    return this.#database.use(async (database) => {
      await database.check();
      return database.read((session) => this.#records.faults(session));
    });
  }

  close() {
    return this.#database.close();
  }

  #read<Result>(work: (session: Session) => Promise<Result>): Promise<Result> {
    return this.#database.use((database) => database.read(work));
  }

  #write<Result>(work: (session: Session) => Promise<Result>): Promise<Result> {
    return this.#database.use((database) => database.write(work));
  }

  #remove(work: (database: SqlDatabase) => Promise<number>): Promise<number> {
    return this.#database.use(async (database) => {
      const removed = await work(database);
      if (removed > 0) await database.purge();
      return removed;
    });
  }

  async #conversation({ query }: Session, key: ConversationKey): Promise<ConversationRow | undefined> {
    const [row] = await query<ConversationRow>(this.#sql.conversation, keyNames(key));
    return row;
  }

  /** The conversation's row, made if there is none, and marked as used. Nobody else changes it until the transaction ends. */
  async #lockConversation(session: Session, key: ConversationKey): Promise<ConversationRow> {
    const names = keyNames(key);
    const now = await session.now();
    const lock = [this.#sql.lockConversation, names] as const;
    const row = await lockRow<ConversationRow>(session, lock, [this.#sql.addConversation, [...names, now]]);
    if (isStale(Number(row.used_at), now)) await session.query(this.#sql.touchConversation, [row.id, now]);
    return row;
  }

  /** Writes down that a conversation was used. Reading is worth more: one that cannot be written down is read all the same. */
  async #touch(
    { query, now }: Session,
    { conversation_id, used_at }: Pick<RecordRow, 'conversation_id' | 'used_at'>,
  ): Promise<void> {
    if (!isStale(Number(used_at), this.#now())) return;
    try {
      await query(this.#sql.touchConversation, [conversation_id, await now()]);
    } catch {
      // The next reader tries again.
    }
  }

  /** Conversations with records, the last used first. */
  async #list({ query }: Session, tenant?: string): Promise<readonly ListedConversation[]> {
    const column = tenant === undefined ? null : nameInColumn(tenant);
    const rows = await query<ListedRow>(this.#sql.listConversations, [column]);
    return rows
      .map((row) => ({
        id: row.id,
        tenant: nameFromColumn(row.tenant),
        conversation: nameFromColumn(row.conversation),
        checkpoints: Number(row.checkpoints),
        spans: Number(row.spans),
        bytes: Number(row.bytes),
        createdAt: Number(row.created_at),
        usedAt: Number(row.used_at),
      }))
      .sort(byLastUse);
  }

  async #spansOf({ query }: Session, id: BigInteger): Promise<readonly ArchivedSpan[]> {
    const rows = await query<RecordRow>(this.#sql.recordsOf, [id, 'span']);
    return spansIn(this.#records.serve(rows)).sort(byPlace);
  }

  /** The first checkpoint that is true and can be read. */
  async #firstTrue(
    session: Session,
    places: readonly PlaceRow[],
    isTrue: CheckpointLookup['isTrue'],
  ): Promise<Checkpoint | undefined> {
    for (const place of places) {
      if (!isTrue(linkOf(place))) continue;
      const rows = await session.query<RecordRow>(this.#sql.recordById, [place.id]);
      const next = await this.#serveFirst(session, rows);
      if (next.length > 0) return checkpointsIn(next)[0];
    }
    return undefined;
  }

  /** The first that can be read, if any. Its conversation is used with it. */
  async #serveFirst(session: Session, rows: readonly RecordRow[]): Promise<readonly StoreRecord[]> {
    for (const row of rows) {
      const served = this.#records.serve([row]);
      if (served.length === 0) continue;
      await this.#touch(session, row);
      return served;
    }
    return [];
  }
}

function keyNames({ tenant, conversation }: ConversationKey): readonly string[] {
  return [nameInColumn(tenant), nameInColumn(conversation)];
}

function ownerOf(record: StoreRecord): ConversationKey {
  return 'checkpoint' in record ? record.checkpoint : record.span;
}
