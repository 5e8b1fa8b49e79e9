/** Our own row at the very tokens that each peer has kept, cut by cut: what one keeps more of is not what it has more room for. */
import { type LabCase, type Measured, measureRow } from '../../src/lab/measure.ts';
import type { Row } from '../../src/lab/row.ts';
import type { CountMessages } from '../../src/lab/score.ts';
import { budgetFor } from '../../src/lab/trajectory.ts';

/** Less is nothing, and more is everything: there is nothing to compare. */
const LEAST_KEPT = 0.01;
const MOST_KEPT = 0.999;
const LEVEL = 'its tokens when asked for ';

/** Pairs of measurements on one level each: the peer's, and that of the row with as many tokens. */
export async function measureMatched(
  labCase: LabCase,
  row: Row,
  peers: readonly Measured[],
  countMessages: CountMessages,
): Promise<readonly Measured[]> {
  const pairs: Measured[] = [];
  // Several peers, or one at several budgets, often keep the same.
  const known = new Map<number, Measured>();
  for (const peer of peers) {
    const { kept = 0 } = peer.measurement.figures;
    if (kept <= LEAST_KEPT || kept >= MOST_KEPT) continue;
    const level = `${LEVEL}${peer.measurement.level} (${peer.measurement.row})`;
    const budgetTokens = budgetFor(labCase.cut, kept);
    const own = known.get(kept) ?? (await measureRow(row, labCase, { level, budgetTokens, countMessages }));
    known.set(kept, own);
    pairs.push(withLevel(peer, level), withLevel(own, level));
  }
  return pairs;
}

function withLevel(measured: Measured, level: string): Measured {
  return { ...measured, measurement: { ...measured.measurement, level } };
}

/** Whether a level is that of such a pair. */
export function isMatchedLevel(level: string): boolean {
  return level.startsWith(LEVEL);
}
