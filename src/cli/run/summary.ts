import { passWords } from '../../proxy/observe/words.ts';
import type { ProxyPassReason } from '../../proxy/record.ts';
import type { Tally } from '../../proxy/tally.ts';
import { countOf, formatCount, formatShare } from '../../report/terminal.ts';

/** Why a request was passed, in words. */
function explainReason(reason: string): string {
  return Object.hasOwn(passWords, reason) ? passWords[reason as ProxyPassReason] : reason; // one of its own names
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
