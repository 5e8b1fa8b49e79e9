import type { Conversation } from '../../src/conversation/format.ts';
import { hasToolResult, isUserText, type Message } from '../../src/conversation/message.ts';
import { groupRounds } from '../../src/conversation/rounds.ts';
import { createTokenEstimator } from '../../src/tokens/estimator.ts';
import { fileSource } from '../../src/transcripts/input/source.ts';
import { readRecordings } from '../../src/transcripts/recordings.ts';
import type { Segment } from '../../src/transcripts/transcript.ts';
import { corpusFiles, corpusPath } from './corpus.ts';
import type { CostTurn } from './cost-sessions.ts';

/** Instructions and tools, which recordings do not contain. */
const HEAD_TOKENS = 15_000;

const agents = ['claude-code/', 'codex-rollout/', 'pi-session/'];

/** The recorded agent sessions with times, as costs: each stretch between two compactions of its harness is one. */
export async function readCostSessions(): Promise<readonly (readonly CostTurn[])[]> {
  const sessions: (readonly CostTurn[])[] = [];
  for (const { file } of corpusFiles().filter(({ file }) => agents.some((name) => file.startsWith(name)))) {
    for await (const { conversations, transcript } of readRecordings(await fileSource(corpusPath(file)))) {
      if (transcript.kind !== 'main') continue;
      for (const [index, segment] of transcript.segments.entries()) {
        const conversation = conversations[index];
        if (conversation !== undefined) sessions.push(toTurns(conversation, segment));
      }
    }
  }
  return sessions.filter((turns) => turns.length >= 5);
}

const estimator = createTokenEstimator();

/** One turn for each response: what came before it since the last one. */
function toTurns({ messages }: Conversation, { origins }: Segment): readonly CostTurn[] {
  const turns: CostTurn[] = [];
  let from = 0;
  let atSeconds = 0;
  for (const { kind, start } of groupRounds(messages)) {
    if (kind !== 'response') continue;
    const added = messages.slice(from, start).map((message, index) => toSegment(message, from + index));
    const head = { id: 'head', tokens: HEAD_TOKENS };
    const seconds = Date.parse(origins[start - 1]?.timestamp ?? '') / 1000;
    // What has no time was sent at once, and no clock goes back.
    atSeconds = Math.max(atSeconds, Number.isNaN(seconds) ? 0 : seconds);
    const [response, last] = [messages[start], messages[start - 1]];
    turns.push({
      added: turns.length === 0 ? [head, ...added] : added,
      atSeconds,
      outputTokens: response === undefined ? 0 : estimator.countMessage(response),
      isTaskBoundary: last !== undefined && isUserText(last),
    });
    from = start;
  }
  return turns;
}

function toSegment(message: Message, index: number): CostTurn['added'][number] {
  const kind = hasToolResult(message) ? 'result' : 'other';
  return { id: `${kind} ${index}`, tokens: Math.round(estimator.countMessage(message)) };
}
