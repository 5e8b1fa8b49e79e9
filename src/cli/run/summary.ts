import type { Tally } from '../../proxy/tally.ts';
import { countOf, formatCount, formatShare } from '../../report/terminal.ts';

/** Why requests were passed, for people. */
const reasons: ReadonlyMap<string, string> = new Map([
  ['no-tenant', 'they belong to no tenant'],
  ['provider-holds-history', 'the provider holds their history'],
  ['provider-compacts', 'they ask the provider to compact'],
  ['client-compacts', "the client's own compactions, which have to see everything"],
  ['folded-calls', 'their tool calls are folded into texts in a way that cannot be undone'],
  ['unknown-model', 'the window of their model is not known: set it with --window'],
  ['failed', 'something went wrong with them here'],
  ['observing', 'the proxy only observes'],
  ['bypassed', 'they asked for it themselves'],
  ['not-a-conversation', 'they hold no conversation'],
  ['unreadable', 'their bodies cannot be read'],
  ['fragment', 'they count a part of a conversation'],
]);

/** Why a request was passed, in words. */
export function explainReason(reason: string): string {
  return reasons.get(reason) ?? reason;
}

/** What came of a run, line by line. */
export function summaryLines(tally: Tally): readonly string[] {
  const { requests, folds, folded, reduced, recoveries, refused } = tally;
  if (requests === 0) {
    return ['no request came through: the client talks to somebody else, or had nothing to ask'];
  }
  const events = [
    countOf(requests, 'request'),
    countOf(folds, 'fold'),
    `${formatCount(folded)} sent folded`,
    ...(reduced > 0 ? [`${formatCount(reduced)} cut for once`] : []),
    ...(recoveries > 0 ? [`${countOf(recoveries, 'overflow')} recovered`] : []),
    ...(refused > 0 ? [`${formatCount(refused)} refused`] : []),
  ];
  return [
    events.join(', '),
    tokensLine(tally),
    ...costLines(tally),
    ...[...tally.learntWindows].map(
      ([model, window]) => `window of ${model}: ${formatCount(window)} tokens, learnt from an answer`,
    ),
    ...[...tally.passed].map(([reason, count]) => `passed ${formatCount(count)}: ${explainReason(reason)}`),
  ];
}

function tokensLine({
  tokensReceived,
  tokensSent,
  outputTokens,
  promptTokens,
  cacheReadTokens,
}: Tally): string {
  const share = tokensReceived === 0 ? 1 : tokensSent / tokensReceived;
  const cached =
    promptTokens === 0
      ? ''
      : `, ${formatShare(cacheReadTokens / promptTokens)} of the prompts read from cache`;
  return `tokens: ${formatCount(tokensReceived)} received, ${formatCount(tokensSent)} sent (${formatShare(share)}), ${formatCount(outputTokens)} answered${cached}`;
}

const CENTS = 2;
const SMALL_COST = 0.1;

function costLines({ cost, unpriced }: Tally): readonly string[] {
  const without = unpriced.length === 0 ? '' : `; no price is known of ${unpriced.join(', ')}`;
  if (cost === undefined) return unpriced.length === 0 ? [] : [`cost: not known${without}`];
  const digits = cost < SMALL_COST ? 2 * CENTS : CENTS;
  return [`cost: $${cost.toFixed(digits)} at list prices, of what was sent${without}`];
}
