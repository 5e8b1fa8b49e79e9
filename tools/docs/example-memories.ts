import { anthropicMessages } from '../../src/formats/anthropic-messages/format.ts';
import { remember } from '../../src/memory/remember.ts';
import { createTokenEstimator } from '../../src/tokens/estimator.ts';
import { codingSession, serviceSession } from '../../test/fixtures/sessions/example-sessions.ts';

const sessions: ReadonlyMap<string, readonly unknown[]> = new Map([
  ['codingSession', codingSession],
  ['serviceSession', serviceSession],
]);
const EXAMPLE = /(`{3,})text memory=(\w+) tokens=(\d+)\n[\s\S]*?\n\1(?!`)/g;
const estimator = createTokenEstimator();

/** A page with the memories in it as they are written today. */
export async function withExampleMemories(page: string): Promise<string> {
  let written = page;
  for (const [block, fence = '', name = '', tokens = ''] of page.matchAll(EXAMPLE)) {
    const text = await memoryOf(sessions.get(name) ?? [], Number(tokens));
    written = written.replace(block, () => `${fence}text memory=${name} tokens=${tokens}\n${text}\n${fence}`);
  }
  return written;
}

async function memoryOf(list: readonly unknown[], maximumTokens: number): Promise<string> {
  const conversation = anthropicMessages.read(list);
  const outcome = await remember({
    // The newest two messages are the current turn, which stays as it is.
    messages: conversation.messages.slice(0, -2),
    conversation,
    previousSummary: undefined,
    instructions: undefined,
    maximumTokens,
    estimator,
    signal: undefined,
  });
  if (outcome.status === 'failed') throw new Error(outcome.message);
  return outcome.text;
}
