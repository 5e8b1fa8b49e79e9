import type { Message } from '../../src/conversation/message.ts';
import { anthropicMessages } from '../../src/formats/anthropic-messages/format.ts';
import type { Cut } from '../../src/lab/trajectory.ts';
import { createTokenEstimator } from '../../src/tokens/estimator.ts';

/** What the user writes, for tests. */
export function user(text: string): Message {
  return anthropicMessages.readMessage({ role: 'user', content: text });
}

/** What the model says, for tests. */
export function said(text: string): Message {
  return anthropicMessages.readMessage({ role: 'assistant', content: [{ type: 'text', text }] });
}

/** A call and its result, for tests. */
export function tool(name: string, input: object, result: string): readonly Message[] {
  const id = `toolu_${name}_${JSON.stringify(input).length}_${result.length}`;
  return [
    { role: 'assistant', content: [{ type: 'tool_use', id, name, input }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: result }] },
  ].map((raw) => anthropicMessages.readMessage(raw));
}

/** A cut between these messages, for tests. */
export function cutBetween(prefix: readonly Message[], future: readonly Message[]): Cut {
  const conversation = anthropicMessages.read({ messages: prefix.map(({ raw }) => raw) });
  return {
    session: 'example',
    title: 'main',
    stretch: 0,
    prefix: conversation,
    prefixTokens: createTokenEstimator().countMessages(conversation.messages),
    instructionTokens: 0,
    future,
    share: 0.5,
    openingSummary: undefined,
  };
}
