/**
 * The same as `checkpoint.ts` for recorded sessions, each as a client would send it, with every call answered, and as often
 * one behind the other as it takes to about a million tokens. No goals: every session is another one.
 */

import type { Conversation } from '../src/conversation/format.ts';
import { ensureToolResultPairing } from '../src/conversation/pairing.ts';
import { fileSource } from '../src/transcripts/input/source.ts';
import { readRecordings } from '../src/transcripts/recordings.ts';
import { corpusFiles, corpusIsMissing, corpusPath } from '../test/support/corpus.ts';
import { checkpointCosts } from './checkpoint-costs.ts';
import { median } from './timing.ts';

const CHARACTERS_PER_MILLION_TOKENS = 4_600_000;
const FEWEST_MESSAGES = 10;
const ROUNDS = 30;

/** The longest conversation of a file, as a client would send it. */
async function longestOf(file: string): Promise<Conversation | undefined> {
  const found: Conversation[] = [];
  for await (const { conversations } of readRecordings(await fileSource(corpusPath(file))))
    found.push(...conversations.map((conversation) => ensureToolResultPairing(conversation)));
  return found.toSorted((left, right) => right.messages.length - left.messages.length)[0];
}

const files = corpusFiles().filter(({ file }) => file.startsWith('claude-code/'));
if (files.length === 0) console.log(`skipped: ${corpusIsMissing}`);
const ratios: number[] = [];
for (const { file } of files) {
  const conversation = await longestOf(file);
  if (conversation === undefined || conversation.messages.length < FEWEST_MESSAGES) continue;
  const messages = conversation.messages.map(({ raw }) => raw);
  const times = Math.ceil(CHARACTERS_PER_MILLION_TOKENS / JSON.stringify(messages).length);
  const body = { messages: Array.from({ length: times }, () => messages).flat() };
  const { parseMs, freshMs } = await checkpointCosts({
    format: conversation.format,
    body,
    more: messages,
    rounds: ROUNDS,
  });
  ratios.push(freshMs / parseMs);
  console.log(
    `${file}, ${times} times: JSON.parse ${parseMs.toFixed(1)} ms, chain + find + view ${freshMs.toFixed(1)} ms, ratio ${(freshMs / parseMs).toFixed(2)}`,
  );
}
if (ratios.length > 0) {
  const isBelow = ratios.filter((ratio) => ratio <= 1);
  console.log(`${isBelow.length} of ${ratios.length} at most 1, median ${median(ratios).toFixed(2)}`);
}
