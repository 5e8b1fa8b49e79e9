/**
 * roundfold/langchain: keeps LangChain messages and agents inside their window. Types are told by their shape, and new
 * messages are made by the classes of those that came, so that nothing of LangChain is loaded or needed here.
 * @module
 */
import type { CallOptions, Compactor } from '../compaction/compactor.ts';
import { changeOf } from '../compaction/plan/strategy.ts';
import { asString, isObject } from '../conversation/json.ts';
import { langchain } from '../formats/langchain/format.ts';
import { langchainUpdate } from '../formats/langchain/update.ts';
import { Recent } from '../keeper/recent.ts';
import { type CompactorSource, compactorsFrom } from './compactor-source.ts';
import { toInstances } from './langchain-instances.ts';

/**
 * Compacts a list of messages when its window is full enough. Messages that stay are the very same objects, and the very
 * same list comes back when nothing was to be done. What is new is of the class that messages of its kind have in the
 * list; without one it is a plain message, which LangChain takes wherever it takes others.
 *
 * Call it before each request with the compactor of the conversation, and go on from what it gives. With options instead
 * of a compactor nothing is remembered from call to call.
 */
export async function compactMessages<Message>(
  messages: Message[],
  source: CompactorSource,
  call: CallOptions = {},
): Promise<Message[]> {
  const { value, outcome } = await compactorsFrom(source, langchain.name)().maybeCompact(messages, call);
  return changeOf(outcome) === undefined ? messages : toInstances(value, messages);
}

/** What of an agent's state is looked at. */
export interface StateOfMessages<Message> {
  readonly messages: Message[];
}

/** What of an agent's run is looked at. */
export interface AgentRun {
  readonly configurable?: { readonly thread_id?: string | undefined } | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A middleware for `createAgent`. */
export interface CompactionMiddleware {
  readonly name: string;
  /** The changes of the state, in the words of LangGraph's messages reducer; undefined when nothing changes. */
  beforeModel<Message>(
    state: StateOfMessages<Message>,
    run: AgentRun,
  ): Promise<{ messages: Message[] } | undefined>;
}

/** Conversations that are remembered at once. */
const MOST_CONVERSATIONS = 1000;

/**
 * A middleware for `createAgent` that compacts the messages of the state before the model is asked. An agent serves many
 * conversations: each has a compactor of its own, by its thread or else by its first message, unless one is given.
 */
export function compactionMiddleware(source: CompactorSource): CompactionMiddleware {
  const conversations = new Recent<string, Compactor>(MOST_CONVERSATIONS);
  const makeCompactor = compactorsFrom(source, langchain.name);
  return {
    name: 'RoundfoldCompaction',
    async beforeModel<Message>({ messages }: StateOfMessages<Message>, run: AgentRun) {
      const compactor = conversations.take(run.configurable?.thread_id ?? nameOf(messages[0]), makeCompactor);
      const compacted = await compactMessages(messages, compactor, { signal: run.signal });
      const update = langchainUpdate(messages, compacted);
      // The reducer makes messages of the orders among them.
      return update.length === 0 ? undefined : { messages: update as Message[] };
    },
  };
}

/** Every message in a state has an id, and a compaction leaves the first one alone. */
function nameOf(first: unknown): string {
  return (isObject(first) ? asString(first['id']) : undefined) ?? '';
}
