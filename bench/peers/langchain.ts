import { assistantMessage, type ChatMessage, callsOf } from './chat.ts';
import type { Cutter, LoadModule, Peer } from './peer.ts';

/** What is used of `@langchain/core/messages`. */
interface LangChainMessages {
  readonly HumanMessage: new (content: string) => NativeMessage;
  readonly AIMessage: new (fields: object) => NativeMessage;
  readonly ToolMessage: new (fields: object) => NativeMessage;
  trimMessages(messages: readonly NativeMessage[], options: object): Promise<readonly NativeMessage[]>;
}

interface NativeMessage {
  readonly type: string;
  readonly content: string;
  readonly tool_call_id?: string;
  readonly tool_calls?: readonly { readonly id: string; readonly name: string; readonly args: unknown }[];
}

function toNative(library: LangChainMessages, message: ChatMessage): NativeMessage {
  const content = message.content ?? '';
  if (message.role === 'user') return new library.HumanMessage(content);
  if (message.role === 'tool')
    return new library.ToolMessage({ content, tool_call_id: message.tool_call_id ?? '' });
  const calls = callsOf(message).map(({ id, name, input }) => ({ type: 'tool_call', id, name, args: input }));
  return new library.AIMessage({ content, tool_calls: calls });
}

function fromNative({ type, content, tool_calls: calls = [], tool_call_id: id }: NativeMessage): ChatMessage {
  if (type === 'human') return { role: 'user', content };
  if (type === 'tool') return { role: 'tool', content, tool_call_id: id ?? '' };
  return assistantMessage(
    content,
    calls.map((call) => ({ id: call.id, name: call.name, input: call.args })),
  );
}

/** A quarter of the characters, as `trimMessages` needs a counter and comes without one. */
function count(messages: readonly NativeMessage[]): number {
  let characters = 0;
  for (const { content, tool_calls: calls = [] } of messages) {
    characters += content.length;
    for (const { name, args } of calls) characters += name.length + JSON.stringify(args).length;
  }
  return Math.ceil(characters / 4);
}

async function createCutter(load: LoadModule, options: object): Promise<Cutter<readonly NativeMessage[]>> {
  // The package's own types are not there where it is not installed.
  const library = (await load('@langchain/core/messages')) as LangChainMessages;
  return {
    toNative: (messages) => messages.map((message) => toNative(library, message)),
    cut: (native, share) =>
      library.trimMessages(native, {
        maxTokens: Math.floor(count(native) * share),
        tokenCounter: count,
        ...options,
      }),
    fromNative: (native) => native.map(fromNative),
  };
}

function defineArm(name: string, options: object): Peer {
  return {
    name,
    package: '@langchain/core',
    version: '1.2.13',
    keeps: 'tokens',
    use: async (load, measure) => measure(await createCutter(load, options)),
  };
}

/** `trimMessages` as it is, and with the options that its documentation gives for tool calls. */
export const langchainPeers: readonly Peer[] = [
  defineArm('langchain trimMessages', {}),
  defineArm('langchain trimMessages, startOn human', { startOn: 'human', endOn: ['human', 'tool'] }),
];
