import type { PlannedExchange } from './random-plans.ts';
import { type BodyWriter, listUnder, only, PICTURE, present, type WritingContext } from './random-writers.ts';

/** Options of `generateText` with model messages. */
export const aiSdkModelWriter: BodyWriter = {
  format: 'ai-sdk-model',
  ...listUnder('messages'),
  write: (context) => ({ request: modelRequest(context), response: modelResponse(context) }),
  prefill: (content) => ({ role: 'assistant', content }),
  frame: ({ isBare, instructions }, list) =>
    isBare
      ? list
      : {
          ...(instructions === undefined ? {} : { system: instructions }),
          messages: list,
          allowSystemInMessages: true,
        },
};

function modelRequest({ exchange, before, index, callId }: WritingContext): readonly unknown[] {
  const results = (before?.calls ?? []).map(({ name, output, hasFailed }, place) => ({
    type: 'tool-result',
    toolCallId: callId(index - 1, place),
    toolName: name,
    output: { type: hasFailed ? 'error-text' : 'text', value: output },
  }));
  const [first, ...others] = exchange.asked;
  return [
    ...only(results.length > 0, { role: 'tool', content: results }),
    ...present(first, (asked) => ({ role: 'user', content: modelContent(asked, exchange) })),
    ...others.map((content) => ({ role: 'user', content })),
    ...present(exchange.note, (content) => ({ role: 'system', content })),
  ];
}

function modelContent(asked: string, { media }: PlannedExchange): unknown {
  if (media === 'none') return asked;
  const text = { type: 'text', text: asked };
  return media === 'picture'
    ? [text, { type: 'image', image: 'https://example.com/picture.png' }]
    : [text, { type: 'file', data: PICTURE, mediaType: 'application/pdf' }];
}

function modelResponse({ exchange, index, callId }: WritingContext): readonly unknown[] {
  const { thinking, said, searches, calls } = exchange;
  const searched = { toolCallId: `search_${index}`, toolName: 'web_search', providerExecuted: true };
  const content = [
    ...present(thinking, ({ text }) => ({ type: 'reasoning', text })),
    ...(searches
      ? [
          { type: 'tool-call', ...searched, input: { query: 'tides' } },
          { type: 'tool-result', ...searched, output: { type: 'text', value: 'found' } },
        ]
      : []),
    ...present(said, (text) => ({ type: 'text', text })),
    ...calls.map(({ name, path }, place) => ({
      type: 'tool-call',
      toolCallId: callId(index, place),
      toolName: name,
      input: { path },
    })),
  ];
  return [{ role: 'assistant', content }];
}

/** Lists of UI messages. Results stand in the message that made the calls, so that only texts come from the user. */
export const aiSdkUiWriter: BodyWriter = {
  format: 'ai-sdk-ui',
  ...listUnder('messages'),
  write: ({ exchange, index, callId }) => ({
    request: (exchange.asked.length === 0 ? ['go on'] : exchange.asked).map((text, place) => ({
      id: `user-${index}-${place}`,
      role: 'user',
      parts: [
        { type: 'text', text },
        ...only(exchange.media !== 'none', {
          type: 'file',
          mediaType: 'image/png',
          url: `data:image/png;base64,${PICTURE}`,
        }),
      ],
    })),
    response: [
      {
        id: `assistant-${index}`,
        role: 'assistant',
        parts: [
          { type: 'step-start' },
          ...present(exchange.thinking, ({ text }) => ({ type: 'reasoning', text, state: 'done' })),
          ...present(exchange.said, (text) => ({ type: 'text', text, state: 'done' })),
          ...exchange.calls.map(({ name, path, output, hasFailed }, place) => ({
            type: `tool-${name}`,
            toolCallId: callId(index, place),
            input: { path },
            ...(hasFailed
              ? { state: 'output-error', errorText: output }
              : { state: 'output-available', output }),
          })),
        ],
      },
    ],
  }),
  frame: (_plan, list) => list,
};

/** Lists of LangChain messages as data. */
export const langchainWriter: BodyWriter = {
  format: 'langchain',
  ...listUnder('messages'),
  opening: ({ instructions }) =>
    present(instructions, (content) => ({ type: 'system', id: 'system', content })),
  write: ({ exchange, before, index, callId }) => ({
    request: [
      ...(before?.calls ?? []).map(({ name, output, hasFailed }, place) => ({
        type: 'tool',
        id: `tool-${index}-${place}`,
        tool_call_id: callId(index - 1, place),
        name,
        content: output,
        status: hasFailed ? 'error' : 'success',
      })),
      ...exchange.asked.map((content, place) => ({ type: 'human', id: `human-${index}-${place}`, content })),
      ...present(exchange.note, (content) => ({ type: 'system', id: `note-${index}`, content })),
    ],
    response: [
      {
        type: 'ai',
        id: `ai-${index}`,
        content: [
          ...present(exchange.thinking, ({ text }) => ({ type: 'reasoning', reasoning: text })),
          ...present(exchange.said, (text) => ({ type: 'text', text })),
        ],
        tool_calls: exchange.calls.map(({ name, path }, place) => ({
          id: callId(index, place),
          name,
          args: { path },
          type: 'tool_call',
        })),
      },
    ],
  }),
  frame: (_plan, list) => list,
};
