import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { loadExactCounter } from '../../src/tokens/exact-counter.ts';
import type { Counter } from './accuracy.ts';
import { median, threadMs } from './clock.ts';
import type { Goal } from './goals.ts';
import { createRandom, integer } from './seeded.ts';

const sizeChars = 1_000_000;
const runs = 3;
const base64Alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/** Unbroken runs that hang tokenizers; each a million characters. */
const hostileTexts: Readonly<Record<string, (seed: number) => string>> = {
  'one letter': () => 'a'.repeat(sizeChars),
  spaces: () => ' '.repeat(sizeChars),
  base64: (seed) => randomText(seed, (random) => base64Alphabet.charAt(integer(random, 0, 63))),
  'random Han': (seed) => randomText(seed, (random) => String.fromCharCode(integer(random, 0x4e00, 0x9fa5))),
  'random letters': (seed) => randomText(seed, (random) => String.fromCharCode(integer(random, 0x61, 0x7a))),
  'random symbols': (seed) =>
    randomText(seed, (random) => '!#$%&*+,-.:;<=>?@^_|~'.charAt(integer(random, 0, 20))),
  'slashes and line breaks': () => '/\n'.repeat(sizeChars / 2),
  'letters with marks': () => 'e\u0301'.repeat(sizeChars / 2),
  emoji: () => '\u{1f600}'.repeat(sizeChars / 2),
};

/** Goal T5: hostile runs end in time, and ordinary text counts as it does without the guard. */
export async function measureExactCounter(
  ordinary: readonly string[],
  prose: readonly string[],
): Promise<readonly Goal[]> {
  const count = await loadExactCounter('o200k');
  const proseCost = timePerText(count, () => prose) / prose.reduce((sum, text) => sum + text.length, 0);
  let slowestMs = 0;
  for (const [name, write] of Object.entries(hostileTexts)) {
    const spent = median(
      Array.from({ length: runs }, (_, run) => timePerText(count, () => [write(run + 1)])),
    );
    slowestMs = Math.max(slowestMs, spent);
    const ratio = spent / sizeChars / proseCost;
    console.log(
      `  ${name.padEnd(24)} ${spent.toFixed(0).padStart(5)} ms of processor time, ${ratio.toFixed(2)}x prose`,
    );
  }
  const deviating = ordinary.filter(
    (text) => count(text) !== countTokens(text, { disallowedSpecial: new Set() }),
  );
  return [
    { name: 'T5 slowest 1M characters', measured: slowestMs, bar: { atMost: 1000 }, unit: ' ms' },
    {
      name: 'T5 slowest against prose',
      measured: slowestMs / sizeChars / proseCost,
      bar: { atMost: 3 },
      unit: 'x',
    },
    {
      name: `T5 ordinary texts of ${ordinary.length} that count differently`,
      measured: deviating.length,
      bar: { atMost: 0 },
      unit: '',
    },
  ];
}

function timePerText(count: Counter, write: () => readonly string[]): number {
  const texts = write();
  const start = threadMs();
  for (const text of texts) count(text);
  return threadMs() - start;
}

function randomText(seed: number, write: (random: () => number) => string): string {
  const random = createRandom(seed);
  return Array.from({ length: sizeChars }, () => write(random)).join('');
}
