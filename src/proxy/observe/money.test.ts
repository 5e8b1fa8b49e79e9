import { describe, expect, it } from 'vitest';
import type { PriceSet } from '../../compaction/economics/costs.ts';
import { type BilledExchange, billTurn, type MoneyState } from './money.ts';

/** In USD per million tokens, so that a million of a kind costs its number. */
const prices: PriceSet = {
  prices: { input: 10, output: 50, cacheRead: 1, cacheWrite: 12.5 },
  cache: { writes: 'at-breakpoints', ttlSeconds: [300] },
};

function exchange(given: Partial<BilledExchange> & Pick<BilledExchange, 'usage'>): BilledExchange {
  const { promptTokens } = given.usage;
  return {
    prices,
    tokensReceived: promptTokens,
    tokensSent: promptTokens,
    windowTokens: 1_000_000,
    isNewView: false,
    startedAt: 0,
    ...given,
  };
}

const seconds = (count: number) => count * 1000;

describe('the bill of a turn', () => {
  it('is the same on both sides for as long as nothing is folded', () => {
    const first = billTurn(
      exchange({ usage: { promptTokens: 100_000, outputTokens: 1000, cacheWriteTokens: 100_000 } }),
      undefined,
    );
    // 100,000 written at 12.5 and 1,000 out at 50.
    expect(first.money.sent).toBeCloseTo(1.25 + 0.05, 10);
    expect(first.money.direct).toBeCloseTo(first.money.sent, 10);
    expect(first.money.cacheWrites).toBeCloseTo(1.25, 10);

    const second = billTurn(
      exchange({
        usage: {
          promptTokens: 110_000,
          outputTokens: 1000,
          cacheReadTokens: 100_000,
          cacheWriteTokens: 10_000,
        },
        startedAt: seconds(60),
      }),
      first.state,
    );
    // 100,000 read at 1, 10,000 written at 12.5, 1,000 out at 50.
    expect(second.money.sent).toBeCloseTo(0.1 + 0.125 + 0.05, 10);
    expect(second.money.direct).toBeCloseTo(second.money.sent, 10);
  });

  const warm: MoneyState = {
    sentTokens: 110_000,
    directTokens: 110_000,
    tokensReceived: 110_000,
    scale: 1,
    readShare: 1,
    isCached: true,
    startedAt: 0,
  };

  it('shows a fold that costs more than it saves as a loss', () => {
    // 120,000 came, 60,000 went on and had to be written anew: 0.75. Direct: 110,000 read (0.11), 10,000 written (0.125).
    const { money } = billTurn(
      exchange({
        usage: { promptTokens: 60_000, outputTokens: 0, cacheWriteTokens: 60_000 },
        tokensReceived: 120_000,
        tokensSent: 60_000,
        isNewView: true,
        startedAt: seconds(60),
      }),
      warm,
    );

    expect(money.sent).toBeCloseTo(0.75, 10);
    expect(money.direct).toBeCloseTo(0.235, 10);
  });

  it('counts the turns after a fold with as many cache reads as were reported', () => {
    const after: MoneyState = { ...warm, sentTokens: 60_000, directTokens: 120_000, tokensReceived: 120_000 };
    // Sent: 60,000 read, 5,000 written. Direct: 120,000 read, 5,000 written.
    const hit = billTurn(
      exchange({
        usage: {
          promptTokens: 65_000,
          outputTokens: 0,
          cacheReadTokens: 60_000,
          cacheWriteTokens: 5000,
        },
        tokensReceived: 125_000,
        tokensSent: 65_000,
      }),
      after,
    );
    expect(hit.money.sent).toBeCloseTo(0.06 + 0.0625, 10);
    expect(hit.money.direct).toBeCloseTo(0.12 + 0.0625, 10);

    // The cache was cold for both: everything is written.
    const miss = billTurn(
      exchange({
        usage: { promptTokens: 65_000, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 65_000 },
        tokensReceived: 125_000,
        tokensSent: 65_000,
      }),
      after,
    );
    expect(miss.money.sent).toBeCloseTo(0.8125, 10);
    expect(miss.money.direct).toBeCloseTo(1.5625, 10);
  });

  it('takes a cache that has expired before a fold for cold on both sides', () => {
    const { money } = billTurn(
      exchange({
        usage: { promptTokens: 60_000, outputTokens: 0, cacheWriteTokens: 60_000 },
        tokensReceived: 120_000,
        tokensSent: 60_000,
        isNewView: true,
        startedAt: seconds(301),
      }),
      warm,
    );

    expect(money.direct).toBeCloseTo(1.5, 10);
    expect(money.sent).toBeCloseTo(0.75, 10);
  });

  it('follows the whole by what the provider counted of what came to it, not by the ratio of the view', () => {
    // The provider counts two tokens for each estimated one, but three in the view that takes its place.
    const whole = billTurn(
      exchange({
        usage: { promptTokens: 200_000, outputTokens: 0 },
        tokensReceived: 100_000,
        tokensSent: 100_000,
      }),
      undefined,
    );
    const folded = billTurn(
      exchange({
        usage: { promptTokens: 60_000, outputTokens: 0 },
        tokensReceived: 110_000,
        tokensSent: 20_000,
        isNewView: true,
      }),
      whole.state,
    );
    expect(folded.state.directTokens).toBe(220_000);
    const next = billTurn(
      exchange({
        usage: { promptTokens: 75_000, outputTokens: 0 },
        tokensReceived: 117_000,
        tokensSent: 25_000,
      }),
      folded.state,
    );
    expect(next.state.directTokens).toBe(235_000);
  });

  it('begins anew when a client begins anew', () => {
    const { state } = billTurn(
      exchange({ usage: { promptTokens: 5000, outputTokens: 0 }, isNewView: true }),
      { ...warm, sentTokens: 60_000, directTokens: 150_000, tokensReceived: 150_000 },
    );
    expect(state.directTokens).toBe(5000);
  });

  it('scales the estimate of what came by what the provider counted, where the whole was never seen', () => {
    // 50,000 estimated are 60,000 of the provider's: 100,000 more estimated are 120,000 more.
    const { money, state } = billTurn(
      exchange({
        usage: { promptTokens: 60_000, outputTokens: 0 },
        tokensReceived: 150_000,
        tokensSent: 50_000,
      }),
      undefined,
    );

    expect(state.directTokens).toBe(180_000);
    expect(money.direct).toBeCloseTo(1.8, 10);
    expect(money.sent).toBeCloseTo(0.6, 10);
  });

  it('claims no saving for a request that would not have fitted, and compares from there on', () => {
    const tooLong = billTurn(
      exchange({
        usage: { promptTokens: 60_000, outputTokens: 0 },
        tokensReceived: 210_000,
        tokensSent: 60_000,
        windowTokens: 200_000,
      }),
      undefined,
    );
    expect(tooLong.money).toMatchObject({ isCut: true, direct: tooLong.money.sent });
    expect(tooLong.state.directTokens).toBe(60_000);

    const next = billTurn(
      exchange({
        usage: { promptTokens: 65_000, outputTokens: 0 },
        tokensReceived: 215_000,
        tokensSent: 65_000,
        windowTokens: 200_000,
      }),
      tooLong.state,
    );
    expect(next.money).toMatchObject({ isCut: false, direct: next.money.sent });

    // A later fold saves again: 25,000 go on instead of the 70,000 that the comparison is about.
    const folded = billTurn(
      exchange({
        usage: { promptTokens: 25_000, outputTokens: 0 },
        tokensReceived: 220_000,
        tokensSent: 25_000,
        windowTokens: 200_000,
        isNewView: true,
      }),
      next.state,
    );
    expect(folded.state.directTokens).toBe(70_000);
    expect(folded.money.direct).toBeCloseTo(0.7, 10);
  });

  it('counts a request that would not have fitted as cut: nothing of it would have been in the cache', () => {
    // 60,000 go on, 55,000 of them read. Without us: the same 60,000 after a cut, all of them written.
    const { money, state } = billTurn(
      exchange({
        usage: { promptTokens: 60_000, outputTokens: 0, cacheReadTokens: 55_000, cacheWriteTokens: 5000 },
        tokensReceived: 205_000,
        tokensSent: 60_000,
        windowTokens: 200_000,
      }),
      { ...warm, sentTokens: 55_000, directTokens: 199_000, tokensReceived: 199_000 },
    );

    expect(money.isCut).toBe(true);
    expect(money.sent).toBeCloseTo(0.055 + 0.0625, 10);
    expect(money.direct).toBeCloseTo(0.75, 10);
    expect(state.directTokens).toBe(60_000);
  });

  it('pays the step for long prompts on the side that is above it', () => {
    const stepped: PriceSet = {
      prices: { input: 10, output: 50, longContext: { abovePromptTokens: 200_000, input: 20, output: 75 } },
    };
    const { money } = billTurn(
      exchange({
        prices: stepped,
        usage: { promptTokens: 150_000, outputTokens: 10_000 },
        tokensReceived: 300_000,
        tokensSent: 150_000,
      }),
      undefined,
    );

    expect(money.sent).toBeCloseTo(1.5 + 0.5, 10);
    expect(money.direct).toBeCloseTo(6 + 0.75, 10);
  });

  it('never counts more as read or written than the prompt has, whatever a provider reports', () => {
    const { money } = billTurn(
      exchange({
        usage: { promptTokens: 1000, outputTokens: 0, cacheReadTokens: 5000, cacheWriteTokens: 5000 },
      }),
      undefined,
    );

    expect(money.sent).toBeCloseTo(0.001, 10);
    expect(money.cacheWrites).toBe(0);
  });
});
