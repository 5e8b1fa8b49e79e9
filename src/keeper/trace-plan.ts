import { applyStep, type Edit, type Plan } from '../compaction/plan/plan.ts';
import type { Conversation } from '../conversation/format.ts';
import type { Message } from '../conversation/message.ts';
import { joinStretches, type Piece } from './piece.ts';

/** A view after a plan, with where each of its messages comes from. */
export interface TracedView {
  readonly messages: readonly Message[];
  readonly pieces: readonly Piece[];
}

/** Follows every message of a view through a plan. */
export function tracePlan(view: Conversation, pieces: readonly Piece[], plan: Plan): TracedView {
  let traced: TracedView = { messages: view.messages, pieces };
  for (const edits of plan.steps) {
    const step = applyStep(traced.messages, edits, view.format);
    traced = { messages: step.messages, pieces: traceStep(traced.pieces, edits, step) };
  }
  return traced;
}

function traceStep(
  before: readonly Piece[],
  edits: readonly Edit[],
  { messages, origins }: { readonly messages: readonly Message[]; readonly origins: readonly number[] },
): readonly Piece[] {
  const makers = makersOf(before, edits);
  let next = 0;
  return origins.map((origin, place): Piece => {
    const raw = messages[place]?.raw;
    const piece = before[origin];
    if (piece === undefined) return { from: undefined, raw, of: makers[next++] ?? [], fate: 'summarised' };
    if (piece.raw === raw) return piece;
    return { from: undefined, raw, of: piece.of, fate: piece.fate === 'verbatim' ? 'reduced' : piece.fate };
  });
}

type Maker = Extract<Edit, { type: 'summarize' | 'insert' }>;

/** For each message that a step makes, in the order of the list, the original messages it speaks for. */
function makersOf(before: readonly Piece[], edits: readonly Edit[]): readonly Piece['of'][] {
  const makers = edits
    .filter((edit): edit is Maker => edit.type === 'summarize' || edit.type === 'insert')
    .toSorted((left, right) => placeOf(left) - placeOf(right) || rank(left) - rank(right));
  const spoken = makers.map((maker) => (maker.type === 'summarize' ? coverage(before, maker) : []));
  for (const edit of edits) {
    if (edit.type !== 'drop' || edit.isSummarised !== true) continue;
    // The summary that stands nearest before it speaks for it, else the first there is.
    const summaries = [...makers.keys()].filter((index) => isSummary(makers[index]));
    const index = summaries.findLast((each) => placeOf(makers[each]) <= edit.start) ?? summaries[0];
    if (index !== undefined) spoken[index] = [...(spoken[index] ?? []), ...coverage(before, edit)];
  }
  return spoken.map(joinStretches);
}

function isSummary(maker: Maker | undefined): boolean {
  return maker?.type === 'summarize' || maker?.isSummary === true;
}

function placeOf(maker: Maker | undefined): number {
  if (maker === undefined) return Number.POSITIVE_INFINITY;
  return maker.type === 'summarize' ? maker.start : maker.before;
}

/** What is put in front of a message stands before what replaces it. */
function rank({ type }: Maker): number {
  return type === 'insert' ? 0 : 1;
}

function coverage(
  before: readonly Piece[],
  { start, end }: { readonly start: number; readonly end: number },
) {
  return before.slice(start, end).flatMap(({ of }) => of);
}
