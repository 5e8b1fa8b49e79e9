import type { RecordCodec } from '../record/codec.ts';
import type { StoreFault } from '../store.ts';
import type { Dialect } from './dialect.ts';
import type { KnownConversations } from './known-conversations.ts';
import type { Operation } from './operation.ts';
import type { SpanMemory } from './span-memory.ts';
import type { Statements } from './statements.ts';

/** What operations need. */
export interface Work {
  readonly statements: Statements;
  readonly dialect: Dialect;
  readonly codec: RecordCodec;
  readonly memory: SpanMemory;
  readonly conversations: KnownConversations;
  /** The database's. */
  generation(): Operation<number | undefined>;
  /** Tells of a record that counts as missing. */
  report(fault: StoreFault): void;
}
