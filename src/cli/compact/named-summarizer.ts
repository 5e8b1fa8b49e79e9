import { RoundfoldError } from '../../core/errors.ts';
import { notCompacted, type Outcome, type Strategy, type StrategyContext } from '../../core/strategy.ts';
import type { Summarizer, SummaryOutcome } from '../../core/summarizer.ts';

/**
 * A strategy may well go on when a model did not deliver, or when the user stopped it. Whoever named a model wants to hear
 * of it instead, and not to get something else: such a run is `failed`. A summarizer that asks no model is let be.
 * @param onAsk called before a model is asked
 */
export function insistOnSummarizer(inner: Strategy, onAsk: () => void): Strategy {
  return {
    name: inner.name,
    async compact(conversation, context) {
      const watched = watch(context.summarizer, onAsk);
      const outcome = await inner.compact(conversation, { ...context, summarizer: watched.summarizer });
      return watched.failure() ?? abortOf(context, outcome) ?? outcome;
    },
  };
}

function abortOf({ signal }: StrategyContext, { usage }: Outcome): Outcome | undefined {
  return signal?.aborted === true
    ? notCompacted('failed', 'aborted', 'the run was aborted', usage)
    : undefined;
}

interface Watched {
  readonly summarizer: Summarizer;
  /**
   * The first summary that was not written.
   * @throws RoundfoldError when the model could not even be asked
   */
  failure(): Outcome | undefined;
}

function watch(inner: Summarizer, onAsk: () => void): Watched {
  let failure: Extract<SummaryOutcome, { status: 'failed' }> | undefined;
  let thrown: RoundfoldError | undefined;
  const summarizer: Summarizer = {
    ...inner,
    async summarize(request) {
      if (!inner.asksModel) return inner.summarize(request);
      onAsk();
      try {
        const outcome = await inner.summarize(request);
        if (outcome.status === 'failed') failure ??= outcome;
        return outcome;
      } catch (error) {
        if (RoundfoldError.is(error)) thrown ??= error;
        throw error;
      }
    },
  };
  return {
    summarizer,
    failure() {
      if (thrown !== undefined) throw thrown;
      if (failure === undefined) return undefined;
      return notCompacted('failed', `summary-${failure.reason}`, failure.message, failure.usage);
    },
  };
}
