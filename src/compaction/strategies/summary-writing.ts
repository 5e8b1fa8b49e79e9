import type { Usage } from '../../conversation/message.ts';
import type { Covered } from '../../memory/covered.ts';
import type { Survival } from '../../memory/facts/facts.ts';
import { memoryWriter, proseTokensIn } from '../../memory/memory-writer.ts';
import { nothingRecalled, recallMemory } from '../../memory/recall.ts';
import { askSummarizer, type SummaryOutcome, type SummaryRequest } from '../../memory/summary-request.ts';
import { accountFor, demandTokens } from '../../memory/survival.ts';
import { opening } from '../../memory/tell.ts';
import type { StrategyContext } from '../plan/strategy.ts';

/** A shorter summary is not worth its place. */
export const SMALLEST_SUMMARY_TOKENS = 96;

/** What stands around demands in a memory of nothing else, behind its first lines. */
const AROUND_DEMANDS = 100;
/** What is told behind the first lines in any case: else many handles would leave no memory at all. */
const LEAST_TOLD_TOKENS = 60;

export type Written =
  | Extract<SummaryOutcome, { readonly status: 'failed' }>
  | {
      readonly status: 'summarized';
      readonly text: string;
      readonly usage: Usage | undefined;
      readonly survival: readonly Survival[];
    };

/**
 * A memory of what is covered, and the account of what it keeps. Demands of the user are the one thing that may take more
 * than the room; prose that somebody is asked for has its place beside them.
 */
export async function writeSummaryOf(
  { summarizer }: Pick<StrategyContext, 'summarizer'>,
  covered: Covered,
  request: SummaryRequest,
): Promise<Written> {
  const demanded = demandTokens(covered, (text) => request.estimator.countText(text));
  const opened = openingTokens(request);
  const due = demanded === 0 ? 0 : Math.ceil(demanded + opened) + AROUND_DEMANDS;
  const writesProse = summarizer.asksModel || summarizer.writesMemory !== true;
  const proseTokens = proseTokensIn(request.maximumTokens);
  const maximumTokens = Math.max(
    request.maximumTokens,
    Math.ceil(opened) + LEAST_TOLD_TOKENS,
    writesProse && due > 0 ? due + proseTokens : due,
  );
  const outcome = await askSummarizer(memoryWriter(summarizer), { ...request, maximumTokens, proseTokens });
  return outcome.status === 'failed' ? outcome : { ...outcome, survival: accountFor(outcome.text, covered) };
}

/** What the first lines of a memory take: they name every handle under which the past can be read again. */
function openingTokens({ previousSummary, archive, estimator }: SummaryRequest): number {
  const earlier = previousSummary === undefined ? nothingRecalled() : recallMemory(previousSummary);
  const handles = [...earlier.handles, ...(archive === undefined ? [] : [archive.handle])];
  return estimator.countText(opening({ rounds: 99_999, root: earlier.root, handles, isTerse: false }));
}
