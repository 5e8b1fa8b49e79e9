import { isBaseMessage } from '@langchain/core/messages';
import { convertToModelMessages, type UIMessage } from 'ai';
import { findContract } from '../../src/contracts/registry.ts';
import { langchainMessages, stepWriters, type Writer } from './step-writers.ts';

/** Messages of a framework: how steps are written in them, and what its own code or rules have against a list. */
export interface Framework {
  readonly format: string;
  readonly write: Writer;
  /** Words for what is wrong; empty for a list that a request can be made of. */
  readonly judge: (list: readonly unknown[]) => Promise<readonly string[]>;
  /** Strategies that have nothing to do with such a list, in the order of the registry. */
  readonly idleStrategies: readonly string[];
}

const judgeModel = (list: readonly unknown[]): readonly string[] =>
  findContract('ai-sdk-model')!
    .check(list, { scope: 'messages' })
    .filter(({ severity }) => severity === 'error')
    .map(({ message }) => message);

/** The SDK makes model messages of them, every one has an id, and no two share one. */
async function judgeUi(list: readonly unknown[]): Promise<readonly string[]> {
  const messages = list as UIMessage[]; // what is none makes the SDK throw
  const isNamed = messages.every(({ id }) => typeof id === 'string');
  const made = await convertToModelMessages(messages);
  return [...(isNamed ? [] : ['a message has no id']), ...judgeModel(made)];
}

interface LangchainFields {
  readonly type?: string;
  readonly tool_calls?: readonly { readonly id: string }[];
  readonly tool_call_id?: string;
}

/** What every provider behind LangChain demands: the results of a message follow it, each once and nothing between. */
function judgeLangchain(list: readonly unknown[]): readonly string[] {
  const faults: string[] = [];
  let open = new Set<string>();
  for (const message of list as readonly LangchainFields[]) {
    if (message.type === 'tool') {
      if (!open.delete(message.tool_call_id ?? '')) faults.push(`${message.tool_call_id} answers nothing`);
      continue;
    }
    if (open.size > 0) faults.push(`${[...open].join()} unanswered`);
    open = new Set((message.tool_calls ?? []).map(({ id }) => id));
  }
  if (open.size > 0) faults.push(`${[...open].join()} unanswered at the end`);
  return faults;
}

/** No generated conversation holds a picture. */
const idleStrategies = ['strip-media', 'none'];

/** The frameworks whose messages are formats, LangChain's both live and plain. */
export const frameworks: Readonly<Record<string, Framework>> = {
  'model messages of the AI SDK': {
    format: 'ai-sdk-model',
    write: stepWriters['ai-sdk-model']!.write,
    judge: async (list) => judgeModel(list),
    idleStrategies,
  },
  'UI messages of the AI SDK': {
    format: 'ai-sdk-ui',
    write: stepWriters['ai-sdk-ui']!.write,
    judge: judgeUi,
    // A result that is one part with its call is taken for the provider's, which nobody rewrites.
    idleStrategies: ['collapse-reads', 'clear-tool-results', 'strip-media', 'none'],
  },
  'live messages of LangChain': {
    format: 'langchain',
    write: langchainMessages,
    judge: async (list) => judgeLangchain(list),
    idleStrategies,
  },
  'plain messages of LangChain': {
    format: 'langchain',
    write: stepWriters['langchain']!.write,
    judge: async (list) => [
      ...judgeLangchain(list),
      ...(list.some((message) => isBaseMessage(message)) ? ['a live message among plain ones'] : []),
    ],
    idleStrategies,
  },
};
