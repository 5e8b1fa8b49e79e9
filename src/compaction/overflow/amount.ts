import type { OverflowFacts } from '../../formats/overflow/detect.ts';
import type { PolicyRules } from './policy.ts';

/** How much goes, in estimated tokens, or as a share of the rounds. */
export interface Amount {
  /** The request that was refused. */
  readonly estimatedTokens: number;
  /** By the provider's own numbers, with a margin. */
  readonly gapTokens: number | undefined;
  /** The same without the margin. */
  readonly excessTokens: number | undefined;
  /** By our estimate, where the provider gave no number. */
  readonly localGapTokens: number | undefined;
  readonly atLeastTokens: number;
  readonly fraction: number;
  /** What the request may have; undefined where nobody knows. */
  readonly limitTokens: number | undefined;
}

interface AmountOptions {
  readonly overflow?: OverflowFacts | undefined;
  readonly attempt?: number | undefined;
  readonly windowTokens?: number | undefined;
  readonly marginFraction?: number | undefined;
  readonly dropAtLeastTokens?: number | undefined;
}

/** Works out how much of a request of `estimatedTokens` has to go. */
export function amountToDrop(estimatedTokens: number, rules: PolicyRules, options: AmountOptions): Amount {
  const { overflow } = options;
  const attempt = Math.max(1, Math.floor(options.attempt ?? 1));
  const fraction = rules.fractions[attempt - 1] ?? rules.fractions.at(-1) ?? 0;
  const atLeastTokens = rules.usesEstimate ? (options.dropAtLeastTokens ?? 0) : 0;
  const common = { estimatedTokens, atLeastTokens, fraction };
  const statedExcess = overflow?.excessTokens ?? 0;
  if (statedExcess > 0) {
    const excessTokens = statedExcess * (rules.usesEstimate ? scaleOf(estimatedTokens, overflow) : 1);
    const limitTokens = Math.max(0, estimatedTokens - excessTokens);
    // A share of a large excess could be most of what may stay.
    const marginOf = Math.min(excessTokens, limitTokens);
    const gapTokens = excessTokens + marginOf * (options.marginFraction ?? rules.marginFraction);
    return { ...common, gapTokens, excessTokens, localGapTokens: undefined, limitTokens };
  }
  const stated = rules.usesEstimate ? (overflow?.limitTokens ?? options.windowTokens) : undefined;
  const limitTokens = stated === undefined ? undefined : stated - (overflow?.requestedOutputTokens ?? 0);
  const localGap = limitTokens === undefined ? 0 : estimatedTokens - limitTokens;
  const localGapTokens = localGap > 0 ? localGap : undefined;
  return { ...common, gapTokens: undefined, excessTokens: undefined, localGapTokens, limitTokens };
}

/** The excess is in the provider's tokens, what is dropped in ours. */
function scaleOf(estimatedTokens: number, overflow: OverflowFacts | undefined): number {
  const { actualTokens = 0, countIsLowerBound } = overflow ?? {};
  return actualTokens > 0 && countIsLowerBound !== true ? estimatedTokens / actualTokens : 1;
}
