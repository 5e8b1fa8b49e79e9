import { findFormat } from '../../src/formats/registry.ts';
import { createTokenEstimator } from '../../src/tokens/estimator.ts';
import { assistantMessage, type ChatMessage, callsOf } from './chat.ts';
import type { LoadModule } from './peer.ts';

/** What is used of `@langchain/core/messages`. */
interface LangChainMessages {
  readonly HumanMessage: new (content: string) => NativeMessage;
  readonly AIMessage: new (fields: object) => NativeMessage;
  readonly ToolMessage: new (fields: object) => NativeMessage;
  trimMessages(messages: readonly NativeMessage[], options: object): Promise<readonly NativeMessage[]>;
}

/** A message of LangChain, as far as it is used here. */
export interface NativeMessage {
  readonly type: string;
  readonly content: string;
  readonly tool_call_id?: string;
  readonly tool_calls?: readonly { readonly id: string; readonly name: string; readonly args: unknown }[];
}

/** Loads the messages that every package of LangChain works on. */
export async function loadMessages(load: LoadModule): Promise<LangChainMessages> {
  // The package's own types are not there where it is not installed.
  return (await load('@langchain/core/messages')) as LangChainMessages;
}

/** A message of OpenAI Chat as one of LangChain. */
export function toNative(library: LangChainMessages, message: ChatMessage): NativeMessage {
  const content = message.content ?? '';
  if (message.role === 'user') return new library.HumanMessage(content);
  if (message.role === 'tool')
    return new library.ToolMessage({ content, tool_call_id: message.tool_call_id ?? '' });
  const calls = callsOf(message).map(({ id, name, input }) => ({ type: 'tool_call', id, name, args: input }));
  return new library.AIMessage({ content, tool_calls: calls });
}

/** The way back. */
export function fromNative({
  type,
  content,
  tool_calls: calls = [],
  tool_call_id: id,
}: NativeMessage): ChatMessage {
  if (type === 'human') return { role: 'user', content };
  if (type === 'tool') return { role: 'tool', content, tool_call_id: id ?? '' };
  return assistantMessage(
    content,
    calls.map((call) => ({ id: call.id, name: call.name, input: call.args })),
  );
}

/** Counts with our own estimator, each message once: the middlewares count the same list again and again. */
export function createNativeCounter(): (messages: readonly NativeMessage[]) => number {
  const format = findFormat('openai-chat')!;
  const estimator = createTokenEstimator();
  const sizes = new WeakMap<NativeMessage, number>();
  const sizeOf = (message: NativeMessage): number => {
    const size = sizes.get(message) ?? estimator.countMessage(format.readMessage(fromNative(message)));
    sizes.set(message, size);
    return size;
  };
  return (messages) => {
    let tokens = 0;
    for (const message of messages) tokens += sizeOf(message);
    return Math.ceil(tokens);
  };
}
