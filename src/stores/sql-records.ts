/** Checkpoints and spans as rows of a database. */
import { isFault, type RecordCodec } from './codec.ts';
import { nameFromColumn, nameInColumn, placeOf } from './records.ts';
import type { Statements } from './schema.ts';
import { searchWords } from './search.ts';
import type { Session, SqlBackend } from './sql-database.ts';
import type { ChainLink, StoreFault, StoreOptions, StoreRecord } from './store.ts';

/** A number, which PostgreSQL hands out as text because it may be larger than a number of JavaScript. */
export type BigInteger = number | string;

/** Where a checkpoint stands. */
export interface PlaceRow {
  readonly id: BigInteger;
  readonly name: string;
  readonly position: BigInteger;
}

export interface RecordRow extends PlaceRow {
  readonly kind: StoreFault['kind'];
  readonly scope: string;
  readonly body: unknown;
  readonly conversation_id: BigInteger;
  readonly tenant: string;
  readonly conversation: string;
  readonly used_at: BigInteger;
}

/** A conversation whose records are written. */
export interface Target {
  readonly id: BigInteger;
  /**
   * What may be written over. A commit makes records anew that nobody can read, or that were sealed with a secret that has
   * changed since; an import, which may be done with the wrong secret, leaves to others what is theirs.
   */
  readonly replaces: 'unreadable' | 'damaged';
}

/** Records of `verify` at a time. Bodies can be large. */
const PAGE_ROWS = 50;

/** Reads and writes the rows of records. */
export class SqlRecords {
  readonly #backend: SqlBackend;
  readonly #sql: Statements;
  readonly #codec: RecordCodec;
  readonly #onFault: StoreOptions['onFault'];

  constructor(backend: SqlBackend, codec: RecordCodec, onFault: StoreOptions['onFault']) {
    this.#backend = backend;
    this.#sql = backend.statements;
    this.#codec = codec;
    this.#onFault = onFault;
  }

  /** Whether the record was missing, or could be replaced. */
  async put({ query }: Session, { id, replaces }: Target, record: StoreRecord): Promise<boolean> {
    const { kind, scope, name, position } = placeOf(record);
    const place = [id, kind, nameInColumn(scope), nameInColumn(name), position];
    const body = this.#codec.write(record);
    const [added] = await query<PlaceRow>(this.#sql.addRecord, [...place, body]);
    const [known] = added === undefined ? await query<RecordRow>(this.#sql.recordAt, place) : [];
    if (known !== undefined) {
      const found = this.#decode(known);
      if (!isFault(found) || (replaces === 'damaged' && found.reason !== 'damaged')) return false;
      await query(this.#sql.replaceRecord, [known.id, body]);
      await query(this.#sql.removeWords, [known.id]);
    }
    // Nothing of a sealed text stands in the index.
    if ('span' in record && !this.#codec.isSealed) {
      const words = this.#backend.wordsValue(String(id), searchWords(record.span.text));
      await query(this.#sql.addWords, [(added ?? known)?.id, words]);
    }
    return true;
  }

  /** Removes the records of a conversation, and what is asked for it. How many there were. */
  async removeAll({ query }: Session, id: BigInteger): Promise<number> {
    await query(this.#sql.setWishes, [id, '']);
    await query(this.#sql.removeWordsOf, [id]);
    return (await query(this.#sql.removeRecords, [id])).length;
  }

  /** What is wrong with any record. */
  async faults({ query }: Session): Promise<readonly StoreFault[]> {
    const faults: StoreFault[] = [];
    for (let after: BigInteger | undefined = -1; after !== undefined; ) {
      const page: readonly RecordRow[] = await query<RecordRow>(this.#sql.recordsAfter, [after, PAGE_ROWS]);
      faults.push(...page.map((row) => this.#decode(row)).filter(isFault));
      after = page.at(-1)?.id;
    }
    return faults;
  }

  #decode(row: RecordRow): StoreRecord | StoreFault {
    const place = {
      kind: row.kind,
      tenant: nameFromColumn(row.tenant),
      conversation: nameFromColumn(row.conversation),
      scope: nameFromColumn(row.scope),
      name: nameFromColumn(row.name),
      position: Number(row.position),
    };
    return this.#codec.read(place, row.body);
  }

  /** The records that can be read. The others are told. */
  serve(rows: readonly RecordRow[]): readonly StoreRecord[] {
    return rows.flatMap((row) => {
      const found = this.#decode(row);
      if (!isFault(found)) return [found];
      try {
        this.#onFault?.(found);
      } catch {
        // A listener that fails must not turn a missing record into a failing store.
      }
      return [];
    });
  }
}

/** A link of a conversation's chain. */
export function linkOf({ name, position }: PlaceRow): ChainLink {
  return { chain: nameFromColumn(name), boundary: Number(position) };
}
