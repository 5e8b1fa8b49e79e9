import { notCompacted, type Outcome } from '../core/strategy.ts';
import type { Summarizer } from '../core/summarizer.ts';
import { letOthersRun } from './keeper-timing.ts';

/** A summarizer that is watched, and what it has come to. */
export interface Watched {
  readonly summarizer: Summarizer;
  /** The outcome, unless it says that messages were summarised which no summarizer has read. */
  judge(outcome: Outcome): Outcome;
}

/** Watches a summarizer through one run. */
export function watch(inner: Summarizer): Watched {
  let hasWritten = false;
  return {
    summarizer: {
      name: inner.name,
      asksModel: inner.asksModel,
      fillsTarget: inner.fillsTarget,
      async summarize(request) {
        // What comes before a summary and the summary itself can each take long.
        await letOthersRun();
        const outcome = await inner.summarize(request);
        hasWritten ||= outcome.status === 'summarized' && outcome.text.trim() !== '';
        return outcome;
      },
    },
    judge(outcome) {
      if (outcome.status !== 'compacted' || hasWritten || !claimsSummary(outcome.plan)) return outcome;
      const message = 'messages would count as summarised that nobody has read';
      return notCompacted('insufficient', 'not-covered', message, outcome.usage);
    },
  };
}

function claimsSummary({ steps }: Extract<Outcome, { status: 'compacted' }>['plan']): boolean {
  return steps
    .flat()
    .some((edit) => edit.type === 'summarize' || (edit.type === 'drop' && edit.isSummarised === true));
}
