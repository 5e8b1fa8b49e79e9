import { fromNative, loadMessages, type NativeMessage, toNative } from './langchain-messages.ts';
import type { Cutter, LoadModule, Peer } from './peer.ts';

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
  const library = await loadMessages(load);
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
