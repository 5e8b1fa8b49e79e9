import {
  createNativeCounter,
  fromNative,
  loadMessages,
  type NativeMessage,
  toNative,
} from './langchain-messages.ts';
import type { Cutter, LoadModule, Peer } from './peer.ts';

/** What a model is asked for by the middlewares. */
interface StubModel {
  invoke?(prompt: string): Promise<{ readonly content: string }>;
  getNumTokensFromMessages?(messages: readonly NativeMessage[]): Promise<{ readonly totalCount: number }>;
}

/** What is used of `langchain`: hooks of middlewares, called as an agent calls them. */
interface LangChain {
  readonly ClearToolUsesEdit: new (options: object) => object;
  contextEditingMiddleware(options: object): {
    wrapModelCall(
      request: { readonly messages: readonly NativeMessage[]; readonly model: StubModel },
      handler: (request: { readonly messages: readonly NativeMessage[] }) => readonly NativeMessage[],
    ): Promise<readonly NativeMessage[]>;
  };
  summarizationMiddleware(options: object): {
    beforeModel(
      state: { readonly messages: readonly NativeMessage[] },
      runtime: { readonly context: object },
    ): Promise<{ readonly messages: readonly NativeMessage[] } | undefined>;
  };
}

type Count = ReturnType<typeof createNativeCounter>;

/** What is left when so many tokens may stay. */
type Shorten = (
  library: LangChain,
  messages: readonly NativeMessage[],
  tokens: number,
  count: Count,
) => Promise<readonly NativeMessage[]>;

/** Characters of the stub for a summary: about as many as a model would write. */
const SUMMARY_CHARACTERS = 2000;

/** The beginning of what the middleware shows the model. */
const stubSummarizer: StubModel = {
  invoke: async (prompt) => ({ content: prompt.slice(0, SUMMARY_CHARACTERS) }),
};

function clearToolUses(options: object): Shorten {
  return ({ ClearToolUsesEdit, contextEditingMiddleware }, messages, tokens, count) => {
    const edit = new ClearToolUsesEdit({ trigger: { tokens }, keep: { tokens }, ...options });
    const middleware = contextEditingMiddleware({ edits: [edit], tokenCountMethod: 'model' });
    const model: StubModel = { getNumTokensFromMessages: async (list) => ({ totalCount: count(list) }) };
    // It edits the list that it is given.
    return middleware.wrapModelCall({ messages: [...messages], model }, (request) => request.messages);
  };
}

const summarize: Shorten = async ({ summarizationMiddleware }, messages, tokens, count) => {
  const middleware = summarizationMiddleware({
    model: stubSummarizer,
    trigger: { tokens },
    keep: { tokens },
    tokenCounter: count,
    // Nothing but the messages, so that the stub does not repeat the instructions.
    summaryPrompt: '{messages}',
  });
  const update = await middleware.beforeModel({ messages }, { context: {} });
  // In front stands the order to remove what was there before.
  return update?.messages.filter(({ type }) => type !== 'remove') ?? messages;
};

async function createCutter(load: LoadModule, shorten: Shorten): Promise<Cutter<readonly NativeMessage[]>> {
  const messageLibrary = await loadMessages(load);
  const library = (await load('langchain')) as LangChain; // its own types are not there where it is not installed
  const count = createNativeCounter();
  return {
    toNative: (messages) => messages.map((message) => toNative(messageLibrary, message)),
    cut: (native, share) => shorten(library, native, Math.max(1, Math.floor(count(native) * share)), count),
    fromNative: (native) => native.map(fromNative),
  };
}

function defineArm(name: string, keeps: string, shorten: Shorten): Peer {
  return {
    name,
    package: 'langchain',
    version: '1.5.14',
    keeps,
    use: async (load, measure) => measure(await createCutter(load, shorten)),
  };
}

/** Results of tools cleared by `ClearToolUsesEdit`, as it is and with the calls' arguments; and a summary by a stub. */
export const langchainMiddlewarePeers: readonly Peer[] = [
  defineArm('langchain ClearToolUsesEdit', 'tokens of tool results', clearToolUses({})),
  defineArm(
    'langchain ClearToolUsesEdit, clearToolInputs',
    'tokens of tool results',
    clearToolUses({ clearToolInputs: true }),
  ),
  defineArm('langchain summarizationMiddleware, stub summary', 'tokens behind the summary', summarize),
];
