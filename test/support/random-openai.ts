import type { PlannedExchange } from './random-plans.ts';
import { type BodyWriter, listUnder, only, PICTURE, present, type WritingContext } from './random-writers.ts';

const PICTURE_URL = `data:image/png;base64,${PICTURE}`;
const names = ['read_file', 'bash', 'search'];

/** Bodies for `POST /v1/chat/completions`. */
export const chatWriter: BodyWriter = {
  format: 'openai-chat',
  ...listUnder('messages'),
  opening: ({ instructions }) => present(instructions, (content) => ({ role: 'system', content })),
  write: (context) => ({ request: chatRequest(context), response: chatResponse(context) }),
  prefill: (content) => ({ role: 'assistant', content }),
  frame: ({ isBare }, list) =>
    isBare
      ? list
      : {
          model: 'gpt-4o',
          messages: list,
          tools: names.map((name) => ({
            type: 'function',
            function: { name, parameters: { type: 'object' } },
          })),
        },
};

function chatRequest({ exchange, before, index, callId }: WritingContext): readonly unknown[] {
  const [first, ...others] = exchange.asked;
  return [
    ...(before?.calls ?? []).map(({ output }, place) => ({
      role: 'tool',
      tool_call_id: callId(index - 1, place),
      content: output,
    })),
    ...present(first, (asked) => ({ role: 'user', content: chatContent(asked, exchange) })),
    ...others.map((content) => ({ role: 'user', content })),
    ...present(exchange.note, (content) => ({
      role: exchange.joinsResults ? 'system' : 'developer',
      content,
    })),
  ];
}

function chatContent(asked: string, { media }: PlannedExchange): unknown {
  if (media === 'none') return asked;
  const text = { type: 'text', text: asked };
  if (media === 'picture') return [text, { type: 'image_url', image_url: { url: PICTURE_URL } }];
  return [
    text,
    { type: 'file', file: { filename: 'berths.pdf', file_data: `data:application/pdf;base64,${PICTURE}` } },
  ];
}

function chatResponse({ exchange, index, callId }: WritingContext): readonly unknown[] {
  const { thinking, said, calls, isSplit } = exchange;
  const reasoning = thinking === undefined ? {} : { reasoning_content: thinking.text };
  const toolCalls = calls.map(({ name, path }, place) => ({
    id: callId(index, place),
    type: 'function',
    function: { name, arguments: JSON.stringify({ path }) },
  }));
  if (isSplit && said !== undefined && toolCalls.length > 0)
    return [
      { role: 'assistant', content: said, ...reasoning },
      { role: 'assistant', content: null, tool_calls: toolCalls },
    ];
  const called = toolCalls.length === 0 ? {} : { tool_calls: toolCalls };
  return [{ role: 'assistant', content: said ?? null, ...reasoning, ...called }];
}

/** Bodies for `POST /v1/responses`. */
export const responsesWriter: BodyWriter = {
  format: 'openai-responses',
  ...listUnder('input'),
  opening: ({ opensCompacted }) =>
    only(opensCompacted, { type: 'compaction', id: 'cmp_opening', encrypted_content: 'gAAAopening' }),
  write: (context) => ({ request: responsesRequest(context), response: responsesItems(context) }),
  prefill: (content) => ({ role: 'assistant', content }),
  frame: ({ isBare, instructions }, list) =>
    isBare
      ? list
      : {
          model: 'gpt-5',
          ...(instructions === undefined ? {} : { instructions }),
          input: list,
          tools: names.map((name) => ({ type: 'function', name, parameters: { type: 'object' } })),
        },
};

function responsesRequest({ exchange, before, index, callId }: WritingContext): readonly unknown[] {
  const [first, ...others] = exchange.asked;
  return [
    ...(before?.calls ?? []).map(({ output, showsPicture }, place) => ({
      type: 'function_call_output',
      call_id: callId(index - 1, place),
      output: showsPicture ? [{ type: 'input_text', text: output }, inputPicture] : output,
    })),
    ...present(first, (asked) => ({ role: 'user', content: inputContent(asked, exchange) })),
    ...others.map((text) => ({ type: 'message', role: 'user', content: [{ type: 'input_text', text }] })),
    ...present(exchange.note, (content) => ({
      role: exchange.joinsResults ? 'system' : 'developer',
      content,
    })),
  ];
}

const inputPicture = { type: 'input_image', image_url: PICTURE_URL, detail: 'auto' };

function inputContent(asked: string, { media }: PlannedExchange): unknown {
  if (media === 'none') return asked;
  const file = {
    type: 'input_file',
    filename: 'berths.pdf',
    file_data: `data:application/pdf;base64,${PICTURE}`,
  };
  return [{ type: 'input_text', text: asked }, media === 'picture' ? inputPicture : file];
}

/** Items have the server's ids only behind reasoning that has one: the server wants both or neither. */
function responsesItems({ exchange, index, callId }: WritingContext): readonly unknown[] {
  const { thinking, said, searches, compacts, calls } = exchange;
  const isNamed = thinking?.kind === 'named';
  const id = (prefix: string, place = 0) => (isNamed ? { id: `${prefix}_${index}_${place}` } : {});
  return [
    ...only(compacts, { type: 'compaction', id: `cmp_${index}`, encrypted_content: `gAAA${index}` }),
    ...present(thinking, ({ text, kind }) => ({
      type: 'reasoning',
      ...id('rs'),
      summary: kind === 'redacted' ? [] : [{ type: 'summary_text', text }],
      ...(kind === 'plain' ? {} : { encrypted_content: `gBBB${index}` }),
    })),
    ...only(searches, {
      type: 'web_search_call',
      ...id('ws'),
      status: 'completed',
      action: { type: 'search', query: 'tides of Brest' },
    }),
    ...present(said, (text) => ({
      type: 'message',
      role: 'assistant',
      ...id('msg'),
      content: [{ type: 'output_text', text, annotations: [] }],
    })),
    ...calls.map(({ name, path }, place) => ({
      type: 'function_call',
      ...id('fc', place),
      call_id: callId(index, place),
      name,
      arguments: JSON.stringify({ path }),
    })),
  ];
}
