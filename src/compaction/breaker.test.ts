import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import {
  type AutoCompactState,
  afterOutcome,
  afterTurn,
  COOL_DOWN_TURNS,
  initialAutoCompactState,
  isSummarizerPaused,
  MAX_CONSECUTIVE_FAILURES,
  MAX_USELESS_PASSES,
  RAPID_REFILL,
  shouldAutoCompact,
} from './breaker.ts';
import { type Compacted, type NotCompacted, notCompacted, type Outcome } from './plan/strategy.ts';

const failed = notCompacted('failed', 'summary-upstream', 'no answer');
const useless = notCompacted('insufficient', 'gain-too-small', 'not worth it');
const skipped = notCompacted('skipped', 'below-target', 'small');
// Only the status of a success is looked at, and whether it was paid for.
const compacted = { status: 'compacted', reason: 'done' } as Compacted;
const paid: Outcome = { ...compacted, usage: { promptTokens: 1, outputTokens: 1 } };
const missed: Outcome = { ...notCompacted('insufficient', 'floor-exceeds-target', 'large'), best: compacted };

function stateAfter(...outcomes: readonly (Outcome | 'turn')[]): AutoCompactState {
  return outcomes.reduce<AutoCompactState>(
    (state, outcome) => (outcome === 'turn' ? afterTurn(state) : afterOutcome(state, outcome)),
    initialAutoCompactState,
  );
}

const isPaused = ({ pausedTurns }: AutoCompactState) => pausedTurns > 0;
const pause = Array.from({ length: COOL_DOWN_TURNS }, (): 'turn' => 'turn');

describe('the state between runs', () => {
  it.each<{ title: string; outcomes: readonly (Outcome | 'turn')[]; paused: boolean }>([
    { title: 'nothing', outcomes: [], paused: false },
    { title: 'two failures', outcomes: [failed, failed], paused: false },
    { title: 'three failures', outcomes: [failed, failed, failed], paused: true },
    {
      title: 'a success between failures',
      outcomes: [failed, failed, compacted, failed, failed],
      paused: false,
    },
    { title: 'one useless pass', outcomes: [useless], paused: false },
    { title: 'two useless passes', outcomes: [useless, useless], paused: true },
    { title: 'a success between useless passes', outcomes: [useless, compacted, useless], paused: false },
    { title: 'targets that were missed with a result', outcomes: Array(9).fill(missed), paused: false },
    { title: 'a missed target between useless passes', outcomes: [useless, missed, useless], paused: false },
    { title: 'runs that had nothing to do', outcomes: [skipped, skipped, skipped, skipped], paused: false },
    {
      title: 'runs with nothing to do between failures',
      outcomes: [failed, skipped, failed, skipped, failed],
      paused: true,
    },
    {
      title: 'a pause that is almost over',
      outcomes: [failed, failed, failed, ...pause.slice(1)],
      paused: true,
    },
    { title: 'a pause that is over', outcomes: [failed, failed, failed, ...pause], paused: false },
    {
      title: 'a pause and one more failure',
      outcomes: [failed, failed, failed, ...pause, failed],
      paused: true,
    },
    {
      title: 'a pause and one more useless pass',
      outcomes: [useless, useless, ...pause, useless],
      paused: true,
    },
    {
      title: 'a pause and a success',
      outcomes: [failed, failed, failed, ...pause, compacted, failed, failed],
      paused: false,
    },
    {
      title: 'a manual success during a pause',
      outcomes: [failed, failed, failed, compacted],
      paused: false,
    },
  ])('pauses automatic runs after $title: $paused', ({ outcomes, paused }) => {
    const state = stateAfter(...outcomes);

    expect(isPaused(state)).toBe(paused);
    expect(shouldAutoCompact(195_000, 200_000, state)).toBe(!paused);
    const last = outcomes.findLast((one) => one !== 'turn');
    if (paused) expect(state.reason).toBe(last?.reason);
  });

  it('does not count it as a failure when the user stops a run', () => {
    const aborted = notCompacted('failed', 'summary-aborted', 'stopped');

    expect(stateAfter(aborted, aborted, aborted, aborted)).toEqual(initialAutoCompactState);
  });

  it('counts compactions, and a pause does not make it forget them', () => {
    expect(stateAfter(compacted, compacted).compactionCount).toBe(2);
    expect(stateAfter(compacted, missed).compactionCount).toBe(2);
    expect(stateAfter(compacted, failed, failed, failed, ...pause, compacted).compactionCount).toBe(2);
  });

  it('has no reason once nothing is wrong any more', () => {
    expect(stateAfter(failed, failed, failed, ...pause, compacted).reason).toBeUndefined();
  });

  it('has the numbers that are documented', () => {
    expect({ MAX_CONSECUTIVE_FAILURES, MAX_USELESS_PASSES }).toEqual({
      MAX_CONSECUTIVE_FAILURES: 3,
      MAX_USELESS_PASSES: 2,
    });
  });

  const outcome: fc.Arbitrary<Outcome | 'turn'> = fc.constantFrom<Outcome | 'turn'>(
    failed,
    useless,
    skipped,
    compacted,
    paid,
    missed,
    'turn',
  );

  test.prop([fc.array(outcome, { maxLength: 40 })])(
    'is plain data, never counts below zero, and lets one run through at least every so many turns',
    (outcomes) => {
      const state = stateAfter(...outcomes);

      expect(JSON.parse(JSON.stringify({ ...state, reason: state.reason ?? null }))).toEqual({
        ...state,
        reason: state.reason ?? null,
      });
      expect(
        Math.min(state.compactionCount, state.consecutiveFailures, state.uselessPasses),
      ).toBeGreaterThanOrEqual(0);
      const rested = pause.reduce((current) => afterTurn(current), state);
      expect(isPaused(rested)).toBe(false);
      expect(isSummarizerPaused(rested)).toBe(false);
    },
  );

  test.prop([fc.constantFrom<NotCompacted>(failed, useless), fc.integer({ min: 20, max: 200 })])(
    'keeps automatic runs that never help to a few',
    (outcome_, turns) => {
      let state = initialAutoCompactState;
      let runs = 0;
      for (let turn = 0; turn < turns; turn++) {
        if (shouldAutoCompact(199_000, 200_000, state)) {
          runs++;
          state = afterOutcome(state, outcome_);
        } else state = afterTurn(state);
      }

      expect(runs).toBeLessThanOrEqual(MAX_CONSECUTIVE_FAILURES + turns / COOL_DOWN_TURNS);
    },
  );
});

describe('the pause of a summarizer', () => {
  /** Runs in which the summarizer failed and our own wrote the summary, others, and turns without a run. */
  type Happening = 'failed' | 'turn' | Outcome;
  const stateBehind = (...happenings: readonly Happening[]): AutoCompactState =>
    happenings.reduce<AutoCompactState>((state, happening) => {
      if (happening === 'turn') return afterTurn(state);
      if (happening === 'failed') return afterOutcome(state, compacted, 'upstream');
      return afterOutcome(state, happening);
    }, initialAutoCompactState);

  it.each<{ title: string; happenings: readonly Happening[]; paused: boolean }>([
    { title: 'two failures', happenings: ['failed', 'failed'], paused: false },
    { title: 'three failures', happenings: ['failed', 'failed', 'failed'], paused: true },
    {
      title: 'three failures with turns between',
      happenings: ['failed', 'turn', 'failed', 'turn', 'failed'],
      paused: true,
    },
    {
      title: 'a paid summary between failures',
      happenings: ['failed', 'failed', paid, 'failed'],
      paused: false,
    },
    {
      title: 'a run that asked nobody between failures',
      happenings: ['failed', 'failed', compacted, 'failed'],
      paused: true,
    },
    {
      title: 'a pause that is almost over',
      happenings: ['failed', 'failed', 'failed', ...pause.slice(1)],
      paused: true,
    },
    { title: 'a pause that is over', happenings: ['failed', 'failed', 'failed', ...pause], paused: false },
    {
      title: 'a pause in which runs go on',
      happenings: ['failed', 'failed', 'failed', ...Array<Outcome>(COOL_DOWN_TURNS).fill(compacted)],
      paused: false,
    },
    {
      title: 'a pause and one more failure',
      happenings: ['failed', 'failed', 'failed', ...pause, 'failed'],
      paused: true,
    },
    {
      title: 'a pause and a paid summary',
      happenings: ['failed', 'failed', 'failed', ...pause, paid, 'failed', 'failed'],
      paused: false,
    },
  ])('comes after $title: $paused, and runs go on', ({ happenings, paused }) => {
    const state = stateBehind(...happenings);

    expect(isSummarizerPaused(state)).toBe(paused);
    if (paused) expect(state.summarizer?.reason).toBe('upstream');
    expect(isPaused(state)).toBe(false);
    expect(shouldAutoCompact(195_000, 200_000, state)).toBe(true);
  });

  it.each<{ title: string; happenings: readonly Happening[]; paused: boolean }>([
    { title: 'three refills at once', happenings: [paid, paid, paid, paid], paused: true },
    {
      title: 'three rapid refills',
      happenings: [paid, 'turn', 'turn', paid, 'turn', paid, 'turn', 'turn', paid],
      paused: true,
    },
    { title: 'two rapid refills', happenings: [paid, 'turn', paid, 'turn', paid], paused: false },
    {
      title: 'a slow refill between rapid ones',
      happenings: [paid, paid, paid, 'turn', 'turn', 'turn', paid, paid, paid],
      paused: false,
    },
    {
      title: 'summaries that cost nothing between rapid refills',
      happenings: [paid, compacted, paid, compacted, paid, compacted, paid],
      paused: true,
    },
    { title: 'refills that cost nothing', happenings: Array(20).fill(compacted), paused: false },
    { title: 'a pause that is over', happenings: [paid, paid, paid, paid, ...pause], paused: false },
  ])(
    'spares a window that fills too fast the price of a model after $title: $paused',
    ({ happenings, paused }) => {
      const state = stateBehind(...happenings);

      expect(isSummarizerPaused(state)).toBe(paused);
      if (paused) expect(state.summarizer).toMatchObject({ reason: RAPID_REFILL });
      expect(isPaused(state)).toBe(false);
    },
  );

  it('is not counted when the user stops a run', () => {
    const aborted = notCompacted('failed', 'aborted', 'stopped');

    expect(afterOutcome(initialAutoCompactState, aborted, 'aborted')).toBe(initialAutoCompactState);
  });
});

describe('shouldAutoCompact', () => {
  it.each([
    { tokens: 166_999, windowTokens: 200_000, due: false },
    { tokens: 167_000, windowTokens: 200_000, due: true },
    { tokens: 900_000, windowTokens: 0, due: false },
  ])('of $tokens in $windowTokens is $due', ({ tokens, windowTokens, due }) => {
    expect(shouldAutoCompact(tokens, windowTokens, initialAutoCompactState)).toBe(due);
  });

  it('goes by the trigger that is given', () => {
    expect(shouldAutoCompact(90_000, 200_000, initialAutoCompactState, { trigger: 0.45 })).toBe(true);
    expect(shouldAutoCompact(89_999, 200_000, initialAutoCompactState, { trigger: 0.45 })).toBe(false);
  });

  it.each([-1, Number.NaN])('refuses a window of %d', (windowTokens) => {
    expect(() => shouldAutoCompact(1, windowTokens, initialAutoCompactState)).toThrow(/windowTokens/);
  });
});
