import { RoundfoldError } from '../../conversation/errors.ts';

/**
 * - `oversized-first`: a round that takes more than half of the window by itself is cut first: its largest tool results are
 *   shortened, and where that is not enough, it leaves alone. Only then `keep-preamble` goes on with what is still missing.
 * - `keep-preamble`: the oldest rounds go first; what is pinned goes after long tool results were shortened, and what
 *   stands before the first answer goes last. Estimates are scaled to the provider's count.
 * - `literal`: strictly oldest first, the preamble included, by the provider's number or a fixed fifth of the rounds.
 */
export type RetryPolicy = 'oversized-first' | 'keep-preamble' | 'literal';

/** What a policy does, as data. */
export interface PolicyRules {
  /** Share of the rounds that goes when no number is known, by retry. */
  readonly fractions: readonly number[];
  readonly marginFraction: number;
  /** Whether our own estimate may say how much goes. */
  readonly usesEstimate: boolean;
  /** Whether what is pinned goes last, after long results were shortened. */
  readonly sparesPins: boolean;
  /** Whether rounds that are far too large go before old ones. */
  readonly cutsOversized: boolean;
}

const keepPreamble: PolicyRules = {
  fractions: [0.2, 0.4, 0.6],
  marginFraction: 0.1,
  usesEstimate: true,
  sparesPins: true,
  cutsOversized: false,
};

const policies: ReadonlyMap<string, PolicyRules> = new Map<RetryPolicy, PolicyRules>([
  ['oversized-first', { ...keepPreamble, cutsOversized: true }],
  ['keep-preamble', keepPreamble],
  [
    'literal',
    { fractions: [0.2], marginFraction: 0, usesEstimate: false, sparesPins: false, cutsOversized: false },
  ],
]);

/** @throws RoundfoldError `usage` for a policy that does not exist */
export function rulesOf(policy: RetryPolicy = 'oversized-first'): PolicyRules {
  const rules = policies.get(policy);
  if (rules !== undefined) return rules;
  throw new RoundfoldError('usage', `there is no retry policy ${String(policy)}`, {
    remedy: `Use one of ${[...policies.keys()].join(', ')}.`,
  });
}
