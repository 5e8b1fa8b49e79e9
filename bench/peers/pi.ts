import { type ChatMessage, callsOf, quarterTokens, toolNames } from './chat.ts';
import type { Cutter, LoadModule, Peer } from './peer.ts';

/** What is used of `@earendil-works/pi-agent-core`. */
interface Pi {
  findCutPoint(
    entries: readonly Entry[],
    start: number,
    end: number,
    keepRecentTokens: number,
  ): { readonly firstKeptEntryIndex: number };
}

interface Entry {
  readonly type: 'message';
  readonly id: string;
  readonly parentId: string | null;
  readonly timestamp: string;
  readonly message: object;
}

interface Session {
  readonly entries: readonly Entry[];
  readonly messages: readonly ChatMessage[];
}

const SUMMARY: ChatMessage = { role: 'user', content: 'Summary of the conversation so far: work was done.' };

function toMessage(message: ChatMessage, names: ReadonlyMap<string, string>): object {
  const text = message.content ? [{ type: 'text', text: message.content }] : [];
  if (message.role === 'user') return { role: 'user', content: text, timestamp: 0 };
  if (message.role === 'tool') {
    const id = message.tool_call_id ?? '';
    const toolName = names.get(id) ?? '';
    return { role: 'toolResult', toolCallId: id, toolName, content: text, isError: false, timestamp: 0 };
  }
  const calls = callsOf(message).map(({ id, name, input }) => ({
    type: 'toolCall',
    id,
    name,
    arguments: input,
  }));
  return { role: 'assistant', content: [...text, ...calls], stopReason: 'stop', timestamp: 0 };
}

function toSession(messages: readonly ChatMessage[]): Session {
  const names = toolNames(messages);
  const entries = messages.map(
    (message, index): Entry => ({
      type: 'message',
      id: `entry-${index}`,
      parentId: index === 0 ? null : `entry-${index - 1}`,
      timestamp: new Date(0).toISOString(),
      message: toMessage(message, names),
    }),
  );
  return { entries, messages };
}

async function createCutter(load: LoadModule): Promise<Cutter<Session>> {
  const library = (await load('@earendil-works/pi-agent-core')) as Pi; // its own types are not there where it is not installed
  return {
    toNative: toSession,
    cut({ entries, messages }, share) {
      const keepTokens = Math.floor(quarterTokens(messages) * share);
      const { firstKeptEntryIndex: first } = library.findCutPoint(entries, 0, entries.length, keepTokens);
      // In front of what is kept stands a summary; a stub does for it, since only the structure is measured.
      return first === 0
        ? { entries, messages }
        : { entries: entries.slice(first), messages: [SUMMARY, ...messages.slice(first)] };
    },
    fromNative: ({ messages }) => messages,
  };
}

/** Where pi cuts, with a stub for the summary that a model would write. It keeps at least so many tokens. */
export const piPeer: Peer = {
  name: 'pi findCutPoint',
  package: '@earendil-works/pi-agent-core',
  // The newest release whose own dependencies can all be installed.
  version: '0.74.2',
  keeps: 'at least so many tokens',
  use: async (load, measure) => measure(await createCutter(load)),
};
