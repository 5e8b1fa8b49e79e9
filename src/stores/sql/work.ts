import type { StoreFault } from '../../core/store.ts';
import type { RecordCodec } from '../record/codec.ts';
import type { Session } from './database.ts';
import type { Dialect } from './dialect.ts';
import type { Statements } from './statements.ts';

/** What an operation needs. */
export interface Work {
  readonly session: Session;
  readonly statements: Statements;
  readonly dialect: Dialect;
  readonly codec: RecordCodec;
  /** Tells of a record that counts as missing. */
  report(fault: StoreFault): void;
}
