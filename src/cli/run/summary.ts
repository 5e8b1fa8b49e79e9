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
  const { requests, folded, reduced, recoveries } = tally;
  const events = [
    countOf(requests, 'request'),
    countOf(health.compactions.saved, 'fold'),
    `${formatCount(folded)} sent folded`,
    ...(reduced > 0 ? [`${formatCount(reduced)} cut for once`] : []),
    ...(recoveries > 0 ? [`${countOf(recoveries, 'overflow')} recovered`] : []),
    ...refusals(tally),
  ];
  return [
    events.join(', '),
    ...tokenLines(tally),
    ...moneyLines(money, tally),
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

/** How many requests were refused, with which status. */
function refusals({ refused }: Readonly<Tally>): readonly string[] {
  return [...refused].map(
    ([status, count]) =>
      `${formatCount(count)} ${status === undefined ? 'without an answer' : `refused (${status})`}`,
  );
}

function moneyLines(money: MoneyTotals, { unreported }: Readonly<Tally>): readonly string[] {
  const { turns, unpricedTurns, cutTurns, direct, sent } = money;
  if (turns === 0) return [];
  const withoutPrice = Math.max(0, unpricedTurns - unreported);
  if (unpricedTurns === turns) {
    const why =
      withoutPrice === 0
        ? 'no answer said how many tokens it took'
        : 'the catalog has no prices of this model';
    return [`cost: not known, ${why}`];
  }
  const unknown = withoutPrice === 0 ? '' : `; ${countOf(withoutPrice, 'request')} without a known price`;
  const dollars = dollarsUpTo(Math.max(sent, direct));
  const cost = `cost: ${dollars(sent)} at list prices`;
  if (money.saved === 0 && money.lost === 0) return [`${cost}${unknown}`];
  const cut =
    cutTurns === 0
      ? ''
      : `${countOf(cutTurns, 'request')} would not have fitted without folding, and ${cutTurns === 1 ? 'counts' : 'count'} as cut; `;
  return [
    `${cost}; ${dollars(direct)} without folding: ${gainOf(money)}${unknown}`,
    `${cut}how money is counted: docs/dashboard.md of the package`,
  ];
}

/** What is left of what folding has won when what it has lost is taken off. */
function gainOf({ direct, sent, saved, lost, summaries }: MoneyTotals): string {
  const dollars = dollarsUpTo(Math.max(sent, direct));
  const gain = direct - sent;
  const total = gain >= 0 ? `saved ${dollars(gain)}` : `${dollars(-gain)} more`;
  if (lost === 0) return total;
  const where =
    summaries > 0 ? 'in the first turns after folds and for summaries' : 'in the first turns after folds';
  return `${total} (won ${dollars(saved)}, lost ${dollars(lost)} ${where})`;
}

const SMALL_COST = 0.1;

/** Writes amounts of one line alike: as precise as its largest one needs. */
function dollarsUpTo(largest: number): (amount: number) => string {
  const digits = largest < SMALL_COST ? 4 : 2;
  return (amount) => `$${amount.toFixed(digits)}`;
}
