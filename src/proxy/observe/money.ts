import { costOf, isCacheExpired, type PriceSet, ratesFor } from '../../compaction/economics/costs.ts';
import type { ReportedUsage } from '../record.ts';

/** One answered request, as far as its bill needs it. */
export interface BilledExchange {
  readonly prices: PriceSet;
  readonly usage: ReportedUsage;
  /** Estimates of the request as it came and as it went on. */
  readonly tokensReceived: number;
  readonly tokensSent: number;
  /** The most a prompt may have; undefined when that is not known. */
  readonly windowTokens: number | undefined;
  /** Whether another view went out than with the request before: nothing behind the change can be read from a cache. */
  readonly isNewView: boolean;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
}

/** What a turn has cost, and what the request as it came would have cost. In USD. */
export interface TurnMoney {
  readonly direct: number;
  readonly sent: number;
  /** Of `sent`, what was paid for writing to the cache. */
  readonly cacheWrites: number;
  /** Whether the request as it came would not have fitted its window: it would have been cut. */
  readonly isCut: boolean;
}

/** What has to be remembered between the turns of one conversation. Plain data. */
export interface MoneyState {
  /** The last prompt as it was sent and as it would have been without us, in tokens of the provider. */
  readonly sentTokens: number;
  readonly directTokens: number;
  /** The estimate of the last request as it came. */
  readonly tokensReceived: number;
  /** Tokens of the provider for each estimated one, when a request last went out as it came. */
  readonly scale: number | undefined;
  /** Share of the prompt before that was read in the newest turn with an unchanged view. */
  readonly readShare: number | undefined;
  /** Whether the provider has reported that anything was read from its cache or written to it. */
  readonly isCached: boolean;
  readonly startedAt: number;
}

/**
 * Bills a turn by what its provider reported, and the same turn without us by the same prices:
 *
 * - the prompt would have grown as the one that was sent has grown; with a new view, as the estimates of what came say
 * - of the prompt before, the same share would have been read from the cache; where our new view is the reason that little
 *   was read, the share that was read in the turn before, unless the cache had expired by then
 * - of the rest, the same share would have been written
 *
 * A request that would not have fitted its window would have been cut by whoever sent it. It is compared with the request
 * that was sent, with nothing of it in the cache, as after every cut; and from there on with the conversation as it is, so
 * that nothing counts as saved that could not have been spent. What such a cut would have cost besides is not counted.
 */
export function billTurn(
  exchange: BilledExchange,
  before: MoneyState | undefined,
): { readonly money: TurnMoney; readonly state: MoneyState } {
  const { prices, usage, startedAt } = exchange;
  const { promptTokens, outputTokens } = usage;
  const readTokens = Math.min(promptTokens, usage.cacheReadTokens ?? 0);
  const writtenTokens = Math.min(promptTokens - readTokens, usage.cacheWriteTokens ?? 0);
  const rest = promptTokens - readTokens;
  const billed = { readTokens, writtenTokens, uncachedTokens: rest - writtenTokens, outputTokens };
  const sent = costOf(prices, billed);
  const cacheWrites = writtenTokens * ratesFor(prices, promptTokens).write;

  const { directTokens, isCut } = withoutUs(exchange, before);
  const directRead = isCut ? 0 : directReadTokens(exchange, { before, directTokens, readTokens });
  const directRest = directTokens - directRead;
  const directWritten = rest === 0 ? 0 : directRest * (writtenTokens / rest);
  const direct = costOf(prices, {
    readTokens: directRead,
    writtenTokens: directWritten,
    uncachedTokens: directRest - directWritten,
    outputTokens,
  });
  return {
    money: {
      direct: isSame(direct, sent) ? sent : direct,
      sent,
      cacheWrites,
      isCut,
    },
    state: {
      sentTokens: promptTokens,
      directTokens,
      tokensReceived: exchange.tokensReceived,
      scale: nextScale(exchange, before),
      readShare: nextReadShare(exchange, before, readTokens),
      isCached: before?.isCached === true || readTokens + writtenTokens > 0,
      startedAt,
    },
  };
}

/** Differences that come from adding up in another order are no money. */
function isSame(one: number, other: number): boolean {
  return Math.abs(one - other) <= 1e-12 + Math.abs(other) * 1e-12;
}

/** How long the prompt would have been without us, in tokens of the provider. */
function withoutUs(
  exchange: BilledExchange,
  before: MoneyState | undefined,
): { readonly directTokens: number; readonly isCut: boolean } {
  const { usage, windowTokens = 0 } = exchange;
  const directTokens = Math.max(usage.promptTokens, Math.round(grown(exchange, before)));
  // From here on the comparison goes on with what was sent.
  const isCut = windowTokens > 0 && directTokens > windowTokens && isSmaller(exchange);
  return { directTokens: isCut ? usage.promptTokens : directTokens, isCut };
}

/**
 * What the provider has counted of a view says little about what left it: another kind of text, with another ratio to our
 * estimate. So the whole is followed from when it was last sent, by what came to it since.
 */
function grown(exchange: BilledExchange, before: MoneyState | undefined): number {
  const { usage, tokensReceived, tokensSent, isNewView } = exchange;
  const { promptTokens } = usage;
  if (!isSmaller(exchange)) return promptTokens;
  const scale = before?.scale ?? (tokensSent > 0 ? promptTokens / tokensSent : 1);
  if (before === undefined) return promptTokens + (tokensReceived - tokensSent) * scale;
  const news = isNewView
    ? (tokensReceived - before.tokensReceived) * scale
    : promptTokens - before.sentTokens;
  return before.directTokens + news;
}

function isSmaller({ tokensReceived, tokensSent }: BilledExchange): boolean {
  return tokensSent < tokensReceived;
}

function nextScale(exchange: BilledExchange, before: MoneyState | undefined): number | undefined {
  const { usage, tokensSent } = exchange;
  return isSmaller(exchange) || tokensSent <= 0 ? before?.scale : usage.promptTokens / tokensSent;
}

/** What of the prompt without us would have been read from the cache. */
function directReadTokens(
  { prices, usage: { promptTokens }, isNewView, startedAt }: BilledExchange,
  {
    before,
    directTokens,
    readTokens,
  }: { readonly before: MoneyState | undefined; readonly directTokens: number; readonly readTokens: number },
): number {
  // Nothing is known of the turn before: the cache is taken to have had the same share of both.
  if (before === undefined || before.sentTokens === 0)
    return promptTokens === 0 ? 0 : directTokens * (readTokens / promptTokens);
  const idleSeconds = (startedAt - before.startedAt) / 1000;
  const isExpired = isCacheExpired(prices, idleSeconds);
  const expected = isExpired ? 0 : (before.readShare ?? (before.isCached ? 1 : 0));
  const share = isNewView ? expected : readTokens / before.sentTokens;
  return Math.min(directTokens, Math.max(readTokens, share * before.directTokens));
}

function nextReadShare(
  { isNewView }: BilledExchange,
  before: MoneyState | undefined,
  readTokens: number,
): number | undefined {
  if (before === undefined || isNewView || before.sentTokens === 0) return before?.readShare;
  return Math.min(1, readTokens / before.sentTokens);
}
