import {
  AIMessage,
  type BaseMessage,
  HumanMessage,
  isBaseMessage,
  ToolMessage,
} from '@langchain/core/messages';
import { convertToModelMessages, type UIMessage } from 'ai';
import { findContract } from '../../src/contracts/registry.ts';
import type { Step, Writer } from './conversations.ts';

/** Messages of a framework: how steps are written in them, and what its own code or rules have against a list. */
export interface Framework {
  readonly format: string;
  readonly write: Writer;
  /** Words for what is wrong; empty for a list that a request can be made of. */
  readonly judge: (list: readonly unknown[]) => Promise<readonly string[]>;
  /** Strategies that have nothing to do with such a list, in the order of the registry. */
  readonly idleStrategies: readonly string[];
}

function modelMessages({ question, thinking, said, calls }: Step): readonly unknown[] {
  const results = calls.map(({ id, name, output }) => ({
    type: 'tool-result',
    toolCallId: id,
    toolName: name,
    output: { type: 'text', value: output },
  }));
  return [
    ...(question === undefined ? [] : [{ role: 'user', content: question }]),
    {
      role: 'assistant',
      content: [
        ...(thinking === undefined ? [] : [{ type: 'reasoning', text: thinking }]),
        ...(said === undefined ? [] : [{ type: 'text', text: said }]),
        ...calls.map(({ id, name, path }) => ({
          type: 'tool-call',
          toolCallId: id,
          toolName: name,
          input: { path },
        })),
      ],
    },
    ...(results.length === 0 ? [] : [{ role: 'tool', content: results }]),
  ];
}

function uiMessages({ question, thinking, said, calls }: Step, index: number): readonly unknown[] {
  return [
    ...(question === undefined
      ? []
      : [{ id: `u${index}`, role: 'user', parts: [{ type: 'text', text: question }] }]),
    {
      id: `a${index}`,
      role: 'assistant',
      parts: [
        { type: 'step-start' },
        ...(thinking === undefined ? [] : [{ type: 'reasoning', text: thinking, state: 'done' }]),
        ...(said === undefined ? [] : [{ type: 'text', text: said, state: 'done' }]),
        ...calls.map(({ id, name, path, output }) => ({
          type: `tool-${name}`,
          toolCallId: id,
          state: 'output-available',
          input: { path },
          output,
        })),
      ],
    },
  ];
}

function liveMessages({ question, thinking, said, calls }: Step, index: number): readonly BaseMessage[] {
  const content = [
    ...(thinking === undefined ? [] : [{ type: 'reasoning' as const, reasoning: thinking }]),
    ...(said === undefined ? [] : [{ type: 'text' as const, text: said }]),
  ];
  return [
    ...(question === undefined ? [] : [new HumanMessage({ id: `h${index}`, content: question })]),
    new AIMessage({
      id: `a${index}`,
      content,
      tool_calls: calls.map(({ id, name, path }) => ({
        id,
        name,
        args: { path },
        type: 'tool_call' as const,
      })),
    }),
    ...calls.map(
      ({ id, name, output }) => new ToolMessage({ id: `t${id}`, tool_call_id: id, name, content: output }),
    ),
  ];
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

/** Messages as data: what a live message is in a file. */
const toPlain = (message: BaseMessage): unknown => {
  const { lc_kwargs: fields, type } = message;
  return { type, ...fields };
};

/** No generated conversation holds a picture. */
const idleStrategies = ['strip-media', 'none'];

/** The frameworks whose messages are formats, LangChain's both live and plain. */
export const frameworks: Readonly<Record<string, Framework>> = {
  'model messages of the AI SDK': {
    format: 'ai-sdk-model',
    write: (list) => list.flatMap(modelMessages),
    judge: async (list) => judgeModel(list),
    idleStrategies,
  },
  'UI messages of the AI SDK': {
    format: 'ai-sdk-ui',
    write: (list) => list.flatMap(uiMessages),
    judge: judgeUi,
    // A result that is one part with its call is taken for the provider's, which nobody rewrites.
    idleStrategies: ['collapse-reads', 'clear-tool-results', 'strip-media', 'none'],
  },
  'live messages of LangChain': {
    format: 'langchain',
    write: (list) => list.flatMap(liveMessages),
    judge: async (list) => judgeLangchain(list),
    idleStrategies,
  },
  'plain messages of LangChain': {
    format: 'langchain',
    write: (list) => list.flatMap(liveMessages).map(toPlain),
    judge: async (list) => [
      ...judgeLangchain(list),
      ...(list.some((message) => isBaseMessage(message)) ? ['a live message among plain ones'] : []),
    ],
    idleStrategies,
  },
};
