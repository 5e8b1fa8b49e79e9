import type { AdviceReason, CompactionAdvice } from './advice.ts';

/** The advice in a few plain sentences: what to do and why, what it costs now, and when it has paid. */
export function explainAdvice(advice: CompactionAdvice): string {
  return [whatAndWhy(advice), costSentence(advice), breakEvenSentence(advice)]
    .filter((sentence) => sentence !== '')
    .join(' ');
}

const verdicts = { 'compact-now': 'Compact now', wait: 'Wait', never: 'Do not compact' } as const;

const reasons: Readonly<Record<AdviceReason, (advice: CompactionAdvice) => string>> = {
  'window-full': () => 'the request does not fit the window any more',
  'cache-expired': () =>
    'the prompt cache has expired, so that everything is sent at full price anyway, and less of it is cheaper',
  'price-step': () => 'the prompt gets below the price step for long prompts',
  'cheaper-at-once': () => 'writing the shorter prompt costs less than reading the longer one',
  'paid-from-savings': ({ spendable }) =>
    `it will probably pay, and costs no more than the ${usd(spendable)} that compactions have saved so far`,
  'worth-the-stake': ({ spendable }) =>
    `it will probably pay, and the ${usd(spendable)} that may be staked cover it if it does not`,
  'batch-too-small': () => 'too little would go; later, more can go for the price of one rewrite',
  'cache-minimum': () => 'so little would go, or be left, that cached reads could be lost',
  'pays-too-late': () => 'it would pay too late to count on the conversation going on so long',
  'mid-task': () =>
    'it would pay, but not soon enough to interrupt a task; ask again at the next text of the user',
  'not-covered': ({ spendable }) =>
    `it would probably pay, but if the conversation ended before, it would have cost more than no compaction; ${
      spendable > 0 ? `only ${usd(spendable)} has been saved so far` : 'nothing has been saved so far'
    }. A pause that lets the cache expire makes it free`,
  'saves-nothing': () => 'nothing would become smaller',
  'never-pays': () => 'it costs more than later turns can save',
};

function whatAndWhy(advice: CompactionAdvice): string {
  return `${verdicts[advice.verdict]}: ${reasons[advice.reason](advice)}.`;
}

function costSentence({ quote }: CompactionAdvice): string {
  const { promptTokens, promptTokensAfter, removedTokens, keepCost, rewriteCost } = quote;
  if (!(removedTokens > 0)) return '';
  const sizes = `${tokens(promptTokens)} to ${tokens(promptTokensAfter)} tokens`;
  return `From ${sizes}, the next request costs ${usd(rewriteCost)} instead of ${usd(keepCost)}.`;
}

function breakEvenSentence({ quote, expectedTurns }: CompactionAdvice): string {
  const { breakEvenTurns, savedPerTurn, extraCost, removedTokens } = quote;
  if (!(removedTokens > 0)) return '';
  const saving = `Each turn after that saves ${usd(savedPerTurn)} or more`;
  if (extraCost <= 0) return `${saving}.`;
  if (breakEvenTurns === Number.POSITIVE_INFINITY) return '';
  const turns = Math.ceil(breakEvenTurns);
  const expected = Math.round(expectedTurns);
  return `${saving}, so it has paid after ${count(turns, 'turn')}; about ${expected} more ${
    expected === 1 ? 'is' : 'are'
  } expected.`;
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

function tokens(number: number): string {
  return number < 10_000 ? String(Math.round(number)) : `${Math.round(number / 1000)}k`;
}

/** Three digits that count, since prices of a turn go from cents to fractions of a thousandth. */
function usd(amount: number): string {
  const digits = Math.abs(amount) >= 1 ? amount.toFixed(2) : String(Number(amount.toPrecision(2)));
  return `$${digits.includes('e') ? amount.toFixed(7) : digits}`;
}
