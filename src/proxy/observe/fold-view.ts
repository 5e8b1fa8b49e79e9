import type { FateRun } from '../../compaction/plan/receipt.ts';
import type { Format } from '../../conversation/format.ts';
import type { Message } from '../../conversation/message.ts';
import { findFormat } from '../../formats/registry.ts';
import { readableParts } from '../../memory/pages.ts';
import { parseSpan } from '../../stores/spans.ts';
import type { Checkpoint, ConversationKey, Store, Stretch, ViewPart } from '../../stores/store.ts';
import { createTokenEstimator, type TokenEstimator } from '../../tokens/estimator.ts';
import { tokenProfileForModel } from '../../tokens/profiles.ts';

/** Where a conversation is kept, and how its messages are read. */
export interface FoldSource {
  readonly store: Store;
  readonly tenant: string;
  readonly keys: readonly ConversationKey[];
  readonly format: string | undefined;
  readonly model: string | undefined;
  /** Without it, no text of a message is told. */
  readonly showContent: boolean;
}

/** A fold as a list shows it. */
export interface FoldRow {
  /** Checkpoints of one chain may have been made with different pins: this names one of them. */
  readonly id: string;
  readonly chain: string;
  readonly parent: string | undefined;
  /** Messages from the first on that it speaks for. */
  readonly boundary: number;
  readonly createdAt: number;
  readonly strategy: string;
  readonly messagesAfter: number;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
}

/** What stands in the view: messages as they were, or one that was made, with those it speaks for. */
export type FoldPart =
  | { readonly kind: 'kept'; readonly start: number; readonly end: number }
  | {
      readonly kind: 'made';
      readonly of: readonly Stretch[];
      readonly tokens: number;
      /** As it is sent; missing where content is not shown. */
      readonly text?: string;
    };

/** All there is to say about a fold. */
export interface FoldView extends FoldRow {
  readonly runs: readonly FateRun[];
  readonly parts: readonly FoldPart[];
  readonly survival: readonly {
    readonly kind: string;
    readonly found: number;
    readonly kept: number;
    readonly lost: number;
    readonly examples?: readonly string[];
  }[];
}

/** A message that left the view. */
export interface ArchivedMessage {
  /** Where it stands in the conversation; undefined when that is not known. */
  readonly place: number | undefined;
  readonly role: string;
  /** Kinds of its blocks: `text`, `tool-result`. */
  readonly blocks: readonly string[];
  readonly tokens: number;
  readonly text?: string;
}

/** The folds of a conversation, oldest first. */
export async function listFolds({ store, keys }: FoldSource): Promise<readonly FoldRow[]> {
  const checkpoints = await checkpointsOf(store, keys);
  return checkpoints.map(rowOf).toSorted((left, right) => left.createdAt - right.createdAt);
}

/** One fold, or undefined when it is not kept any more. */
export async function readFold(source: FoldSource, id: string): Promise<FoldView | undefined> {
  const checkpoints = await checkpointsOf(source.store, source.keys);
  const checkpoint = checkpoints.find((each) => idOf(each) === id);
  if (checkpoint === undefined) return undefined;
  const reader = readerFor(source);
  const { runs, survival = [] } = checkpoint.receipt;
  return {
    ...rowOf(checkpoint),
    runs,
    parts: checkpoint.parts.map((part) => partOf(part, reader, source.showContent)),
    survival: survival.map(({ kind, found, kept, lost, examples }) => ({
      ...{ kind, found, kept, lost },
      ...(source.showContent ? { examples } : {}),
    })),
  };
}

/** What is kept under a handle, message by message, or undefined when nothing is. */
export async function readHandle(
  source: FoldSource,
  handle: string,
): Promise<readonly ArchivedMessage[] | undefined> {
  const span = await source.store.recall({ tenant: source.tenant, handle });
  const raws = span === undefined ? undefined : parseSpan(span);
  if (span === undefined || raws === undefined) return undefined;
  if (!source.keys.some(({ conversation }) => conversation === span.conversation)) return undefined;
  const { format, estimator } = readerFor(source);
  // Where the span has gaps, a message's place cannot be told.
  const isWhole = raws.length === span.end - span.start;
  return raws.map((raw, index) => {
    const message = format?.readMessage(raw);
    return {
      place: isWhole ? span.start + index : undefined,
      role: message?.role ?? 'unknown',
      blocks: [...new Set((message?.blocks ?? []).map(({ type }) => type))],
      tokens: message === undefined ? 0 : Math.round(estimator.countMessage(message)),
      ...(source.showContent && message !== undefined ? { text: textOfMessage(message) } : {}),
    };
  });
}

/** The name under which a conversation was folded last. Undefined when nothing of it is stored. */
export async function nameOfFolded({ store, keys }: FoldSource): Promise<string | undefined> {
  const checkpoints = await checkpointsOf(store, keys);
  return checkpoints.toSorted((left, right) => right.createdAt - left.createdAt)[0]?.conversation;
}

/** A fold that is undone. */
export interface UndoneFold {
  readonly conversation: string;
  /** The messages that the fold before it speaks for: how far the conversation is folded then. */
  readonly foldedUpTo: number;
}

/** What is left once a fold is undone, or undefined when it is not kept. */
export async function undoFold({ store, keys }: FoldSource, id: string): Promise<UndoneFold | undefined> {
  const checkpoints = await checkpointsOf(store, keys);
  const undone = checkpoints.find((each) => idOf(each) === id);
  if (undone === undefined) return undefined;
  const { conversation, parent, configuration } = undone;
  const before = checkpoints.find((each) => each.chain === parent && each.configuration === configuration);
  return { conversation, foldedUpTo: before?.boundary ?? 0 };
}

async function checkpointsOf(store: Store, keys: readonly ConversationKey[]): Promise<readonly Checkpoint[]> {
  const lists = await Promise.all(keys.map((key) => store.checkpoints(key)));
  return lists.flat();
}

function idOf({ chain, configuration }: Checkpoint): string {
  return `${chain.slice(0, 24)}-${configuration.slice(0, 8)}`;
}

function rowOf(checkpoint: Checkpoint): FoldRow {
  const { chain, parent, boundary, createdAt, receipt } = checkpoint;
  const { strategy, messagesAfter, tokensBefore, tokensAfter } = receipt;
  const sizes = { strategy, messagesAfter, tokensBefore, tokensAfter };
  return { id: idOf(checkpoint), chain, parent, boundary, createdAt, ...sizes };
}

interface Reader {
  readonly format: Format | undefined;
  readonly estimator: TokenEstimator;
}

function readerFor({ format, model }: FoldSource): Reader {
  return {
    format: format === undefined ? undefined : findFormat(format),
    estimator: createTokenEstimator({ profile: tokenProfileForModel(model) }),
  };
}

function partOf(part: ViewPart, { format, estimator }: Reader, showContent: boolean): FoldPart {
  if ('from' in part) return { kind: 'kept', start: part.from, end: part.from + part.count };
  const message = format?.readMessage(part.raw);
  return {
    kind: 'made',
    of: part.of ?? [],
    tokens: message === undefined ? 0 : Math.round(estimator.countMessage(message)),
    ...(showContent && message !== undefined ? { text: textOfMessage(message) } : {}),
  };
}

/** The longest text of one message that is shown. */
const LONGEST_TEXT = 200_000;

function textOfMessage(message: Message): string {
  const [, ...parts] = readableParts(message, 1);
  return parts
    .map(({ label, text }) => `${label}${text}`)
    .join('')
    .slice(0, LONGEST_TEXT);
}
