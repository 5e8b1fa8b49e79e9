/** Makes checkpoints of compactions, and finds the longest one that is true of a request. */

import type { AutoCompactState } from '../compaction/breaker.ts';
import type { Fate } from '../compaction/plan/plan.ts';
import type { FateRun, Receipt } from '../compaction/plan/receipt.ts';
import type { Change } from '../compaction/plan/strategy.ts';
import { lastingCuts } from '../conversation/cuts.ts';
import type { Conversation } from '../conversation/format.ts';
import { beginsWith, type Chain, type Chains, namesOfConversation } from '../conversation/identity.ts';
import type { Usage } from '../conversation/message.ts';
import type {
  ArchivedSpan,
  ChainLink,
  Checkpoint,
  CheckpointLookup,
  Store,
  ViewPart,
} from '../stores/store.ts';
import type { TokenEstimator } from '../tokens/estimator.ts';
import { type Archive, handlesOf } from './archive.ts';
import { type Piece, tracePlan } from './views.ts';

/** One request of a conversation, and what it takes to find what was made of it. */
export interface KeeperTurn {
  readonly tenant: string;
  readonly configuration: string;
  readonly conversation: Conversation;
  readonly chain: Chain;
  /** Where it may be cut for good, in the coordinates of the chain. */
  readonly cuts: readonly number[];
  readonly usage: Usage | undefined;
  readonly signal: AbortSignal | undefined;
  /** No checkpoint that speaks for more messages is used. */
  readonly upTo?: number | undefined;
  /** Places of messages that stay word for word. */
  readonly pinned?: readonly number[] | undefined;
}

/** Reads a request. */
export function readTurn(
  conversation: Conversation,
  chains: Chains,
  rest: Pick<KeeperTurn, 'tenant' | 'configuration' | 'usage' | 'signal'>,
): KeeperTurn {
  const chain = chains.chainOf(conversation);
  return { ...rest, conversation, chain, cuts: lastingCuts(conversation.messages, chain.head) };
}

export interface FindOptions {
  readonly tenant: string;
  readonly configuration: string;
  readonly chain: Chain;
  /** Where this conversation may be cut for good, in the coordinates of the chain. */
  readonly cuts: readonly number[];
  /** The most messages that it may speak for. Default: all. */
  readonly upTo?: number | undefined;
  /** A checkpoint that applied before. Shorter ones are not asked for; whether it is still there is. */
  readonly known?: Checkpoint | undefined;
}

/** The longest checkpoint that is true of a conversation. The store is not asked where there cannot be one. */
export async function findCheckpoint(store: Store, options: FindOptions): Promise<Checkpoint | undefined> {
  const { chain, cuts, upTo = chain.length } = options;
  const isLink = (link: ChainLink) => beginsWith(chain, link);
  const longest = await ask(store, options, { to: Math.min(upTo, chain.length), isTrue: isLink });
  if (longest === undefined || isTrueOf(longest, options)) return longest;
  // It was made before something came behind it that must not be parted from it. A shorter one may do.
  const shorter = cuts.filter((cut) => cut < longest.boundary);
  const isShorter = new Set(shorter);
  const isTrue = (link: ChainLink) => isShorter.has(link.boundary) && isLink(link);
  const found = await ask(store, options, { to: shorter.at(-1) ?? 0, isTrue });
  return found !== undefined && isTrueOf(found, options) ? found : undefined;
}

/** What a store has from the known one on. The known record itself comes back as the very same value. */
async function ask(
  store: Store,
  { tenant, configuration, chain, known }: FindOptions,
  { to, isTrue }: Pick<CheckpointLookup, 'to' | 'isTrue'>,
): Promise<Checkpoint | undefined> {
  const from = known?.boundary ?? 1;
  if (to < from) return undefined;
  const conversations = namesOfConversation(chain);
  const found = await store.find({ tenant, configuration, conversations, from, to, isTrue, known });
  return found !== undefined && found.chain === known?.chain && found.boundary === known.boundary
    ? known
    : found;
}

/** Whether a checkpoint is true of this very conversation. Every field is compared, whatever the store was asked for. */
export function isTrueOf(checkpoint: Checkpoint, options: Omit<FindOptions, 'known'>): boolean {
  return (
    checkpoint.tenant === options.tenant &&
    checkpoint.configuration === options.configuration &&
    checkpoint.boundary > 0 &&
    checkpoint.boundary <= (options.upTo ?? checkpoint.boundary) &&
    beginsWith(options.chain, checkpoint) &&
    options.cuts.includes(checkpoint.boundary)
  );
}

/** A compaction of a view, and all that is known of the conversation behind it. */
export interface CompactedView {
  readonly turn: KeeperTurn;
  /** Name of the conversation. */
  readonly name: string;
  readonly view: Conversation;
  /** One for each message of the view. */
  readonly pieces: readonly Piece[];
  /** The checkpoint whose view it is. */
  readonly base: Checkpoint | undefined;
  /** What the compaction changed. */
  readonly change: Change;
  readonly archive: Archive | undefined;
  readonly state: AutoCompactState;
  readonly createdAt: number;
}

interface Tools {
  readonly chains: Chains;
  readonly estimator: TokenEstimator;
}

export interface NewCheckpoint {
  readonly checkpoint: Checkpoint;
  readonly spans: readonly ArchivedSpan[];
}

/**
 * The record of a compaction, in the coordinates of the original list: what the checkpoint before had made of it and what
 * the plan made of that. It ends behind the last message that is not as it was, at the next legal cut, and always later
 * than the one before. Undefined where there is no such cut yet, or a system message in front was touched.
 */
export function buildCheckpoint(run: CompactedView, tools: Tools): NewCheckpoint | undefined {
  const { turn, base } = run;
  const { chain, cuts, conversation } = turn;
  const pieces = tracePlan(run.view, run.pieces, run.change.plan);
  if (!keepsHead(pieces, chain.head)) return undefined;
  const changed = changedPieces(pieces.slice(chain.head), chain.length);
  const least = Math.max(changed.end, (base?.boundary ?? 0) + 1);
  const boundary = cuts.find((cut) => cut >= least);
  if (boundary === undefined || changed.pieces.length === 0) return undefined;

  const fates = fatesOf(changed.pieces, boundary, changed.end);
  const made = changed.pieces.filter(({ from }) => from === undefined).map(({ raw }) => raw);
  const spans = run.archive?.spansOf({ made, gone: goneIn(fates, base) }) ?? [];
  // A cache marker of this request would stand in all later ones, where there may be only so many.
  const clean = (raw: unknown) => tools.chains.withoutMarkers(raw, conversation.format);
  const parts = partsOf(changed.pieces, { from: changed.end, count: boundary - changed.end }, clean);
  const checkpoint: Checkpoint = {
    version: 1,
    tenant: turn.tenant,
    configuration: turn.configuration,
    conversation: run.name,
    chain: chain.linkAt(boundary),
    boundary,
    parts,
    parent: base?.chain,
    receipt: receiptOf(run, { boundary, fates, parts, spans }, tools.estimator),
    state: run.state,
    createdAt: run.createdAt,
  };
  return { checkpoint, spans };
}

function keepsHead(pieces: readonly Piece[], head: number): boolean {
  return pieces.every(
    ({ from }, index) => (from ?? 0) < 0 === index < head && (index >= head || from === index - head),
  );
}

/** The pieces up to the last one that is not an original message in its place, and where the others begin. */
function changedPieces(
  pieces: readonly Piece[],
  length: number,
): { readonly pieces: readonly Piece[]; readonly end: number } {
  let end = length;
  let count = pieces.length;
  while (count > 0 && pieces[count - 1]?.from === end - 1) {
    count--;
    end--;
  }
  return { pieces: pieces.slice(0, count), end };
}

/** What became of each message. A message that no piece speaks for was dropped. */
function fatesOf(pieces: readonly Piece[], boundary: number, verbatimFrom: number): readonly Fate[] {
  const fates = new Array<Fate>(boundary).fill('dropped').fill('verbatim', Math.min(verbatimFrom, boundary));
  for (const { of, fate } of pieces) for (const { start, end } of of) fates.fill(fate, start, end);
  return fates;
}

/** Messages that left now: what had left before is kept already. */
function goneIn(fates: readonly Fate[], base: Checkpoint | undefined): readonly number[] {
  const before = new Uint8Array(fates.length);
  for (const { fate, start, end } of base?.receipt.runs ?? [])
    if (fate !== 'verbatim') before.fill(1, start, end);
  return [...fates.keys()].filter((index) => fates[index] !== 'verbatim' && before[index] === 0);
}

function partsOf(
  pieces: readonly Piece[],
  rest: { readonly from: number; readonly count: number },
  clean: (raw: unknown) => unknown,
): readonly ViewPart[] {
  const parts: ({ from: number; count: number } | Extract<ViewPart, { raw: unknown }>)[] = [];
  const show = (from: number, count: number) => {
    const last = parts.at(-1);
    if (last !== undefined && 'from' in last && last.from + last.count === from) last.count += count;
    else if (count > 0) parts.push({ from, count });
  };
  for (const { from, raw, of } of pieces) {
    if (from !== undefined) show(from, 1);
    else parts.push({ raw: clean(raw), ...(of.length === 0 ? {} : { of }) });
  }
  show(rest.from, rest.count);
  return parts;
}

interface Account {
  readonly boundary: number;
  readonly fates: readonly Fate[];
  readonly parts: readonly ViewPart[];
  readonly spans: readonly ArchivedSpan[];
}

function receiptOf(
  { change, turn: { conversation, chain }, base }: CompactedView,
  account: Account,
  estimator: TokenEstimator,
): Receipt {
  const { boundary, fates, parts, spans } = account;
  const { strategy, tokensBefore, tokensAfter, survival } = change.receipt;
  const handles = handlesOf(spans, base);
  const runs: { -readonly [Key in keyof FateRun]: FateRun[Key] }[] = [];
  for (const [index, fate] of fates.entries()) {
    const message = conversation.messages[chain.head + index];
    const tokens = message === undefined ? 0 : Math.round(estimator.countMessage(message));
    const handle = fate === 'verbatim' ? undefined : handles.get(index);
    const last = runs.at(-1);
    if (last?.fate === fate && last.handle === handle) {
      last.end = index + 1;
      last.tokens += tokens;
    } else
      runs.push({ fate, start: index, end: index + 1, tokens, ...(handle === undefined ? {} : { handle }) });
  }
  return {
    version: 1,
    strategy,
    messagesBefore: boundary,
    messagesAfter: parts.reduce((sum, part) => sum + ('from' in part ? part.count : 1), 0),
    tokensBefore,
    tokensAfter,
    runs,
    ...(survival === undefined ? {} : { survival }),
  };
}
