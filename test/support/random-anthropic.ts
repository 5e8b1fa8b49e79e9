import type { PlannedCall, PlannedExchange } from './random-plans.ts';
import { type BodyWriter, listUnder, only, PICTURE, present, type WritingContext } from './random-writers.ts';

const picture = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PICTURE } };
const tools = ['read_file', 'bash', 'search'].map((name) => ({ name, input_schema: { type: 'object' } }));

const text = (value: string) => ({ type: 'text', text: value });

/** Bodies for `POST /v1/messages`. */
export const anthropicWriter: BodyWriter = {
  format: 'anthropic-messages',
  ...listUnder('messages'),

  /** At most four breakpoints, one signed summary at most, and no model takes both system messages and a prefill. */
  adapt(plan) {
    let markers = 0;
    return {
      ...plan,
      exchanges: plan.exchanges.map((one) => ({
        ...one,
        isMarked: one.isMarked && markers++ < 3,
        note: plan.isPrefilled ? undefined : one.note,
      })),
    };
  },

  opening: ({ opensCompacted }) =>
    only(opensCompacted, {
      role: 'assistant',
      content: [{ type: 'compaction', content: 'What happened long ago.' }],
    }),

  write: (context) => ({ request: requestOf(context), response: responseOf(context) }),

  prefill: (value) => ({ role: 'assistant', content: value.trim() }),

  frame: (plan, list) =>
    plan.isBare
      ? list
      : {
          model: plan.isPrefilled ? 'claude-sonnet-4-5' : 'claude-opus-5',
          max_tokens: 1000,
          ...(plan.instructions === undefined ? {} : { system: plan.instructions }),
          tools,
          messages: list,
        },
};

function requestOf({ exchange, before, index, callId }: WritingContext): readonly unknown[] {
  const results = (before?.calls ?? []).map((call, place) => resultOf(call, callId(index - 1, place)));
  const [first, ...others] = exchange.asked;
  const asked = first === undefined ? [] : [...mediaOf(exchange), { ...text(first), ...marker(exchange) }];
  const isJoined = exchange.joinsResults && results.length > 0;
  const contents = isJoined ? [[...results, ...asked]] : [results, asked];
  return [
    ...contents.filter((content) => content.length > 0).map((content) => ({ role: 'user', content })),
    ...others.map((content) => ({ role: 'user', content })),
    ...present(exchange.note, (content) => ({ role: 'system', content })),
  ];
}

function resultOf({ output, hasFailed, showsPicture }: PlannedCall, id: string): unknown {
  return {
    type: 'tool_result',
    tool_use_id: id,
    content: showsPicture ? [text(output), picture] : output,
    ...(hasFailed ? { is_error: true } : {}),
  };
}

function mediaOf({ media }: PlannedExchange): readonly unknown[] {
  if (media === 'none') return [];
  if (media === 'picture') return [picture];
  const data = 'The berths must never be deeper than nine metres.';
  return [{ type: 'document', source: { type: 'text', media_type: 'text/plain', data }, title: 'Berths' }];
}

function marker({ isMarked }: PlannedExchange): object {
  return isMarked ? { cache_control: { type: 'ephemeral' } } : {};
}

function responseOf({ exchange, index, callId }: WritingContext): readonly unknown[] {
  const { thinking, said, searches, compacts, calls, isSplit } = exchange;
  const spoken = [
    ...only(compacts, { type: 'compaction', content: `What happened before exchange ${index}.` }),
    ...present(thinking, (thought) =>
      thought.kind === 'redacted'
        ? { type: 'redacted_thinking', data: `sealed${index}` }
        : { type: 'thinking', thinking: thought.text, signature: `c2ln${index}` },
    ),
    ...(searches ? searchOf(index) : []),
    ...present(said, text),
  ];
  const called = calls.map(({ name, path }, place) => ({
    type: 'tool_use',
    id: callId(index, place),
    name,
    input: { path },
  }));
  const contents =
    isSplit && spoken.length > 0 && called.length > 0 ? [spoken, called] : [[...spoken, ...called]];
  return contents.map((content) => ({ role: 'assistant', content }));
}

function searchOf(index: number): readonly unknown[] {
  const id = `srvtoolu_${index}`;
  const found = {
    type: 'web_search_result',
    url: 'https://example.com/tides',
    title: 'Tides',
    encrypted_content: 'c2Vj',
  };
  return [
    { type: 'server_tool_use', id, name: 'web_search', input: { query: 'tides of Brest' } },
    { type: 'web_search_tool_result', tool_use_id: id, content: [found] },
  ];
}
