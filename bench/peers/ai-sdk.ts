import { assistantMessage, type ChatMessage, callsOf, groupResults, toolNames } from './chat.ts';
import type { Cutter, LoadModule, Peer } from './peer.ts';

/** What is used of `ai`. */
interface AiSdk {
  pruneMessages(options: object): readonly ModelMessage[];
}

interface Part {
  readonly type: string;
  readonly text?: string;
  readonly toolCallId?: string;
  readonly toolName?: string;
  readonly input?: unknown;
  readonly output?: { readonly type: string; readonly value: string };
}

interface ModelMessage {
  readonly role: string;
  readonly content: string | readonly Part[];
}

function toNative(messages: readonly ChatMessage[]): readonly ModelMessage[] {
  const names = toolNames(messages);
  return groupResults(messages).map((group): ModelMessage => {
    const [first] = group;
    if (first?.role === 'user') return { role: 'user', content: first.content ?? '' };
    if (first?.role === 'tool') {
      const results = group.map(({ tool_call_id: id = '', content }) => ({
        type: 'tool-result',
        toolCallId: id,
        toolName: names.get(id) ?? '',
        output: { type: 'text', value: content ?? '' },
      }));
      return { role: 'tool', content: results };
    }
    const calls = callsOf(first ?? { role: 'assistant' });
    return {
      role: 'assistant',
      content: [
        ...(first?.content ? [{ type: 'text', text: first.content }] : []),
        ...calls.map(({ id, name, input }) => ({ type: 'tool-call', toolCallId: id, toolName: name, input })),
      ],
    };
  });
}

function fromNative({ role, content }: ModelMessage): readonly ChatMessage[] {
  if (typeof content === 'string') return [{ role, content }];
  if (role === 'tool') {
    return content.map(({ toolCallId = '', output }) => ({
      role,
      content: output?.value ?? '',
      tool_call_id: toolCallId,
    }));
  }
  const calls = content.filter(({ type }) => type === 'tool-call');
  return [
    assistantMessage(
      content.map(({ text = '' }) => text).join(''),
      calls.map(({ toolCallId = '', toolName = '', input }) => ({ id: toolCallId, name: toolName, input })),
    ),
  ];
}

async function createCutter(load: LoadModule): Promise<Cutter<readonly ModelMessage[]>> {
  const library = (await load('ai')) as AiSdk; // its own types are not there where it is not installed
  return {
    toNative,
    cut: (native, share) =>
      library.pruneMessages({
        messages: native,
        toolCalls: `before-last-${Math.max(1, Math.round(native.length * share))}-messages`,
        emptyMessages: 'remove',
      }),
    fromNative: (native) => native.flatMap(fromNative),
  };
}

/** `pruneMessages` takes tool calls out of all but the last messages. It knows no budget. */
export const aiSdkPeer: Peer = {
  name: 'ai pruneMessages',
  package: 'ai',
  version: '7.0.169',
  keeps: 'tool calls of the last messages',
  use: async (load, measure) => measure(await createCutter(load)),
};
