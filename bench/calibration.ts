/**
 * How many tokens each family of models counts for one estimated o200k token, from the usage that recorded sessions
 * report, and how far the whole context is off once one response's usage is known. Reads the corpus that
 * ROUNDFOLD_CORPUS names.
 */

import type { Conversation } from '../src/conversation/format.ts';
import type { Message } from '../src/conversation/message.ts';
import { createTokenEstimator, type TokenEstimator } from '../src/tokens/estimator.ts';
import { measureContext } from '../src/tokens/measure.ts';
import { tokenProfileForModel } from '../src/tokens/profiles.ts';
import { fileSource } from '../src/transcripts/input/source.ts';
import { readRecordings } from '../src/transcripts/recordings.ts';
import { corpusFiles, corpusIsMissing, corpusPath } from '../test/support/corpus.ts';
import { median, printGoals } from './timing.ts';

/** Growth of the prompt between two responses that both report it, and what was estimated for what came between. */
interface Growth {
  readonly reported: number;
  readonly estimated: number;
}

/** Steps smaller than this say more about rounding than about the ratio. */
const SMALLEST_STEP = 300;

function growths(messages: readonly Message[], estimator: TokenEstimator): readonly Growth[] {
  const found: Growth[] = [];
  let last: number | undefined;
  let estimated = 0;
  for (const message of messages) {
    const prompt = message.usage?.promptTokens ?? 0;
    if (prompt > 0) {
      if (last !== undefined && estimated >= SMALLEST_STEP && prompt > last)
        found.push({ reported: prompt - last, estimated });
      last = prompt;
      estimated = 0;
    }
    estimated += estimator.countMessage(message);
  }
  return found;
}

/** For each response but the first: the context predicted from everything before it against what it reported. */
function predictionErrors(conversation: Conversation, estimator: TokenEstimator): readonly number[] {
  const { messages } = conversation;
  const errors: number[] = [];
  let seen = 0;
  for (const [index, message] of messages.entries()) {
    const prompt = message.usage?.promptTokens ?? 0;
    if (prompt === 0) continue;
    if (seen > 0) {
      const { tokens } = measureContext({ ...conversation, messages: messages.slice(0, index) }, estimator);
      errors.push(Math.abs(tokens - prompt) / prompt);
    }
    seen++;
  }
  return errors;
}

const files = corpusFiles().filter(({ file }) => /claude-code|codex-rollout|pi-session/.test(file));
if (files.length === 0) {
  console.log(`skipped: ${corpusIsMissing}`);
  process.exit(0);
}

const ratios = new Map<string, number[]>();
const errors: number[] = [];
for (const { file } of files) {
  for await (const { transcript, conversations } of readRecordings(await fileSource(corpusPath(file)))) {
    for (const conversation of conversations) {
      const plain = createTokenEstimator();
      const steps = growths(conversation.messages, plain).map(
        ({ reported, estimated }) => reported / estimated,
      );
      const model = transcript.model ?? 'unknown';
      ratios.set(model, [...(ratios.get(model) ?? []), ...steps]);
      const estimator = createTokenEstimator({ profile: tokenProfileForModel(model) });
      errors.push(...predictionErrors(conversation, estimator));
    }
  }
}

for (const [model, steps] of ratios) {
  const sorted = steps.toSorted((left, right) => left - right);
  const at = (share: number) => (sorted[Math.floor(share * (sorted.length - 1))] ?? Number.NaN).toFixed(2);
  console.log(
    `${model}: ${steps.length} steps, ratio p10 ${at(0.1)}, median ${at(0.5)}, p90 ${at(0.9)}; profile ${tokenProfileForModel(model).textRatio.toFixed(2)}`,
  );
}

const mean = errors.reduce((sum, error) => sum + error, 0) / errors.length;
const sorted = errors.toSorted((left, right) => left - right);
console.log(
  `${errors.length} predictions, median error ${(median(errors) * 100).toFixed(2)} %, p95 ${((sorted[Math.floor(errors.length * 0.95)] ?? 0) * 100).toFixed(2)} %`,
);
process.exitCode = printGoals([
  { name: 'whole context once a usage is known, mean error in %', measured: mean * 100, atMost: 1 },
])
  ? 0
  : 1;
