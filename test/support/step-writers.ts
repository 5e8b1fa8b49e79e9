import { AIMessage, type BaseMessage, HumanMessage, ToolMessage } from '@langchain/core/messages';
import type { Step } from './conversations.ts';

/** Writes steps as the messages of a wire format. */
export type Writer = (list: readonly Step[]) => readonly unknown[];

/** How steps are written in a wire format. */
interface FormatWriter {
  readonly write: Writer;
  /** Key of a request body that holds instructions; undefined where they are a message of the list. */
  readonly system: string | undefined;
  /** Whose messages they are: a provider's, or those of a framework that makes a provider's request of them. */
  readonly of: 'provider' | 'framework';
}

/** Every wire format. Each writer gives only what is accepted. A new format is one line. */
export const stepWriters: Readonly<Record<string, FormatWriter>> = {
  'anthropic-messages': {
    write: (list) => mergeTurns(list.flatMap(anthropicTurns)),
    system: 'system',
    of: 'provider',
  },
  'openai-chat': { write: (list) => list.flatMap(chatMessages), system: undefined, of: 'provider' },
  'openai-responses': {
    write: (list) => list.flatMap(responsesItems),
    system: 'instructions',
    of: 'provider',
  },
  gemini: {
    write: (list) =>
      mergeTurns(list.flatMap(geminiTurns)).map(({ role, content }) => ({ role, parts: content })),
    system: 'systemInstruction',
    of: 'provider',
  },
  'ai-sdk-model': { write: (list) => list.flatMap(modelMessages), system: 'system', of: 'framework' },
  'ai-sdk-ui': { write: (list) => list.flatMap(uiMessages), system: undefined, of: 'framework' },
  langchain: {
    write: (list) => langchainMessages(list).map(toPlain),
    system: undefined,
    of: 'framework',
  },
};

/** The writers of the providers' own formats, by format. */
export const writers: Readonly<Record<string, Writer>> = Object.fromEntries(
  Object.entries(stepWriters).flatMap(([name, { write, of }]) => (of === 'provider' ? [[name, write]] : [])),
);

/** LangChain's messages as they live in a program. */
export function langchainMessages(list: readonly Step[]): readonly BaseMessage[] {
  return list.flatMap(liveMessages);
}

/** The smallest picture there is. */
const PICTURE =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const PICTURE_URL = `data:image/png;base64,${PICTURE}`;

interface Turn {
  readonly role: string;
  readonly content: readonly unknown[];
}

/** Questions that follow results go into the same user message. */
function mergeTurns(turns: readonly Turn[]): readonly Turn[] {
  const merged: Turn[] = [];
  for (const turn of turns.filter(({ content }) => content.length > 0)) {
    const last = merged.at(-1);
    if (last?.role === turn.role)
      merged[merged.length - 1] = { ...last, content: [...last.content, ...turn.content] };
    else merged.push(turn);
  }
  return merged;
}

function anthropicTurns({ question, showsPicture, thinking, said, calls }: Step): readonly Turn[] {
  const picture = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PICTURE } };
  return [
    {
      role: 'user',
      content: beside(question, showsPicture, { text: (value) => ({ type: 'text', text: value }), picture }),
    },
    {
      role: 'assistant',
      content: [
        ...optional(thinking, (value) => ({ type: 'thinking', thinking: value, signature: 'c2ln' })),
        ...optional(said, (value) => ({ type: 'text', text: value })),
        ...calls.map(({ id, name, path }) => ({ type: 'tool_use', id, name, input: { path } })),
      ],
    },
    {
      role: 'user',
      content: calls.map((call) => ({
        type: 'tool_result',
        tool_use_id: call.id,
        content: call.showsPicture === true ? [{ type: 'text', text: call.output }, picture] : call.output,
        ...(call.hasFailed === true ? { is_error: true } : {}),
      })),
    },
  ];
}

function chatMessages({ question, showsPicture, thinking, said, calls }: Step): readonly unknown[] {
  const picture = { type: 'image_url', image_url: { url: PICTURE_URL } };
  const toolCalls = calls.map(({ id, name, path }) => ({
    id,
    type: 'function',
    function: { name, arguments: JSON.stringify({ path }) },
  }));
  return [
    ...optional(question, (asked) => ({
      role: 'user',
      content: showsPicture === true ? [{ type: 'text', text: asked }, picture] : asked,
    })),
    {
      role: 'assistant',
      content: said ?? null,
      ...(thinking === undefined ? {} : { reasoning_content: thinking }),
      ...(toolCalls.length === 0 ? {} : { tool_calls: toolCalls }),
    },
    ...calls.map(({ id, output }) => ({ role: 'tool', tool_call_id: id, content: output })),
  ];
}

function responsesItems({ question, showsPicture, thinking, said, calls }: Step): readonly unknown[] {
  const picture = { type: 'input_image', image_url: PICTURE_URL, detail: 'auto' };
  return [
    ...optional(question, (asked) => ({
      role: 'user',
      content: showsPicture === true ? [{ type: 'input_text', text: asked }, picture] : asked,
    })),
    ...optional(thinking, (value) => ({
      type: 'reasoning',
      summary: [{ type: 'summary_text', text: value }],
    })),
    ...optional(said, (value) => ({
      type: 'message',
      role: 'assistant',
      content: [{ type: 'output_text', text: value, annotations: [] }],
    })),
    ...calls.map(({ id, name, path }) => ({
      type: 'function_call',
      call_id: id,
      name,
      arguments: JSON.stringify({ path }),
    })),
    ...calls.map((call) => ({
      type: 'function_call_output',
      call_id: call.id,
      output: call.showsPicture === true ? [{ type: 'input_text', text: call.output }, picture] : call.output,
    })),
  ];
}

function geminiTurns({ question, showsPicture, said, calls }: Step): readonly Turn[] {
  const picture = { inlineData: { mimeType: 'image/png', data: PICTURE } };
  return [
    {
      role: 'user',
      content: beside(question, showsPicture, { text: (value) => ({ text: value }), picture }),
    },
    {
      role: 'model',
      content: [
        ...optional(said, (value) => ({ text: value })),
        ...calls.map(({ name, path }) => ({ functionCall: { name, args: { path } } })),
      ],
    },
    {
      role: 'user',
      content: calls.map(({ name, output }) => ({ functionResponse: { name, response: { output } } })),
    },
  ];
}

function modelMessages({ question, showsPicture, thinking, said, calls }: Step): readonly unknown[] {
  const picture = { type: 'image', image: 'https://example.com/picture.png' };
  const content = [
    ...(thinking === undefined ? [] : [{ type: 'reasoning', text: thinking }]),
    ...(said === undefined ? [] : [{ type: 'text', text: said }]),
    ...calls.map(({ id, name, path }) => ({
      type: 'tool-call',
      toolCallId: id,
      toolName: name,
      input: { path },
    })),
  ];
  const results = calls.map(({ id, name, output }) => ({
    type: 'tool-result',
    toolCallId: id,
    toolName: name,
    output: { type: 'text', value: output },
  }));
  return [
    ...(question === undefined
      ? []
      : [
          {
            role: 'user',
            content: showsPicture === true ? [{ type: 'text', text: question }, picture] : question,
          },
        ]),
    { role: 'assistant', content },
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

/** Messages as data: what a live message is in a file. */
function toPlain(message: BaseMessage): unknown {
  const { lc_kwargs: fields, type } = message;
  return { type, ...fields };
}

/** A question and the picture beside it, if there are any. */
function beside(
  question: string | undefined,
  showsPicture: boolean | undefined,
  { text: write, picture }: { readonly text: (value: string) => unknown; readonly picture: unknown },
): readonly unknown[] {
  const asked = optional(question, write);
  return asked.length > 0 && showsPicture === true ? [...asked, picture] : asked;
}

function optional<Value>(value: Value | undefined, write: (value: Value) => unknown): readonly unknown[] {
  return value === undefined ? [] : [write(value)];
}
