import type { OverflowKind } from './overflow.ts';

/** The numbers a wording can state. They are also the names of the capturing groups in its pattern. */
export interface WordingNumbers {
  /** Tokens of the prompt. */
  readonly actual?: number | undefined;
  readonly limit?: number | undefined;
  /** Tokens of output that the request asked for. */
  readonly output?: number | undefined;
  /** Prompt and output together. */
  readonly total?: number | undefined;
  /** Tokens above the limit. */
  readonly excess?: number | undefined;
}

/** One way in which a provider says that a request is too large. */
export interface Wording {
  readonly provider: string;
  /** Default `prompt-too-long`; becomes `output-too-large` when the numbers say that the prompt alone would fit. */
  readonly kind?: Exclude<OverflowKind, 'output-too-large' | 'soft'> | undefined;
  readonly pattern: RegExp;
  /** A message as it was seen, and what is to be read from it. */
  readonly example: string;
  readonly numbers: WordingNumbers;
  /** The stated prompt size is where the server stopped counting, not the size. A group `atLeast` says the same. */
  readonly isLowerBound?: true | undefined;
  /** Accepted with this HTTP status although the status normally rules an overflow out. */
  readonly status?: number | undefined;
}

// Bounded on purpose: more than 12 digits is no token count, and a longer run of digits must not match in part.
// A space between groups of three stands for the thin and no-break spaces too, which `normaliseText` turns into it.
const number = String.raw`(?:\d{1,3}(?:[,_' ]\d{3}){1,3}|\d{1,12})(?!\d)`;

/**
 * Tag for patterns over normalised text (see `normaliseText`): case is ignored, `{actual}`, `{limit}`, `{output}`,
 * `{total}` and `{excess}` capture a number with or without thousands separators, `{number}` matches without capturing.
 */
export function pattern({ raw }: TemplateStringsArray): RegExp {
  const source = raw
    .join('')
    .replaceAll(/\{([a-z]+)\}/g, (_, name: string) => (name === 'number' ? number : `(?<${name}>${number})`));
  return new RegExp(source, 'iu');
}

/** The numbers that a match of a wording's pattern captured. */
export function capturedNumbers(match: RegExpExecArray): WordingNumbers {
  const groups = match.groups ?? {};
  return {
    actual: toCount(groups['actual']),
    limit: toCount(groups['limit']),
    output: toCount(groups['output']),
    total: toCount(groups['total']),
    excess: toCount(groups['excess']),
  };
}

function toCount(digits: string | undefined): number | undefined {
  return digits === undefined ? undefined : Number(digits.replaceAll(/\D/g, ''));
}
