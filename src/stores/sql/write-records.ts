import type { Checkpoint } from '../checkpoint.ts';
import { isFault } from '../record/codec.ts';
import { linkText } from '../record/identity.ts';
import { nameInColumn } from '../record/name.ts';
import { searchWords } from '../search-words.ts';
import type {
  ArchivedSpan,
  Commit,
  CommitResult,
  ConversationKey,
  StoreFault,
  StoreRecord,
} from '../store.ts';
import { holdsLease } from './leases.ts';
import { addedRow, allRows, firstRow, type Operation } from './operation.ts';
import { findRecallable, type RecallableSpans } from './recallable-spans.ts';
import { readCheckpointRow, readSpanRow } from './rows.ts';
import type { BigInteger } from './tables.ts';
import type { Work } from './work.ts';

/** What a commit has come to. */
export interface Committed {
  readonly result: CommitResult;
  readonly recallable?: RecallableSpans | undefined;
}

/** Stores a checkpoint and what left the view with it. Runs in a transaction. */
export function* commitRecords(work: Work, { checkpoint, spans, lease }: Commit): Operation<Committed> {
  if (!(yield* holdsLease(work, lease))) return { result: 'fenced' };
  const conversation = yield* lockConversation(work, checkpoint);
  if (conversation.forgottenFence > lease.fence) return { result: 'forgotten' };
  const target: Target = { id: conversation.id, replaceable: 'unreadable' };
  const isNew = yield* putCheckpoint(work, target, checkpoint);
  const written: ArchivedSpan[] = [];
  for (const span of spans) if (yield* putSpan(work, target, span)) written.push(span);
  const recallable = yield* findRecallable(work, conversation, written);
  return { result: isNew ? 'committed' : 'known', recallable };
}

/** Puts records back. Runs in a transaction. */
export function* restoreRecords(work: Work, records: readonly StoreRecord[]): Operation<void> {
  for (const { key, ofConversation } of inLockingOrder(records)) {
    const { id } = yield* lockConversation(work, key);
    const target: Target = { id, replaceable: 'damaged' };
    for (const record of ofConversation) {
      if ('checkpoint' in record) yield* putCheckpoint(work, target, record.checkpoint);
      else yield* putSpan(work, target, record.span);
    }
  }
}

/** Records of one conversation. */
interface Group {
  readonly key: ConversationKey;
  readonly ofConversation: StoreRecord[];
}

/** Two transactions that lock conversations in the same order never wait for each other. */
function inLockingOrder(records: readonly StoreRecord[]): readonly Group[] {
  const groups = new Map<string, Group>();
  for (const record of records) {
    const key = 'checkpoint' in record ? record.checkpoint : record.span;
    const text = JSON.stringify([key.tenant, key.conversation]);
    const group = groups.get(text) ?? { key, ofConversation: [] };
    group.ofConversation.push(record);
    groups.set(text, group);
  }
  return [...groups].sort(byText).map(([, group]) => group);
}

function byText([left]: readonly [string, Group], [right]: readonly [string, Group]): number {
  return left < right ? -1 : 1;
}

/** A conversation that nobody else changes until the transaction ends. */
interface LockedConversation {
  readonly id: BigInteger;
  readonly usedAt: number;
  readonly forgottenFence: number;
}

/** The conversation's row, made if there is none, and marked as used. */
export function* lockConversation(
  { statements }: Pick<Work, 'statements'>,
  key: ConversationKey,
): Operation<LockedConversation> {
  const names = { tenant: nameInColumn(key.tenant), conversation: nameInColumn(key.conversation) };
  for (;;) {
    const row = yield* firstRow(statements.lockedConversation, names);
    if (row !== undefined) {
      const [touched] = row.stale === 1 ? yield* allRows(statements.touch, { id: row.id }) : [row];
      const usedAt = Number(touched?.used_at ?? row.used_at);
      return { id: row.id, usedAt, forgottenFence: Number(row.forgotten_fence) };
    }
    // Somebody else may be faster, or remove it again: then look again.
    const [added] = yield* allRows(statements.addConversation, names);
    if (added !== undefined) return { id: added.id, usedAt: Number(added.used_at), forgottenFence: 0 };
  }
}

/**
 * What may be written over. A commit makes records anew that nobody can read, or that were sealed with a secret that has
 * changed since; an import, which may be done with the wrong secret, leaves to others what is theirs.
 */
type Replaceable = 'unreadable' | 'damaged';

/** Where records go. */
interface Target {
  /** The conversation's row. */
  readonly id: BigInteger;
  readonly replaceable: Replaceable;
}

function isReplaced(found: Checkpoint | ArchivedSpan | StoreFault, replaceable: Replaceable): boolean {
  return isFault(found) && (replaceable === 'unreadable' || found.reason === 'damaged');
}

/** Whether it was missing, or could be replaced. */
function* putCheckpoint(work: Work, { id, replaceable }: Target, checkpoint: Checkpoint): Operation<boolean> {
  const { statements, codec } = work;
  const names = {
    id,
    configuration: nameInColumn(checkpoint.configuration),
    boundary: checkpoint.boundary,
    link: nameInColumn(linkText(checkpoint)),
  };
  const body = codec.writeCheckpoint(checkpoint);
  const values = { ...names, tenant: nameInColumn(checkpoint.tenant), body };
  const added = yield* addedRow(statements.addCheckpoint, values);
  if (added !== undefined) return true;
  const known = yield* firstRow(statements.checkpoint, names);
  if (known === undefined || !isReplaced(readCheckpointRow(codec, known), replaceable)) return false;
  yield* allRows(statements.replaceCheckpoint, { id: known.id, body });
  return true;
}

/** Whether it was missing, or could be replaced. */
function* putSpan(work: Work, { id, replaceable }: Target, span: ArchivedSpan): Operation<boolean> {
  const { statements, codec, memory } = work;
  const tenant = nameInColumn(span.tenant);
  const names = { id, handle: nameInColumn(span.handle), place: span.start };
  const body = codec.writeSpan(span);
  memory.remove(span.handle);
  const added = yield* addedRow(statements.addSpan, { ...names, tenant, body });
  if (added !== undefined) {
    yield* addWords(work, added.id, { scope: id, text: span.text });
    return true;
  }
  const known = yield* firstRow(statements.span, names);
  if (known === undefined || !isReplaced(readSpanRow(codec, known), replaceable)) return false;
  yield* allRows(statements.replaceSpan, { id: known.id, body });
  yield* allRows(statements.removeWords, { id: known.id });
  yield* addWords(work, known.id, { scope: id, text: span.text });
  return true;
}

/** Nothing of a sealed text stands in the index. */
function* addWords(
  { statements, dialect, codec }: Work,
  id: BigInteger,
  { scope, text }: { readonly scope: BigInteger; readonly text: string },
): Operation<void> {
  if (codec.isSealed) return;
  const words = dialect.wordsValue(String(scope), searchWords(text));
  yield* allRows(statements.addWords, { id, words });
}
