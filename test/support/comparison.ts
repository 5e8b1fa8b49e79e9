import type { ComparedRow, Comparison } from '../../src/report/comparison.ts';
import type { RoundSeries } from '../../src/report/round-series.ts';

/** A session that fills its window again and again: `rounds` rounds, compacted each time it reaches the trigger. */
export function sawtooth(name: string, rounds: number, { trigger = 167_000, step = 4200 } = {}): RoundSeries {
  const stretches: number[][] = [[18_000]];
  const compactions = [];
  for (let round = 1; round < rounds; round++) {
    const current = stretches.at(-1)!;
    const next = current.at(-1)! + step * (0.4 + ((round * 7919) % 13) / 10);
    current.push(Math.round(next));
    if (next < trigger) continue;
    const after = 31_000 + (stretches.length % 9) * 4000;
    compactions.push({ tokensBefore: Math.round(next), tokensAfter: after, trigger: 'auto' });
    stretches.push([after]);
  }
  return { name, stretches, compactions };
}

const BUDGETS = [0.1, 0.2, 0.3, 0.5];

function curve(
  name: string,
  kind: ComparedRow['kind'],
  recalls: readonly (readonly number[])[],
  cost: number | undefined,
): ComparedRow {
  return {
    name,
    kind,
    points: BUDGETS.map((budgetShare, index) => ({
      budgetShare,
      keptShare: budgetShare * 0.97,
      costDollars: cost === undefined ? undefined : cost * (0.8 + budgetShare * 0.5),
      figures: [
        ...recalls.map((values) => {
          const value = values[index] ?? 0;
          const spread = 0.08 * (1 - value) + 0.01;
          return { value, low: Math.max(0, value - spread), high: Math.min(1, value + spread) };
        }),
        { value: kind === 'oracle' ? 0.9 : 1 },
        { value: 9000 * (1 - (recalls[2]?.[index] ?? 0)) },
      ],
    })),
  };
}

/** A comparison with a row of every kind and invented figures. */
export function inventedComparison(sessions = 3): Comparison {
  const none = [1, 1, 1].map((value) => ({ value, low: value, high: value }));
  return {
    title: 'Strategies on recorded sessions',
    about: [`${sessions} sessions`, '5 cuts each', 'claude-sonnet-4-5', 'prices of 2026-01'],
    kept: { name: 'kept', help: 'Share of the tokens that is left', unit: 'share' },
    measures: [
      { name: 'names', help: 'Names that later calls use', unit: 'share', isCharted: true },
      { name: 'bound (two words)', help: 'Names with what they stood for', unit: 'share', isCharted: true },
      { name: 'edit lines', help: 'Lines that later edits replace', unit: 'share', isCharted: true },
      { name: 'demands', help: 'Demands of the user, verbatim', unit: 'share' },
      { name: 'tokens to read again', help: 'Tokens to read again', unit: 'tokens', isLessBetter: true },
    ],
    rows: [
      curve(
        'ladder',
        'strategy',
        [
          [0.89, 0.95, 0.97, 0.99],
          [0.87, 0.93, 0.95, 0.98],
          [0.42, 0.57, 0.7, 0.84],
        ],
        0.42,
      ),
      curve(
        'clear-tool-results',
        'strategy',
        [
          [0.55, 0.66, 0.72, 0.83],
          [0.5, 0.61, 0.69, 0.8],
          [0.3, 0.41, 0.48, 0.63],
        ],
        0.51,
      ),
      curve(
        'sliding-window',
        'strategy',
        [
          [0.51, 0.6, 0.69, 0.81],
          [0.47, 0.56, 0.65, 0.78],
          [0.44, 0.55, 0.62, 0.76],
        ],
        0.47,
      ),
      curve(
        'trimMessages',
        'peer',
        [
          [0.48, 0.58, 0.66, 0.79],
          [0.44, 0.53, 0.62, 0.75],
          [0.4, 0.5, 0.58, 0.72],
        ],
        0.5,
      ),
      {
        name: 'recorded summaries',
        kind: 'recorded',
        points: [
          {
            budgetShare: undefined,
            keptShare: 0.03,
            costDollars: 0.78,
            figures: [
              { value: 0.55, low: 0.48, high: 0.61 },
              { value: 0.29, low: 0.22, high: 0.36 },
              { value: 0.05, low: 0.02, high: 0.09 },
              { value: 0.92 },
              { value: 8600 },
            ],
          },
        ],
      },
      curve(
        'random rounds',
        'control',
        [
          [0.31, 0.42, 0.5, 0.66],
          [0.27, 0.37, 0.46, 0.62],
          [0.08, 0.17, 0.27, 0.46],
        ],
        undefined,
      ),
      {
        name: 'none',
        kind: 'control',
        points: [{ budgetShare: undefined, keptShare: 1, costDollars: 0.66, figures: none }],
      },
      curve(
        'oracle',
        'oracle',
        [BUDGETS.map(() => 1), BUDGETS.map(() => 1), BUDGETS.map(() => 1)],
        undefined,
      ),
    ],
    lost: [
      {
        session: 'sessions/harbour.jsonl',
        row: 'ladder',
        budgetShare: 0.1,
        kind: 'edit line',
        what: 'const berth = berths.get(ship.draught);',
        stoodIn: 'message 41, result of Read src/berths.ts',
        neededBy: 'Edit src/berths.ts',
        roundsLater: 6,
      },
      {
        session: 'sessions/harbour.jsonl',
        row: 'sliding-window',
        budgetShare: 0.2,
        kind: 'path',
        what: 'fixtures/tides/2026-03.csv',
        stoodIn: 'message 12, result of Bash',
        neededBy: 'Bash: node tools/import.ts fixtures/tides/2026-03.csv',
        roundsLater: 1,
      },
    ],
    sessions: Array.from({ length: sessions }, (_, index) => ({
      name: `sessions/session-${index + 1}.jsonl`,
      series:
        index === 1
          ? [sawtooth('recorded', 90), sawtooth('ladder', 90, { step: 2500 })]
          : [sawtooth('recorded', 120 + index * 30)],
      limits: { windowTokens: 200_000, triggerTokens: 167_000, targetTokens: 100_200 },
    })),
  };
}
