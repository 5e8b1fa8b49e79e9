import {
  askSummarizer,
  type Summarizer,
  type SummaryOutcome,
  type SummaryRequest,
} from '../memory/summary-request.ts';

type FailedSummary = Extract<SummaryOutcome, { readonly status: 'failed' }>;

/** A summarizer that is watched through one run. */
export interface WatchedSummarizer {
  readonly summarizer: Summarizer;
  /** Why it wrote nothing, if it was asked and did not. */
  failure(): FailedSummary | undefined;
  hasWritten(): boolean;
}

/**
 * Watches a summarizer, which may be anybody's: it is judged, it ends when the run is aborted or its time is over, and
 * once it has failed it is not asked again in this run. Too long an input is no failure yet: the strategy may ask again
 * with less.
 */
export function watchSummarizer(
  inner: Summarizer,
  /** Undefined: as long as it takes. */
  timeoutMilliseconds: number | undefined,
): WatchedSummarizer {
  let failure: FailedSummary | undefined;
  let isOver = false;
  let hasWritten = false;
  return {
    summarizer: {
      ...inner,
      async summarize(request) {
        if (failure !== undefined && isOver) return failure;
        const outcome = await withinTime(inner, request, timeoutMilliseconds);
        failure = outcome.status === 'failed' ? outcome : undefined;
        isOver = failure !== undefined && failure.reason !== 'input-too-long';
        hasWritten ||= outcome.status === 'summarized';
        return outcome;
      },
    },
    failure: () => failure,
    hasWritten: () => hasWritten,
  };
}

/** The answer, or the end of the wait: whoever does not listen to its signal is not waited for. */
async function withinTime(
  inner: Summarizer,
  request: SummaryRequest,
  timeoutMilliseconds: number | undefined,
): Promise<SummaryOutcome> {
  // What comes before a summary and the summary itself can each take long.
  await letOthersRun();
  const run = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const ended = new Promise<SummaryOutcome>((resolve) => {
    const end = (reason: 'aborted' | 'timed-out', message: string) => {
      resolve({ status: 'failed', reason, message, usage: undefined });
      run.abort();
    };
    if (request.signal?.aborted === true) end('aborted', 'the run was aborted');
    request.signal?.addEventListener('abort', () => end('aborted', 'the run was aborted'), { once: true });
    if (timeoutMilliseconds === undefined) return;
    timer = setTimeout(
      () =>
        end('timed-out', `no summary after ${timeoutMilliseconds} ms; allow more time or use a faster model`),
      timeoutMilliseconds,
    );
  });
  try {
    return await Promise.race([ended, askSummarizer(inner, { ...request, signal: run.signal })]);
  } finally {
    clearTimeout(timer);
  }
}

/** Runs a task later, without keeping a process alive for it; the answer calls it off. */
export function later(task: () => void, milliseconds: number): () => void {
  const timer = setTimeout(task, milliseconds);
  // Browsers have a number here, which keeps nothing alive.
  if (typeof timer === 'object') timer.unref();
  return () => clearTimeout(timer);
}

/** Ends when everybody who was waiting has had a turn. */
export function letOthersRun(): Promise<void> {
  return new Promise((resolve) => {
    // Timers take a millisecond and more; not every platform has something better.
    if (typeof setImmediate === 'function') setImmediate(resolve);
    else setTimeout(resolve, 0);
  });
}

/** Resolves when the signal is aborted, and forgets about it once `settled` is. */
export function abortOf(signal: AbortSignal, settled: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true, signal: settled });
  });
}
