import type { ChatMessage } from './chat.ts';
import type { Cutter, LoadModule, Peer } from './peer.ts';

/** What is used of `@llmtrim/js`. */
interface Llmtrim {
  compress(body: string, provider: string, preset: string): { readonly request_json: string };
}

async function createCutter(load: LoadModule, preset: string): Promise<Cutter<readonly ChatMessage[]>> {
  const library = (await load('@llmtrim/js')) as Llmtrim; // its own types are not there where it is not installed
  return {
    takesNoBudget: true,
    toNative: (messages) => messages,
    cut(messages) {
      const { request_json: body } = library.compress(JSON.stringify({ messages }), 'openai', preset);
      return (JSON.parse(body) as { messages: readonly ChatMessage[] }).messages; // a body as it was given one
    },
    fromNative: (messages) => messages,
  };
}

/** Shortens texts where they stand, by presets; it takes no budget and drops no message. */
export const llmtrimPeers: readonly Peer[] = ['agent', 'aggressive'].map((preset) => ({
  name: `llmtrim ${preset}`,
  package: '@llmtrim/js',
  version: '0.13.4',
  keeps: 'every message, shorter',
  use: async (load, measure) => measure(await createCutter(load, preset)),
}));
