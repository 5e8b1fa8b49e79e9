import type { MoneyTotals } from '../../proxy/observe/account.ts';
import type { Health } from '../../proxy/observe/health.ts';
import { countOf, formatCount, formatShare } from '../../report/terminal.ts';
import type { Tally } from './tally.ts';

/** All that is known of a run when it has ended. */
export interface RunAccount {
  readonly tally: Readonly<Tally>;
  readonly money: MoneyTotals;
  readonly health: Health;
}

/** What came of a run, line by line. */
export function summaryLines({ tally, money, health }: RunAccount): readonly string[] {
  if (tally.requests === 0) {
    return ['no request came through: the client talks to somebody else, or had nothing to ask'];
  }
  const { requests, folded, reduced, recoveries, refused } = tally;
  const events = [
    countOf(requests, 'request'),
    countOf(health.compactions.saved, 'fold'),
    `${formatCount(folded)} sent folded`,
    ...(reduced > 0 ? [`${formatCount(reduced)} cut for once`] : []),
    ...(recoveries > 0 ? [`${countOf(recoveries, 'overflow')} recovered`] : []),
    ...(refused > 0 ? [`${formatCount(refused)} refused`] : []),
  ];
  return [
    events.join(', '),
    ...tokenLines(tally),
    ...moneyLines(money),
    ...health.windows.map(
      ({ model, windowTokens }) =>
        `window of ${model}: ${formatCount(windowTokens)} tokens, learnt from an answer`,
    ),
    ...(health.store.count > 0
      ? [
          `the store did not answer ${countOf(health.store.count, 'time')}: memories may be lost with this run`,
        ]
      : []),
    ...health.passed.map(({ words, count }) => `passed ${formatCount(count)}: ${words}`),
  ];
}

function tokenLines(tally: Readonly<Tally>): readonly string[] {
  const { tokensReceived, tokensSent, outputTokens, promptTokens, cacheReadTokens } = tally;
  const share = tokensReceived === 0 ? 1 : tokensSent / tokensReceived;
  const sent = `${formatCount(tokensSent)} sent (${formatShare(share)})`;
  const hits = promptTokens === 0 ? 0 : cacheReadTokens / promptTokens;
  return [
    `tokens in: ${formatCount(tokensReceived)} received, ${sent}, ${formatShare(hits)} read from cache`,
    `tokens out: ${formatCount(outputTokens)}`,
  ];
}

function moneyLines({ turns, unpricedTurns, cutTurns, direct, sent, lost }: MoneyTotals): readonly string[] {
  if (turns === 0) return [];
  if (unpricedTurns === turns) return ['cost: not known, the catalog has no prices of this model'];
  const outside =
    cutTurns === 0 ? '' : ` (${formatCount(cutTurns)} requests would not have fitted, and count as cut)`;
  const unknown = unpricedTurns === 0 ? '' : `; ${formatCount(unpricedTurns)} without a known price`;
  const loss = lost > 0 ? `; single turns cost ${dollars(lost)} more` : '';
  return [
    `cost: ${dollars(sent)} at list prices, ${dollars(direct)} without folding${outside}${loss}${unknown}`,
  ];
}

const SMALL_COST = 0.1;

function dollars(amount: number): string {
  return `$${amount.toFixed(amount < SMALL_COST ? 4 : 2)}`;
}
