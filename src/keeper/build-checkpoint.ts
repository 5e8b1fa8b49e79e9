import type { Fate } from '../compaction/plan/plan.ts';
import type { FateRun, Receipt } from '../compaction/plan/receipt.ts';
import type { Change } from '../compaction/plan/strategy.ts';
import type { Canonical } from '../conversation/canonical.ts';
import type { Chain } from '../conversation/chain.ts';
import type { Conversation } from '../conversation/format.ts';
import type { Checkpoint, ViewPart } from '../stores/checkpoint.ts';
import type { ArchivedSpan } from '../stores/store.ts';
import type { TokenEstimator } from '../tokens/estimator.ts';
import { type Archive, handlesOf } from './archive.ts';
import type { Cuts } from './cuts.ts';
import type { Piece } from './piece.ts';
import { tracePlan } from './trace-plan.ts';
import { isWhole } from './whole-list.ts';

/** A compaction of a view, and all that is known of the conversation behind it. */
export interface CompactedView {
  readonly conversation: Conversation;
  readonly chain: Chain;
  /** Where the conversation may be cut. */
  readonly cuts: Cuts;
  readonly view: Conversation;
  /** One for each message of the view. */
  readonly pieces: readonly Piece[];
  readonly base: Checkpoint | undefined;
  /** What the compaction changed. */
  readonly change: Change;
  readonly archive: Archive | undefined;
  readonly canonical: Canonical;
  readonly estimator: TokenEstimator;
}

/** What a record needs besides what the compaction tells. */
export type CheckpointLabel = Pick<
  Checkpoint,
  'tenant' | 'configuration' | 'conversation' | 'state' | 'createdAt'
>;

export interface NewCheckpoint {
  readonly checkpoint: Checkpoint;
  readonly spans: readonly ArchivedSpan[];
}

/**
 * The record of a compaction, in the coordinates of the original list: what the checkpoint before had made of it and what
 * the plan made of that. It ends behind the last message that is not as it was, at the next legal cut, and always later
 * than the one before. Undefined where there is no such cut yet, or a system message in front was touched.
 */
export function buildCheckpoint(run: CompactedView, label: CheckpointLabel): NewCheckpoint | undefined {
  const { chain, cuts, base, canonical } = run;
  const { length } = chain;
  const { pieces } = tracePlan(run.view, run.pieces, run.change.plan);
  if (!keepsHead(pieces, chain.head)) return undefined;
  const changed = changedPieces(pieces.slice(chain.head), length);
  const least = Math.max(changed.end, (base?.boundary ?? 0) + 1);
  const boundary = cuts.all().find((cut) => cut >= least);
  if (boundary === undefined || changed.pieces.length === 0) return undefined;

  const fates = fatesOf(changed.pieces, boundary, changed.end);
  const made = changed.pieces.filter(({ from }) => from === undefined).map(({ raw }) => raw);
  const spans = run.archive?.spansOf({ made, gone: goneIn(fates, base) }) ?? [];
  const parts = partsOf(changed.pieces, { from: changed.end, count: boundary - changed.end }, canonical);
  const receipt = receiptOf(run, { boundary, fates, parts, spans });
  const checkpoint: Checkpoint = {
    version: 1,
    ...label,
    chain: chain.linkAt(boundary),
    boundary,
    isWhole: isWhole(run.conversation.messages.slice(0, chain.head + boundary)),
    parts,
    parent: base?.chain,
    receipt,
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

/** What became of each message: whoever nobody speaks for has left. */
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
  canonical: Canonical,
): readonly ViewPart[] {
  const parts: ({ from: number; count: number } | Extract<ViewPart, { raw: unknown }>)[] = [];
  const show = (from: number, count: number) => {
    const last = parts.at(-1);
    if (last !== undefined && 'from' in last && last.from + last.count === from) last.count += count;
    else if (count > 0) parts.push({ from, count });
  };
  for (const { from, raw, of } of pieces) {
    if (from !== undefined) show(from, 1);
    // A cache marker of this request would stand in all later ones, where there may be only so many.
    else parts.push({ raw: canonical.withoutMarkers(raw), ...(of.length === 0 ? {} : { of }) });
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
  { change, conversation, chain, base, estimator }: CompactedView,
  account: Account,
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
