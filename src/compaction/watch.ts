/** Ends runs in time, and watches the summarizer of a run: what it cost, why it failed. */

import { askSummarizer, type Summarizer, type SummaryOutcome } from '../memory/summary-request.ts';

/** Timers with a longer delay fire at once. */
export const LONGEST_TIMEOUT_MS: number = 2 ** 31 - 1;

/** What ends a run from outside. */
export interface RunLimits {
  readonly signal: AbortSignal | undefined;
  /** Undefined: as long as it takes. */
  readonly timeoutMs?: number | undefined;
  /** Resolves after so many milliseconds, unless the signal is aborted before. Default: a timer. */
  readonly after?: ((timeoutMs: number, signal: AbortSignal) => Promise<unknown>) | undefined;
}

/**
 * Runs until the run is done, is aborted, or has no time left. It is told of its end through its signal, and is not waited
 * for when it does not listen. What is aborted already does not begin.
 */
export async function runWithin<Result>(
  { signal, timeoutMs, after = afterTimer }: RunLimits,
  run: (signal: AbortSignal) => Promise<Result>,
): Promise<Result | 'aborted' | 'timed-out'> {
  if (signal?.aborted === true) return 'aborted';
  const told = new AbortController();
  const settled = new AbortController();
  const ends: Promise<'aborted' | 'timed-out'>[] = [];
  if (timeoutMs !== undefined) ends.push(after(timeoutMs, settled.signal).then(() => 'timed-out'));
  if (signal !== undefined) ends.push(abortOf(signal, settled.signal, () => told.abort()));
  try {
    // The ends come first in the race: a run that hears of its end is too late to answer for it.
    return await Promise.race([...ends, run(told.signal)]);
  } finally {
    settled.abort();
    told.abort();
  }
}

/** Never resolves once the signal is aborted. */
function afterTimer(timeoutMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, timeoutMs);
    signal.addEventListener('abort', () => clearTimeout(timer), { once: true });
  });
}

/** Resolves when the signal is aborted and then passes it on at once. Forgets about it once `settled` is. */
function abortOf(signal: AbortSignal, settled: AbortSignal, passOn: () => void): Promise<'aborted'> {
  return new Promise((resolve) => {
    const end = () => {
      resolve('aborted');
      passOn();
    };
    signal.addEventListener('abort', end, { once: true, signal: settled });
  });
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

type FailedSummary = Extract<SummaryOutcome, { readonly status: 'failed' }>;

/** A summarizer that is watched through one run. */
export interface WatchedSummarizer {
  readonly summarizer: Summarizer;
  /** Why it wrote nothing, if it was asked and did not. */
  failure(): FailedSummary | undefined;
  hasWritten(): boolean;
}

/**
 * Watches a summarizer, which may come from outside: what it answers is judged, it ends when the run is aborted or its time is
 * over, and once it has failed it is not asked again in this run. Too long an input is no failure yet: the strategy may ask
 * again with less.
 */
export function watchSummarizer(
  inner: Summarizer,
  /** Undefined: as long as it takes. */
  timeoutMs: number | undefined,
): WatchedSummarizer {
  let failure: FailedSummary | undefined;
  let isOver = false;
  let hasWritten = false;
  return {
    summarizer: {
      ...inner,
      async summarize(request) {
        if (failure !== undefined && isOver) return failure;
        // What comes before a summary and the summary itself can each take long.
        await letOthersRun();
        const ended = await runWithin({ signal: request.signal, timeoutMs }, (signal) =>
          askSummarizer(inner, { ...request, signal }),
        );
        const outcome = typeof ended === 'string' ? endedEarly(ended, timeoutMs) : ended;
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

function endedEarly(reason: 'aborted' | 'timed-out', timeoutMs: number | undefined): FailedSummary {
  const message =
    reason === 'aborted'
      ? 'the run was aborted'
      : `no summary after ${timeoutMs} ms; allow more time or use a faster model`;
  return { status: 'failed', reason, message, usage: undefined };
}
