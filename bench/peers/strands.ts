import { assistantMessage, type ChatMessage, callsOf, groupResults } from './chat.ts';
import type { Cutter, LoadModule, Peer } from './peer.ts';

/** What is used of `@strands-agents/sdk`. */
interface Strands {
  readonly Message: new (fields: object) => StrandsMessage;
  readonly TextBlock: new (text: string) => StrandsBlock;
  readonly ToolUseBlock: new (fields: object) => StrandsBlock;
  readonly ToolResultBlock: new (fields: object) => StrandsBlock;
  readonly SlidingWindowConversationManager: new (
    fields: object,
  ) => { reduce(options: { readonly agent: { messages: StrandsMessage[] } }): boolean | Promise<boolean> };
}

interface StrandsBlock {
  readonly type: string;
  readonly text?: string;
  readonly name?: string;
  readonly toolUseId?: string;
  readonly input?: unknown;
  readonly content?: readonly StrandsBlock[];
}

interface StrandsMessage {
  readonly role: string;
  readonly content: readonly StrandsBlock[];
}

function toNative(library: Strands, group: readonly ChatMessage[]): StrandsMessage {
  const { Message, TextBlock, ToolUseBlock, ToolResultBlock } = library;
  const [first] = group;
  if (first?.role === 'tool') {
    const content = group.map(
      ({ tool_call_id: id, content: text }) =>
        new ToolResultBlock({ toolUseId: id, status: 'success', content: [new TextBlock(text ?? '')] }),
    );
    return new Message({ role: 'user', content });
  }
  const text = first?.content ? [new TextBlock(first.content)] : [];
  const calls = callsOf(first ?? { role: 'user' }).map(
    ({ id, name, input }) => new ToolUseBlock({ toolUseId: id, name, input }),
  );
  return new Message({ role: first?.role, content: [...text, ...calls] });
}

function fromNative({ role, content }: StrandsMessage): readonly ChatMessage[] {
  const text = content.map(({ text: own = '' }) => own).join('');
  if (role === 'assistant') {
    const calls = content.filter(({ type }) => type === 'toolUseBlock');
    return [
      assistantMessage(
        text,
        calls.map(({ toolUseId = '', name = '', input }) => ({ id: toolUseId, name, input })),
      ),
    ];
  }
  const results = content.filter(({ type }) => type === 'toolResultBlock');
  return [
    ...results.map(({ toolUseId = '', content: inner = [] }) => ({
      role: 'tool',
      tool_call_id: toolUseId,
      content: inner.map(({ text: own = '' }) => own).join(''),
    })),
    ...(text === '' ? [] : [{ role: 'user', content: text }]),
  ];
}

async function createCutter(load: LoadModule): Promise<Cutter<readonly StrandsMessage[]>> {
  const library = (await load('@strands-agents/sdk')) as Strands; // its own types are not there where it is not installed
  return {
    toNative: (messages) => groupResults(messages).map((group) => toNative(library, group)),
    async cut(native, share) {
      const windowSize = Math.max(2, Math.round(native.length * share));
      const agent = { messages: [...native] };
      await new library.SlidingWindowConversationManager({ windowSize }).reduce({ agent });
      return agent.messages;
    },
    fromNative: (native) => native.flatMap(fromNative),
  };
}

/** The sliding window over messages. It counts messages, not tokens. */
export const strandsPeer: Peer = {
  name: 'strands SlidingWindow',
  package: '@strands-agents/sdk',
  version: '1.19.0',
  keeps: 'messages',
  use: async (load, measure) => measure(await createCutter(load)),
};
