/** A row at the very tokens that each peer has kept, cut by cut: what one keeps more of is not what it has more room for. */
import { pairedDifference } from '../../src/lab/aggregate.ts';
import type { LabCase } from '../../src/lab/lab-case.ts';
import type { Measurement } from '../../src/lab/measure.ts';
import { type CaseOptions, levelName, measureCase } from '../../src/lab/measure-case.ts';
import type { Row } from '../../src/lab/row.ts';

/** Less is nothing, and more is everything: there is nothing to compare. */
const LEAST_KEPT = 0.01;
const MOST_KEPT = 0.999;
const LEVEL = 'the tokens of ';

/** Pairs of measurements on one level each: the peer's, and that of the row with as many tokens. */
export async function measureMatched(
  labCase: LabCase,
  row: Row,
  peers: readonly Measurement[],
  options: Omit<CaseOptions, 'budgets'>,
): Promise<readonly Measurement[]> {
  const wanted = peers.filter(({ tokensKept }) => tokensKept > LEAST_KEPT && tokensKept < MOST_KEPT);
  const budgets = [...new Set(wanted.map(({ tokensKept }) => tokensKept * 100))];
  const found = await measureCase(labCase, [row], { ...options, budgets });
  const byLevel = new Map(
    found
      .map(({ measurement }) => measurement)
      .filter((measurement) => measurement.row === row.name)
      .map((measurement) => [measurement.level, measurement]),
  );
  return wanted.flatMap((peer) => {
    const own = byLevel.get(levelName(peer.tokensKept * 100));
    const level = `${LEVEL}${peer.row}, asked for ${peer.level}`;
    return own === undefined
      ? []
      : [
          { ...peer, level },
          { ...own, level },
        ];
  });
}

/** Whether a measurement is one of a pair. */
export function isMatched({ level }: Measurement): boolean {
  return level.startsWith(LEVEL);
}

/** A line for each peer and budget: how much more the row keeps. */
export function formatMatched(measured: readonly Measurement[], row: string): string {
  const levels = Map.groupBy(measured, ({ level }) => level);
  const lines = [...levels].map(([level, pairs]) => {
    const peer = pairs.find((measurement) => measurement.row !== row)?.row ?? '';
    const told = (['futureReference', 'bound', 'editAnchors'] as const).map((figure) => {
      const { mean, low, high } = pairedDifference(pairs, [row, peer], level, figure);
      const [middle, from, to] = [mean, low, high].map((value) => (value * 100).toFixed(1));
      return `${figure} ${middle} [${from} ${to}]`;
    });
    return `  ${level}, ${pairs.length / 2} cuts: ${told.join(', ')}`;
  });
  return [`${row} minus each peer at as many tokens, paired by session (points)`, ...lines].join('\n');
}
