import type { ExchangeRecord } from '../../proxy/record.ts';

/** What came of the requests for a model's answer, in numbers. */
export interface Tally {
  requests: number;
  /** Requests that went out with a view of the conversation, and those that had to lose more for once. */
  folded: number;
  reduced: number;
  recoveries: number;
  /** How often there was an answer with a status of 400 or above, or none at all, by that status. */
  readonly refused: Map<number | undefined, number>;
  /** Requests to which nobody has said how many tokens they took. */
  unreported: number;
  /** Estimates of what the client sent and of what went on. */
  tokensReceived: number;
  tokensSent: number;
  /** As the providers reported it. */
  promptTokens: number;
  outputTokens: number;
  cacheReadTokens: number;
}

export function emptyTally(): Tally {
  return {
    ...{ requests: 0, folded: 0, reduced: 0, recoveries: 0, unreported: 0, refused: new Map() },
    ...{ tokensReceived: 0, tokensSent: 0, promptTokens: 0, outputTokens: 0, cacheReadTokens: 0 },
  };
}

/** Adds a request to a tally. Whatever is no request for an answer does not count. */
export function addToTally(tally: Tally, record: ExchangeRecord): void {
  if (record.kind !== 'generate') return;
  const { status, httpStatus, usage } = record;
  tally.requests++;
  tally.recoveries += record.recoveries;
  if (status === 'folded') tally.folded++;
  if (status === 'reduced') tally.reduced++;
  if (httpStatus === undefined || httpStatus >= 400)
    tally.refused.set(httpStatus, (tally.refused.get(httpStatus) ?? 0) + 1);
  if (usage === undefined) tally.unreported++;
  tally.tokensReceived += record.tokensReceived ?? 0;
  tally.tokensSent += record.tokensSent ?? record.tokensReceived ?? 0;
  tally.promptTokens += usage?.promptTokens ?? 0;
  tally.outputTokens += usage?.outputTokens ?? 0;
  tally.cacheReadTokens += usage?.cacheReadTokens ?? 0;
}
