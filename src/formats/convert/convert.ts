import { RoundfoldError } from '../../conversation/errors.ts';
import type { Conversation } from '../../conversation/format.ts';
import { isObject } from '../../conversation/json.ts';
import { ChangeLog, type ConversionChange } from './changes.ts';
import { LegalNameMap } from './legal-names.ts';
import type { Target } from './target.ts';
import { toAnthropicMessages } from './to-anthropic.ts';
import { toOpenaiChat } from './to-chat.ts';
import { toGemini } from './to-gemini.ts';
import { toOpenaiResponses } from './to-responses.ts';
import { toTurns } from './to-turns.ts';
import type { Turn } from './turn.ts';
import { toTurnFrame } from './turn-frame.ts';

const targets: readonly Target[] = [toAnthropicMessages, toOpenaiChat, toOpenaiResponses, toGemini];

/** Names of the formats that a conversation can be converted to. */
export const conversionTargets: readonly string[] = targets.map(({ format }) => format.name);

/** Longest name of a tool that every target takes. */
const MAX_NAME_LENGTH = 64;

export interface Conversion {
  readonly conversation: Conversation;
  /** What the target could not take as it was; empty when everything was carried over. */
  readonly changes: readonly ConversionChange[];
}

/**
 * The conversation in another wire format. Roles, texts, tool calls and results are kept, and media where the target has
 * a place for it; reasoning, which only its own provider takes back, is left out. A request body gives a request body, a
 * list of messages a list, unless there are instructions that the target has no place for in a list. The very same
 * conversation when it is in that format already.
 * @throws RoundfoldError `usage` when there is no such target
 */
export function convertConversation(conversation: Conversation, formatName: string): Conversion {
  if (conversation.format.name === formatName) return { conversation, changes: [] };
  const target = targets.find(({ format }) => format.name === formatName);
  if (target === undefined) {
    throw new RoundfoldError('usage', `nothing can be converted to ${JSON.stringify(formatName)}`, {
      remedy: `Known: ${conversionTargets.join(', ')}.`,
    });
  }
  const changes = new ChangeLog();
  const names = new LegalNameMap(MAX_NAME_LENGTH, 'unnamed');
  const { turns, instructions } = toTurns(conversation.messages, { target, names, changes });
  const frame = toTurnFrame(conversation, instructions, { names, changes });
  const opening: readonly Turn[] = target.listTakesInstructions
    ? frame.instructions.map((text) => ({ role: 'system', parts: [{ type: 'text', text }] }))
    : [];
  const list = [...opening, ...turns].flatMap((turn) => target.writeTurn(turn));
  const isRequest = isObject(conversation.frame.body);
  const needsRequest = frame.instructions.length > 0 && !target.listTakesInstructions;
  if (!isRequest && needsRequest)
    changes.add('list of messages', 'wrapped in a body that holds the instructions');
  const body = isRequest || needsRequest ? target.writeBody(list, frame) : list;
  return { conversation: target.format.read(body), changes: changes.list() };
}
