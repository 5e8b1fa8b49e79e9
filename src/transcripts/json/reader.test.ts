import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import {
  bodyOf,
  foldEntries,
  foldRecords,
  foldTranscript,
  recordEntries,
} from '../../../test/support/fold-records.ts';
import { recogniseFormat } from '../../formats/registry.ts';
import type { Transcript } from '../transcript.ts';
import { createJsonReader } from './reader.ts';

const reader = createJsonReader((value) => recogniseFormat(value)?.name);

const read = (...values: readonly unknown[]) => foldRecords(reader, values);
const readOne = (...values: readonly unknown[]) => foldTranscript(reader, values);

/** Reads lines of which each is an array. */
function readArrays(...arrays: readonly (readonly unknown[])[]) {
  const lines = arrays.map((array, document) =>
    recordEntries(array, { kind: 'element' }).map((entry, index) => ({
      ...entry,
      place: { line: document + 1, path: String(index) },
      document,
    })),
  );
  return foldEntries(reader, lines.flat());
}

const paths = (transcript: Transcript) => transcript.segments[0]?.origins.map(({ place }) => place.path);

const ask = { role: 'user', content: 'hi' };
const system = { role: 'system', content: 'Be brief.' };
const toolCalls = [{ id: 'c1', type: 'function', function: { name: 'ls', arguments: '{}' } }];

const requests = {
  'openai-chat': {
    model: 'gpt-5',
    messages: [system, ask],
    tools: [{ type: 'function', function: { name: 'ls' } }],
  },
  'anthropic-messages': { model: 'claude-opus-4-5', max_tokens: 9, system: 'x', messages: [ask] },
  'openai-responses': {
    model: 'gpt-5',
    input: [
      { role: 'user', content: 'hi' },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'ho' }] },
      { type: 'function_call', call_id: 'c', name: 'ls', arguments: '{}' },
    ],
  },
  gemini: { contents: [{ role: 'user', parts: [{ text: 'hi' }] }] },
};

const responses = {
  'openai-chat': {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    model: 'gpt-5-2026',
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: null,
          refusal: null,
          annotations: [],
          tool_calls: toolCalls,
          function_call: null,
        },
      },
    ],
    usage: { prompt_tokens: 50, completion_tokens: 5 },
  },
  'anthropic-messages': {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'claude-opus-4-5',
    content: [{ type: 'text', text: 'ho' }],
    stop_reason: 'end_turn',
    usage: {
      input_tokens: 10,
      cache_read_input_tokens: 30,
      cache_creation_input_tokens: 10,
      output_tokens: 5,
    },
  },
  'openai-responses': {
    id: 'resp_1',
    object: 'response',
    model: 'gpt-5-2026',
    output: [
      { type: 'message', id: 'msg_1', role: 'assistant', content: [{ type: 'output_text', text: 'ho' }] },
    ],
    usage: { input_tokens: 50, output_tokens: 5 },
  },
  gemini: {
    responseId: 'g1',
    modelVersion: 'gemini-2.5-pro',
    candidates: [{ content: { role: 'model', parts: [{ text: 'ho' }] } }],
    usageMetadata: { promptTokenCount: 50, candidatesTokenCount: 3, thoughtsTokenCount: 2 },
  },
};

const turns = {
  'openai-chat': { role: 'assistant', content: null, tool_calls: toolCalls },
  'anthropic-messages': { role: 'assistant', content: [{ type: 'text', text: 'ho' }] },
  'openai-responses': responses['openai-responses'].output[0],
  gemini: responses.gemini.candidates[0]?.content,
};

const names = ['openai-chat', 'anthropic-messages', 'openai-responses', 'gemini'] as const;
const listKeys = {
  'openai-chat': 'messages',
  'anthropic-messages': 'messages',
  'openai-responses': 'input',
  gemini: 'contents',
};

describe.each(names)('%s', (name) => {
  const request = requests[name];
  const list = Object.entries(request).find(([key]) => key === listKeys[name])?.[1] as readonly unknown[];

  it('bodies are the very values of the file', () => {
    const transcript = readOne(request);
    expect(transcript).toMatchObject({ reader: 'json', format: name, title: 'conversation 1', kind: 'main' });
    expect(bodyOf(transcript)).toBe(request);
    expect(paths(transcript)).toEqual(list.map((_, index) => `${listKeys[name]}.${index}`));
  });

  it.each([
    { why: 'an order to compact last', item: { type: 'compaction_trigger' } },
    { why: 'reasoning without an id', item: { type: 'reasoning', summary: [], encrypted_content: 'b3Bh' } },
    { why: 'a message of the developer', item: { role: 'developer', content: 'Be brief.' } },
    { why: 'tools that came later', item: { type: 'additional_tools', role: 'developer', tools: [] } },
    { why: 'an item of a type that is not invented yet', item: { type: 'hologram', depth: 3 } },
  ])('Responses bodies may hold $why', ({ item }) => {
    const body = { model: 'gpt-5', input: [...requests['openai-responses'].input, item] };
    const transcript = readOne(body);

    expect(transcript.format).toBe('openai-responses');
    expect(bodyOf(transcript)).toBe(body);
    expect(paths(transcript)?.at(-1)).toBe('input.3');
  });

  it('data that names types and no message is no conversation', () => {
    expect(read({ input: [{ type: 'hologram' }] }).transcripts).toEqual([]);
  });

  it('messages in a row are one conversation', () => {
    const transcript = readOne(...list);
    expect(transcript.format).toBe(name === 'openai-responses' || name === 'gemini' ? name : 'openai-chat');
    expect(bodyOf(transcript)).toEqual(list);
    expect(transcript.segments[0]?.origins.map(({ place }) => place.line)).toEqual(
      list.map((_, index) => index + 1),
    );
  });

  it.each(['request', 'body', 'kwargs', 'inputs'])(
    'logs with the request in `%s` end on the answer',
    (key) => {
      const transcript = readOne({ [key]: request, response: responses[name], latency: 3 });
      expect(transcript.format).toBe(name);
      expect(bodyOf(transcript)).toEqual({ ...request, [listKeys[name]]: [...list, turns[name]] });
      expect(transcript.segments[0]?.origins.at(-1)).toMatchObject({
        place: { line: 1 },
        usage: { promptTokens: 50, outputTokens: 5 },
      });
      expect(paths(transcript)?.[0]).toBe(`${key}.${listKeys[name]}.0`);
      expect(transcript.segments[0]?.origins).toHaveLength(list.length + 1);
      expect(transcript.notes).toEqual([]);
    },
  );

  it('responses alone are their message', () => {
    const transcript = readOne(responses[name]);
    expect(transcript.format).toBe(name);
    expect(bodyOf(transcript)).toEqual([turns[name]]);
    expect(transcript.model).toBe('model' in responses[name] ? responses[name].model : 'gemini-2.5-pro');
  });

  it('logs in the form of HTTP messages are found one level down', () => {
    const transcript = readOne({
      request: { method: 'POST', body: request },
      response: { status: 200, body: responses[name] },
    });
    expect(transcript.segments[0]?.origins).toHaveLength(list.length + 1);
  });
});

describe('request logs', () => {
  it('with messages beside the response get their tools and model from the arguments', () => {
    const tools = [{ type: 'function', function: { name: 'ls' } }];
    const record = {
      messages: [system, ask],
      response: responses['openai-chat'],
      args: [],
      kwargs: { tools, extra_headers: {} },
      cost: 0.1,
    };
    const transcript = readOne(record);
    expect(bodyOf(transcript)).toEqual({
      model: 'gpt-5-2026',
      tools,
      messages: [system, ask, turns['openai-chat']],
    });
    expect((bodyOf(transcript) as { messages: unknown[] }).messages[0]).toBe(system);
    expect(transcript.model).toBe('gpt-5-2026');
    expect(transcript.segments[0]?.origins[2]).toMatchObject({
      responseId: 'chatcmpl-1',
      usage: { promptTokens: 50 },
    });
  });

  it('of plain text are in the format of the answer', () => {
    const record = { request: { model: 'm', messages: [ask] }, response: responses['anthropic-messages'] };
    expect(readOne(record).format).toBe('anthropic-messages');
  });

  it('keep the request alone when the answer is of another format, or none', () => {
    const mixed = readOne({ request: requests['openai-chat'], response: responses['anthropic-messages'] });
    expect(bodyOf(mixed)).toBe(requests['openai-chat']);
    expect(mixed.notes).toEqual(['the response is in another format than the request: left out']);
    const failed = readOne({
      request: requests['openai-chat'],
      response: { error: { message: 'overloaded' } },
    });
    expect(bodyOf(failed)).toBe(requests['openai-chat']);
    expect(failed.notes).toEqual(['the response is none we know: left out']);
  });

  it('turn text input into a message when an answer follows', () => {
    const request = { model: 'gpt-5', input: 'hi' };
    expect(bodyOf(readOne(request))).toBe(request);
    expect(bodyOf(readOne({ request, response: responses['openai-responses'] }))).toEqual({
      model: 'gpt-5',
      input: [ask, turns['openai-responses']],
    });
  });

  it('are given one by one', () => {
    const fold = reader.open(() => undefined);
    for (let document = 0; document < 3; document++) {
      const value = { custom_id: `r${document}`, method: 'POST', body: requests.gemini };
      expect([...fold.add({ value, place: {}, kind: 'document', document })]).toMatchObject([
        { title: `request r${document}` },
      ]);
    }
    expect([...fold.end()]).toEqual([]);
  });
});

describe('a response of several items', () => {
  it('tells its id with each and its cost once', () => {
    const items = [{ type: 'reasoning', id: 'rs_1', summary: [] }, ...responses['openai-responses'].output];
    const transcript = readOne({ ...responses['openai-responses'], output: items });
    expect(bodyOf(transcript)).toBe(items);
    const origins = transcript.segments[0]?.origins;
    expect(origins?.map(({ responseId, usage }) => [responseId, usage?.promptTokens])).toEqual([
      ['resp_1', undefined],
      ['resp_1', 50],
    ]);
  });
});

describe('wrappers', () => {
  it('of experiments name task and trial', () => {
    const record = { task_id: 7, trial: 1, reward: 0, info: {}, traj: [system, ask] };
    const transcript = readOne(record);
    expect(transcript).toMatchObject({ title: 'task 7, trial 1', format: 'openai-chat' });
    expect(bodyOf(transcript)).toBe(record.traj);
    expect(paths(transcript)).toEqual(['traj.0', 'traj.1']);
  });

  it('of training data are bodies', () => {
    const record = { messages: [system, ask], parallel_tool_calls: false };
    expect(bodyOf(readOne(record))).toBe(record);
  });
});

describe('lists', () => {
  it('are one conversation each: the elements of one array belong together', () => {
    const { transcripts, bad } = readArrays([system, ask], [ask, { role: 'assistant', content: 'ho' }]);
    expect(bad).toEqual([]);
    expect(transcripts.map((transcript) => [transcript.title, bodyOf(transcript)])).toEqual([
      ['conversation 1', [system, ask]],
      ['conversation 2', [ask, { role: 'assistant', content: 'ho' }]],
    ]);
  });

  it('may hold lists, or bodies', () => {
    const { transcripts } = readArrays([[system, ask], [ask], requests.gemini]);
    expect(transcripts.map(({ format }) => format)).toEqual(['openai-chat', 'openai-chat', 'gemini']);
    expect(transcripts[0]?.segments[0]?.origins[1]?.place).toEqual({ line: 1, path: '0.1' });
  });

  it('end where a body begins', () => {
    const { transcripts } = read(system, ask, requests.gemini, ask);
    expect(transcripts.map((transcript) => transcript.segments[0]?.origins.length)).toEqual([2, 1, 1]);
  });

  it('keep the times of their messages', () => {
    expect(readOne({ ...ask, timestamp: '2026-01-01T00:00:00Z' }).segments[0]?.origins[0]?.timestamp).toBe(
      '2026-01-01T00:00:00Z',
    );
  });
});

describe('a request body', () => {
  it('of Gemini may have contents without a role', () => {
    const body = { contents: [{ parts: [{ text: 'hi' }] }] };

    expect(readOne(body).format).toBe('gemini');
    expect(bodyOf(readOne(body))).toBe(body);
    expect(readOne(...body.contents).format).toBe('gemini');
  });

  it('with lists under two keys is not taken for one of the Responses API', () => {
    const transcript = readOne({ ...requests.gemini, input: [ask] });

    expect(transcript.format).toBe('gemini');
    expect(paths(transcript)).toEqual(['contents.0']);
  });
});

describe('what is no conversation', () => {
  it.each([
    { a: 1 },
    7,
    'text',
    null,
    true,
    [],
    [1, 2],
    { messages: [1] },
    { role: 'admin', name: 'Ada' },
    { type: 'log', level: 'info' },
    { input: 'a question', output: 'an answer' },
    { request: { request: { request: requests.gemini } } },
    { traj: [] },
    { parts: ['bolt', 'nut'] },
    { parts: [{ name: 'bolt' }] },
  ])('is named with its place: %j', (value) => {
    const { transcripts, bad } = read(ask, value);
    expect(transcripts).toHaveLength(1);
    expect(bad).toEqual([{ place: { line: 2 }, reason: expect.stringContaining('expected a request body') }]);
  });

  it('may also be messages that no format takes', () => {
    const { transcripts, bad } = read(
      { role: 'model', parts: [] },
      { type: 'function_call' },
      { role: 'tool', content: '' },
    );
    expect(transcripts).toEqual([]);
    expect(bad).toEqual([{ place: { line: 1 }, reason: 'messages of no wire format we know' }]);
  });

  test.prop([fc.array(fc.anything())])('never makes it throw', (values) => {
    expect(() => read(...values)).not.toThrow();
  });

  test.prop([
    fc.record(
      {
        messages: fc.anything(),
        request: fc.record({
          messages: fc.array(fc.record({ role: fc.string(), content: fc.anything() })),
          body: fc.anything(),
        }),
        response: fc.record(
          { choices: fc.anything(), candidates: fc.anything(), output: fc.anything(), body: fc.anything() },
          { requiredKeys: [] },
        ),
        traj: fc.anything(),
      },
      { requiredKeys: [] },
    ),
  ])('never makes it throw, however close it comes', (record) => {
    expect(() => read(record)).not.toThrow();
  });
});
