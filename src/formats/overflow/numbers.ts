import type { Overflow } from './overflow.ts';
import type { WordingNumbers } from './wording.ts';

/** The numbers of an overflow, as far as they are stated or follow from each other. */
export type OverflowNumbers = Pick<
  Overflow,
  | 'actualTokens'
  | 'limitTokens'
  | 'requestedOutputTokens'
  | 'totalTokens'
  | 'excessTokens'
  | 'countIsLowerBound'
>;

// Where a server counts only up to the limit, a reservation above this share of the window is taken for the cause.
const oversizedOutputShare = 0.25;

/** Completes what a provider stated: prompt = total - output, total = prompt + output, excess = the larger - limit. */
export function completeNumbers(stated: WordingNumbers, isLowerBound: boolean): OverflowNumbers {
  const { output, total } = stated;
  const limitTokens = positive(stated.limit);
  const actualTokens = stated.actual ?? difference(total, output);
  const totalTokens = total ?? sum(actualTokens, output);
  const largest = Math.max(actualTokens ?? 0, totalTokens ?? 0);
  const gap = limitTokens === undefined || isLowerBound ? undefined : largest - limitTokens;
  return {
    actualTokens,
    limitTokens,
    requestedOutputTokens: output,
    totalTokens,
    excessTokens: positive(stated.excess) ?? positive(gap),
    countIsLowerBound: isLowerBound ? true : undefined,
  };
}

/** Whether lowering the output limit is the cure: the prompt fits, prompt and output together do not. */
export function isOutputTheCause(numbers: OverflowNumbers): boolean {
  const { actualTokens, limitTokens, requestedOutputTokens = 0, totalTokens = 0 } = numbers;
  if (limitTokens === undefined) return false;
  if (numbers.countIsLowerBound) return requestedOutputTokens > limitTokens * oversizedOutputShare;
  return actualTokens !== undefined && actualTokens < limitTokens && limitTokens < totalTokens;
}

function positive(value: number | undefined): number | undefined {
  return value !== undefined && value > 0 ? value : undefined;
}

function sum(left: number | undefined, right: number | undefined): number | undefined {
  return left === undefined || right === undefined ? undefined : left + right;
}

function difference(left: number | undefined, right: number | undefined): number | undefined {
  return left === undefined || right === undefined || left < right ? undefined : left - right;
}
