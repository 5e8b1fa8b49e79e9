import type { Checkpoint } from '../../core/checkpoint.ts';
import type {
  ArchivedSpan,
  Commit,
  CommitResult,
  ConversationKey,
  StoreFault,
  StoreRecord,
} from '../../core/store.ts';
import { isFault } from '../record/codec.ts';
import { linkText } from '../record/identity.ts';
import { nameInColumn } from '../record/name.ts';
import { searchWords } from '../search-words.ts';
import { holdsLease } from './leases.ts';
import { readCheckpointRow, readSpanRow } from './rows.ts';
import type { BigInteger } from './tables.ts';
import type { Work } from './work.ts';

/** Stores a checkpoint and what left the view with it. Runs in a transaction. */
export async function commitRecords(work: Work, { checkpoint, spans, lease }: Commit): Promise<CommitResult> {
  if (!(await holdsLease(work, lease))) return 'fenced';
  const { id, forgottenFence } = await lockConversation(work, checkpoint);
  if (forgottenFence > lease.fence) return 'forgotten';
  const target: Target = { id, replaceable: 'unreadable' };
  const isNew = await putCheckpoint(work, target, checkpoint);
  for (const span of spans) await putSpan(work, target, span);
  return isNew ? 'committed' : 'known';
}

/** Puts records back. Runs in a transaction. */
export async function restoreRecords(work: Work, records: readonly StoreRecord[]): Promise<void> {
  const conversations = new Map<string, BigInteger>();
  for (const { tenant, conversation } of inLockingOrder(records)) {
    const { id } = await lockConversation(work, { tenant, conversation });
    conversations.set(keyText({ tenant, conversation }), id);
  }
  for (const record of records) {
    const id = conversations.get(keyText(conversationOf(record)));
    if (id === undefined) continue;
    const target: Target = { id, replaceable: 'damaged' };
    if ('checkpoint' in record) await putCheckpoint(work, target, record.checkpoint);
    else await putSpan(work, target, record.span);
  }
}

/** Two transactions that lock in the same order never wait for each other. */
function inLockingOrder(records: readonly StoreRecord[]): readonly ConversationKey[] {
  const keys = new Map(records.map((record) => [keyText(conversationOf(record)), conversationOf(record)]));
  return [...keys.keys()].sort().flatMap((text) => keys.get(text) ?? []);
}

function conversationOf(record: StoreRecord): ConversationKey {
  return 'checkpoint' in record ? record.checkpoint : record.span;
}

function keyText({ tenant, conversation }: ConversationKey): string {
  return JSON.stringify([tenant, conversation]);
}

/** The conversation's row, made if there is none, and marked as used. Nobody else changes it until the transaction ends. */
export async function lockConversation(
  { session, statements }: Pick<Work, 'session' | 'statements'>,
  key: ConversationKey,
): Promise<{ readonly id: BigInteger; readonly forgottenFence: number }> {
  const names = { tenant: nameInColumn(key.tenant), conversation: nameInColumn(key.conversation) };
  for (;;) {
    const [row] = await session.run(statements.lockedConversation, names);
    if (row !== undefined) {
      if (row.stale === 1) await session.run(statements.touch, { id: row.id });
      return { id: row.id, forgottenFence: Number(row.forgotten_fence) };
    }
    // Somebody else may be faster, or remove it again: then look again.
    const [added] = await session.run(statements.addConversation, names);
    if (added !== undefined) return { id: added.id, forgottenFence: 0 };
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
async function putCheckpoint(
  work: Work,
  { id, replaceable }: Target,
  checkpoint: Checkpoint,
): Promise<boolean> {
  const { session, statements, codec } = work;
  const names = {
    tenant: nameInColumn(checkpoint.tenant),
    configuration: nameInColumn(checkpoint.configuration),
    link: nameInColumn(linkText(checkpoint)),
  };
  const body = codec.writeCheckpoint(checkpoint);
  const values = { ...names, id, boundary: checkpoint.boundary, body };
  const [added] = await session.run(statements.addCheckpoint, values);
  if (added !== undefined) return true;
  const [known] = await session.run(statements.checkpoint, names);
  if (known === undefined || !isReplaced(readCheckpointRow(codec, known), replaceable)) return false;
  await session.run(statements.replaceCheckpoint, { id: known.id, conversation: id, body });
  return true;
}

async function putSpan(work: Work, { id, replaceable }: Target, span: ArchivedSpan): Promise<void> {
  const { session, statements, codec } = work;
  const names = { id, handle: nameInColumn(span.handle), place: span.start };
  const body = codec.writeSpan(span);
  const [added] = await session.run(statements.addSpan, {
    ...names,
    tenant: nameInColumn(span.tenant),
    body,
  });
  if (added !== undefined) return addWords(work, added.id, { scope: id, text: span.text });
  const [known] = await session.run(statements.span, names);
  if (known === undefined || !isReplaced(readSpanRow(codec, known), replaceable)) return;
  await session.run(statements.replaceSpan, { id: known.id, body });
  await session.run(statements.removeWords, { id: known.id });
  await addWords(work, known.id, { scope: id, text: span.text });
}

/** Nothing of a sealed text stands in the index. */
async function addWords(
  { session, statements, dialect, codec }: Work,
  id: BigInteger,
  { scope, text }: { readonly scope: BigInteger; readonly text: string },
): Promise<void> {
  if (codec.isSealed) return;
  const words = dialect.wordsValue(String(scope), searchWords(text));
  await session.run(statements.addWords, { id, words });
}
