import { withMessages } from '../core/format.ts';
import type { Message } from '../core/message.ts';
import type { TokenEstimator } from '../core/token-estimator.ts';
import type { LabCase } from './lab-case.ts';
import type { Row } from './row.ts';
import { budgetFor } from './trajectory.ts';

/** What a chain of compactions left at each of its cuts. */
export interface ChainLink {
  readonly labCase: LabCase;
  readonly output: readonly Message[];
}

/**
 * Compacts again and again, as in a long session: the output at one cut and the messages that came until the next cut are
 * compacted together there. Each output is judged by the whole prefix of its cut, so that erosion shows. The cases are
 * cuts of one stretch in their order; the budget is a share of the whole prefix of each.
 */
export async function compactInChain(
  row: Row,
  cases: readonly LabCase[],
  share: number,
  estimator: TokenEstimator,
): Promise<readonly ChainLink[]> {
  const links: ChainLink[] = [];
  let output: readonly Message[] = [];
  let covered = 0;
  for (const labCase of cases) {
    const { cut } = labCase;
    const messages = [...output, ...cut.prefix.messages.slice(covered)];
    const prefixTokens = estimator.countMessages(messages);
    const chained = { ...cut, prefix: withMessages(cut.prefix, messages), prefixTokens };
    output = await row.compact(chained, budgetFor(cut, share));
    covered = cut.prefix.messages.length;
    links.push({ labCase, output });
  }
  return links;
}

/** The cases of each stretch of each session, in the order of their cuts: what chains are made of. */
export function chainsOf(cases: readonly LabCase[]): readonly (readonly LabCase[])[] {
  const chains = Map.groupBy(
    cases.filter(({ recorded }) => recorded === undefined),
    ({ cut }) => JSON.stringify([cut.session, cut.title, cut.stretch]),
  );
  return [...chains.values()];
}
