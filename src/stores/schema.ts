/**
 * The tables and statements of a store, the same text for SQLite and PostgreSQL. Values are `$1`, `$2`, …; names stand in
 * their columns as `nameInColumn` writes them.
 */
import { RoundfoldError } from '../conversation/errors.ts';

/** The version of the tables. Versions 1 to 4 were never released. */
export const TABLES_VERSION = 5;

/**
 * Whether tables of this version are there: none are where it is 0.
 * @throws `store` when they are of another version
 */
export function hasTables(version: number): boolean {
  if (version === 0 || version === TABLES_VERSION) return version > 0;
  const found = `the store has tables of version ${version}, and this version of roundfold`;
  throw version > TABLES_VERSION
    ? new RoundfoldError('store', `${found} knows them up to version ${TABLES_VERSION}`, {
        remedy: 'Update roundfold, or use another store.',
      })
    : new RoundfoldError('store', `${found} reads them from version ${TABLES_VERSION} on`, {
        remedy: 'Export the store with the version that wrote it, and import that into a new one.',
      });
}

/** How a database writes what its tables are made of. */
export interface TableOptions {
  readonly schema: string;
  /** The type of a key that numbers the rows. */
  readonly id: string;
  readonly bytes: string;
}

/** Makes the tables. The index of words is different in each database and comes from there. */
export function tablesOf({ schema, id, bytes }: TableOptions): string {
  return `
    create table ${schema}.conversations (
      id ${id},
      tenant text not null,
      conversation text not null,
      created_at bigint not null,
      used_at bigint not null,
      -- Leases with a smaller fence may not write. A row without records is kept for it.
      forgotten_fence bigint not null,
      -- Empty where nothing is asked for it.
      wishes text not null default '',
      unique (tenant, conversation)
    );
    create table ${schema}.records (
      id ${id},
      conversation_id bigint not null,
      kind text not null,
      scope text not null,
      name text not null,
      position bigint not null,
      body ${bytes} not null,
      unique (conversation_id, kind, scope, position, name),
      -- Spans are looked up by their names.
      unique (name, position, conversation_id, kind, scope)
    );
    create table ${schema}.leases (
      tenant text not null,
      lease_key text not null,
      owner text not null,
      fence bigint not null,
      taken_at bigint not null,
      expires_at bigint not null,
      primary key (tenant, lease_key)
    );
    create table ${schema}.fences (last bigint not null);
    insert into ${schema}.fences (last) values (0);`;
}

/** Where the statements of the two databases differ. */
export interface StatementOptions {
  readonly schema: string;
  /** What locks the rows of a query until the transaction ends; empty where a transaction that writes is alone. */
  readonly lock: '' | 'for update';
  /** The index of words, as a column of `span_words w`: what `$2` is put in as, and whether it matches the query `$2`. */
  readonly words: { readonly added: string; readonly matches: string };
}

/** Every statement of a store. */
export type Statements = ReturnType<typeof statementsOf>;

export function statementsOf({ schema, lock, words }: StatementOptions) {
  const recordsWith = (body: string) => `select r.id, r.kind, r.scope, r.name, r.position, ${body} as body,
      r.conversation_id, c.tenant, c.conversation, c.used_at
    from ${schema}.records r join ${schema}.conversations c on c.id = r.conversation_id`;
  const records = recordsWith('r.body');
  const checkpointsIn = (conversations: number) => `from ${schema}.records
    where conversation_id in (
        select id from ${schema}.conversations
        where tenant = $1 and conversation in (${placeholders(5, conversations)})
      ) and kind = 'checkpoint' and scope = $2 and position between $3 and $4
    order by position desc, id`;
  const conversation = `select id, forgotten_fence, used_at from ${schema}.conversations
    where tenant = $1 and conversation = $2`;
  const lease = `select owner, fence, taken_at, expires_at from ${schema}.leases
    where tenant = $1 and lease_key = $2`;
  const hasNoRecords = `not exists (select 1 from ${schema}.records r where r.conversation_id = c.id)`;

  return {
    /** The longest checkpoint of so many conversations. Only one body is read, and none where its name is the last value. */
    longestCheckpoint: (conversations: number) =>
      `${recordsWith(`case when r.name = $${5 + conversations} then null else r.body end`)}
        where r.id = (select id ${checkpointsIn(conversations)} limit 1)`,
    /** Where all of them stand, the longest first. */
    checkpointPlaces: (conversations: number) => `select id, name, position ${checkpointsIn(conversations)}`,
    recordById: `${records} where r.id = $1`,
    recordAt: `${records} where r.conversation_id = $1 and r.kind = $2 and r.scope = $3 and r.name = $4
      and r.position = $5`,
    recordsOf: `${records} where r.conversation_id = $1 and r.kind = $2 order by r.position, r.id`,
    recordsAfter: `${records} where r.id > $1 order by r.id limit $2`,
    spansByHandle: `${records} where c.tenant = $1 and r.name = $2 and r.kind = 'span'
      order by r.position, r.conversation_id`,
    spansWithWords: `${records} join ${schema}.span_words w on w.rowid = r.id
      where r.conversation_id = $1 and ${words.matches} order by r.position, r.id limit $3`,
    addRecord: `insert into ${schema}.records (conversation_id, kind, scope, name, position, body)
      values ($1, $2, $3, $4, $5, $6) on conflict do nothing returning id`,
    replaceRecord: `update ${schema}.records set body = $2 where id = $1`,
    removeRecords: `delete from ${schema}.records where conversation_id = $1 returning id`,
    addWords: `insert into ${schema}.span_words (rowid, words) values ($1, ${words.added})`,
    removeWords: `delete from ${schema}.span_words where rowid = $1`,
    removeWordsOf: `delete from ${schema}.span_words
      where rowid in (select id from ${schema}.records where conversation_id = $1)`,

    conversation,
    lockConversation: `${conversation} ${lock}`,
    addConversation: `insert into ${schema}.conversations (tenant, conversation, created_at, used_at, forgotten_fence)
      values ($1, $2, $3, $3, 0) on conflict do nothing`,
    touchConversation: `update ${schema}.conversations set used_at = $2 where id = $1`,
    markForgotten: `update ${schema}.conversations
      set forgotten_fence = $2, created_at = $3, used_at = $3 where id = $1`,
    wishesOf: `select conversation, wishes from ${schema}.conversations where tenant = $1 and wishes <> '' order by id`,
    /** A conversation that something is stored of. */
    lockStored: `select c.id, c.wishes from ${schema}.conversations c
      where c.tenant = $1 and c.conversation = $2 and not (${hasNoRecords}) ${lock}`,
    setWishes: `update ${schema}.conversations set wishes = $2 where id = $1`,
    lockTenant: `select id from ${schema}.conversations where tenant = $1 order by conversation ${lock}`,
    removeConversation: `delete from ${schema}.conversations where id = $1`,
    lockUnused: `select id from ${schema}.conversations where id = $1 and used_at = $2 ${lock}`,
    /** Those with records, of a tenant or, where that is null, of all. */
    listConversations: `select c.id, c.tenant, c.conversation, c.created_at, c.used_at,
        (select count(*) from ${schema}.records r where r.conversation_id = c.id and r.kind = 'checkpoint') as checkpoints,
        (select count(*) from ${schema}.records r where r.conversation_id = c.id and r.kind = 'span') as spans,
        (select sum(length(r.body)) from ${schema}.records r where r.conversation_id = c.id) as bytes
      from ${schema}.conversations c
      where (cast($1 as text) is null or c.tenant = $1) and not (${hasNoRecords})`,
    /** Conversations without records that no lease could still write to. Those that somebody uses are left out. */
    lockTombstones: `select id from ${schema}.conversations c where ${hasNoRecords}
      and not exists (select 1 from ${schema}.leases l where l.fence < c.forgotten_fence)
      ${lock === '' ? '' : `${lock} skip locked`}`,
    /** Looks again: before it was locked, somebody may have written. */
    removeTombstone: `delete from ${schema}.conversations as c where c.id = $1 and ${hasNoRecords}`,

    lease,
    lockLease: `${lease} ${lock}`,
    addLease: `insert into ${schema}.leases (tenant, lease_key, owner, fence, taken_at, expires_at)
      values ($1, $2, '', 0, 0, 0) on conflict do nothing`,
    takeLease: `update ${schema}.leases set owner = $3, fence = $4, taken_at = $5, expires_at = $6
      where tenant = $1 and lease_key = $2`,
    /** The row stays when a lease is released, which is a renewal that has ended. */
    renewLease: `update ${schema}.leases set taken_at = $4, expires_at = $5
      where tenant = $1 and lease_key = $2 and fence = $3`,
    /** The same rule as `isHeld`. */
    removeEndedLeases: `delete from ${schema}.leases
      where expires_at <= $1 or taken_at - (expires_at - taken_at) > $1`,
    removeLeasesOf: `delete from ${schema}.leases where tenant = $1`,
    lockFences: `select last from ${schema}.fences ${lock}`,
    nextFence: `update ${schema}.fences set last = last + 1 returning last`,
  };
}

function placeholders(first: number, count: number): string {
  return Array.from({ length: count }, (_, index) => `$${first + index}`).join(', ');
}
