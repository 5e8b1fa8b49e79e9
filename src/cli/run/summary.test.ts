import { describe, expect, it } from 'vitest';
import { type MoneyTotals, noMoney } from '../../proxy/observe/account.ts';
import { createLedger } from '../../proxy/observe/ledger.ts';
import { type RunAccount, summaryLines } from './summary.ts';
import { emptyTally, type Tally } from './tally.ts';

function linesOf(money: Partial<MoneyTotals>, tally: Partial<Tally> = {}): readonly string[] {
  const account: RunAccount = {
    tally: { ...emptyTally(), requests: 9, ...tally },
    money: { ...noMoney, turns: 9, ...money },
    health: createLedger().health(),
  };
  return summaryLines(account).filter((line) => !line.startsWith('tokens'));
}

describe('the closing lines of a run', () => {
  it('say what folding has saved, and what of that it has lost', () => {
    const money = { sent: 0.52, direct: 0.56, saved: 0.14, lost: 0.1, cutTurns: 3 };
    expect(linesOf(money).slice(1)).toEqual([
      'cost: $0.52 at list prices; $0.56 without folding: saved $0.04 (won $0.14, lost $0.10 in the first turns after folds)',
      '3 requests would not have fitted without folding, and count as cut; how money is counted: docs/dashboard.md of the package',
    ]);
  });

  it('say so where folding has cost more than it saved, summaries included', () => {
    const money = { sent: 0.75, direct: 0.5, saved: 0.25, lost: 0.5, summaries: 0.1, cutTurns: 1 };
    expect(linesOf(money).slice(1)).toEqual([
      'cost: $0.75 at list prices; $0.50 without folding: $0.25 more (won $0.25, lost $0.50 in the first turns after folds and for summaries)',
      '1 request would not have fitted without folding, and counts as cut; how money is counted: docs/dashboard.md of the package',
    ]);
  });

  it('say nothing of folding where it changed no price', () => {
    expect(linesOf({ sent: 0.5, direct: 0.5 }).slice(1)).toEqual(['cost: $0.50 at list prices']);
  });

  it('tell answers without a count of tokens from models without a price', () => {
    expect(linesOf({ unpricedTurns: 9 }, { unreported: 9 }).slice(1)).toEqual([
      'cost: not known, no answer said how many tokens it took',
    ]);
    expect(linesOf({ unpricedTurns: 9 }, { unreported: 2 }).slice(1)).toEqual([
      'cost: not known, the catalog has no prices of this model',
    ]);
    expect(linesOf({ unpricedTurns: 3, sent: 1, direct: 1 }, { unreported: 2 }).slice(1)).toEqual([
      'cost: $1.00 at list prices; 1 request without a known price',
    ]);
  });

  it('name the status of what was refused', () => {
    const refused = new Map([
      [401, 6],
      [undefined, 1],
    ]);
    expect(linesOf({}, { refused })[0]).toBe(
      '9 requests, 0 folds, 0 sent folded, 6 refused (401), 1 without an answer',
    );
  });
});
