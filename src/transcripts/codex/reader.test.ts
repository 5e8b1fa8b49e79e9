import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { foldRecords, recordEntries } from '../../../test/support/fold-records.ts';
import type { JsonObject } from '../../conversation/json.ts';
import { claudeCode } from '../claude-code/reader.ts';
import type { Segment } from '../transcript.ts';
import { codex } from './reader.ts';

const read = (records: readonly unknown[]) => foldRecords(codex, records, { source: 'rollout.jsonl' });
const readMain = (records: readonly unknown[]) => read(records).transcripts[0]!;

const timestamp = '2026-04-01T08:00:00.000Z';
const record = (type: string, payload: unknown) => ({ timestamp, type, payload });
const item = (payload: JsonObject) => record('response_item', payload);
const event = (type: string, more: JsonObject = {}) => record('event_msg', { type, ...more });

const message = (role: string, text: string) => ({
  type: 'message',
  role,
  content: [{ type: role === 'assistant' ? 'output_text' : 'input_text', text }],
});
const user = (text: string) => message('user', text);
const assistant = (text: string) => message('assistant', text);
const call = (id: string) => ({ type: 'function_call', name: 'shell', arguments: '{}', call_id: id });
const output = (id: string) => ({ type: 'function_call_output', call_id: id, output: `output of ${id}` });
const reasoning = { type: 'reasoning', summary: [], encrypted_content: 'b3BhcXVl' };

function tokenCount(prompt: number, outputTokens: number, total = prompt + outputTokens): unknown {
  const usage = {
    input_tokens: prompt,
    cached_input_tokens: 64,
    output_tokens: outputTokens,
    total_tokens: total,
  };
  return event('token_count', {
    info: { last_token_usage: usage, total_token_usage: { total_tokens: 999_999 } },
  });
}

function itemsOf({ body }: Segment): JsonObject[] {
  return (Array.isArray(body) ? body : (body as JsonObject)['input']) as JsonObject[];
}

/** `user: hello`, `function_call a`, one line for each item. */
function outline(segment: Segment | undefined): string[] {
  return itemsOf(segment!).map((value) => {
    if (value['type'] !== 'message')
      return [value['type'], value['call_id']].filter((part) => part !== undefined).join(' ');
    return `${String(value['role'])}: ${(value['content'] as { text: string }[])[0]?.text}`;
  });
}

describe('a rollout', () => {
  it('61 cx-replay: is replayed as the harness would resume it', () => {
    const lines = [
      record('session_meta', { id: 'thread-1', base_instructions: { text: 'You are a coding agent.' } }),
      item(message('developer', 'sandboxed')),
      item(user('<environment_context>\n  <cwd>/home/me</cwd>')),
      record('turn_context', { turn_id: 't1', model: 'gpt-5.4' }),
      item(user('fix the build')),
      event('user_message', { message: 'fix the build' }),
      item(reasoning),
      event('agent_message', { message: 'looking' }),
      item(assistant('looking')),
      item(call('a')),
      item(output('a')),
      record('compacted', { message: 'The build was looked at.' }),
      item(user('go on')),
      item(call('b')),
      event('turn_aborted', { reason: 'interrupted' }),
      item(user('<turn_aborted>\nThe user interrupted.')),
      item(user('wrong turn')),
      item(assistant('a mistake')),
      event('thread_rolled_back', { num_turns: 1 }),
      record('compacted', {
        message: '',
        replacement_history: [user('fix the build'), { type: 'compaction', encrypted_content: 'eA==' }],
      }),
      item(user('finish')),
    ];
    const main = readMain(lines);

    expect(main.segments.map(outline)).toEqual([
      [
        'developer: sandboxed',
        'user: <environment_context>\n  <cwd>/home/me</cwd>',
        'user: fix the build',
        'reasoning',
        'assistant: looking',
        'function_call a',
        'function_call_output a',
      ],
      [
        'user: The build was looked at.',
        'user: go on',
        'function_call b',
        'user: <turn_aborted>\nThe user interrupted.',
      ],
      ['user: fix the build', 'compaction', 'user: finish'],
    ]);
    expect(main.segments.map(({ opening }) => opening && [opening.summary, opening.carried])).toEqual([
      undefined,
      ['The build was looked at.', 1],
      [undefined, 2],
    ]);
    expect(main).toMatchObject({ title: 'main', kind: 'main', format: 'openai-responses', model: 'gpt-5.4' });
    expect(main.notes).toEqual(['1 turn rolled back by the user left out']);
  });

  it('gives the items as they were recorded, and where they come from', () => {
    const spoken = { ...assistant('hi'), id: 'msg_1', phase: 'final_answer', novelty: { deep: true } };
    const [segment] = readMain([item(user('hello')), event('agent_message'), item(spoken)]).segments;

    expect(segment?.body).toBeInstanceOf(Array);
    expect(itemsOf(segment!)[1]).toBe(spoken);
    expect(segment?.origins[1]).toEqual({
      place: { source: 'rollout.jsonl', line: 3 },
      timestamp,
      responseId: undefined,
      usage: undefined,
    });
  });

  it.each([
    { recorded: 'an object with text', first: { text: 'Be brief.' }, second: { text: 'Be long.' } },
    { recorded: 'a text', first: 'Be brief.', second: undefined },
    { recorded: 'missing in the first header', first: null, second: 'Be brief.' },
  ])('has the base instructions of its first header in the body: $recorded', ({ first, second }) => {
    const lines = [
      record('session_meta', {
        id: 'child',
        forked_from_id: 'parent',
        base_instructions: first,
        instructions: 'AGENTS.md',
      }),
      record('session_meta', { id: 'parent', base_instructions: second }),
      item(user('hello')),
    ];

    expect(readMain(lines).segments[0]?.body).toEqual({ instructions: 'Be brief.', input: [user('hello')] });
  });

  it('reads the bare layout: a header, items and state lines', () => {
    const lines = [
      { id: 'thread-1', timestamp, instructions: 'Use tabs.', git: { branch: 'main' } },
      { record_type: 'state' },
      user('hello'),
      { record_type: 'state' },
      reasoning,
      call('a'),
      output('a'),
    ];
    const { transcripts, bad } = read(lines);

    expect(transcripts[0]?.segments[0]?.body).toEqual({
      instructions: 'Use tabs.',
      input: [user('hello'), reasoning, call('a'), output('a')],
    });
    expect(transcripts[0]?.notes).toEqual([]);
    expect(bad).toEqual([]);
  });

  it('leaves out what no request takes, and says so', () => {
    const lines = [
      item(user('hello')),
      item({ type: 'ghost_snapshot', ghost_commit: {} }),
      item({ type: 'ghost_snapshot', ghost_commit: {} }),
      record('hologram', {}),
      record('world_state', {}),
      record('compacted', { message: 'short', replacement_history: [{ type: 'other' }, user('hello')] }),
    ];
    const main = readMain(lines);

    expect(main.segments.map(outline)).toEqual([['user: hello'], ['user: hello']]);
    expect(main.segments[1]?.opening).toMatchObject({ summary: 'short', carried: 1 });
    expect(main.notes).toEqual([
      'items left out that no request takes: 2 ghost_snapshot, 1 other',
      'records of unknown type left out: 1 hologram',
    ]);
  });
});

describe('token counts', () => {
  it('go to the last item of the response before them', () => {
    const lines = [
      item(user('hello')),
      event('token_count', { info: null }),
      item(reasoning),
      item(call('a')),
      tokenCount(100, 20),
      item(output('a')),
      item(call('b')),
      item(output('b')),
      tokenCount(150, 30),
      tokenCount(150, 30),
      item(user('thanks')),
      tokenCount(170, 30),
    ];
    const origins = readMain(lines).segments[0]?.origins ?? [];

    expect(origins.map(({ usage }) => usage?.promptTokens)).toEqual([
      undefined,
      undefined,
      100,
      undefined,
      150,
      undefined,
      undefined,
    ]);
    expect(origins[2]?.usage).toEqual({ promptTokens: 100, outputTokens: 20 });
  });

  it('tell the size before a compaction and, as a bare total, after it', () => {
    const lines = [
      item(user('hello')),
      item(assistant('hi')),
      tokenCount(200_000, 500),
      record('compacted', { message: '', replacement_history: [user('hello'), assistant('hi')] }),
      tokenCount(0, 0, 12_000),
      item(assistant('go on')),
      tokenCount(0, 0, 77),
      tokenCount(13_000, 40),
    ];
    const [, segment] = readMain(lines).segments;

    expect(segment?.opening).toMatchObject({ tokensBefore: 200_500, tokensAfter: 12_000 });
    expect(segment?.origins.map(({ usage }) => usage?.promptTokens)).toEqual([undefined, undefined, 13_000]);
  });

  it('never go to what a compaction carried over', () => {
    const lines = [
      item(user('hello')),
      record('compacted', { message: '', replacement_history: [assistant('hi')] }),
      tokenCount(13_000, 40),
    ];

    expect(readMain(lines).segments[1]?.origins[0]?.usage).toBeUndefined();
  });
});

describe('the context window', () => {
  const started = (type: string, tokens: unknown) => event(type, { model_context_window: tokens });

  it.each([
    { why: 'a turn names it', records: [started('task_started', 258_400)], tokens: 258_400 },
    {
      why: 'a turn of newer versions names it',
      records: [started('turn_started', 258_400)],
      tokens: 258_400,
    },
    {
      why: 'a token count names it',
      records: [event('token_count', { info: { model_context_window: 258_400 } })],
      tokens: 258_400,
    },
    {
      why: 'the newest word counts',
      records: [started('task_started', 258_400), started('task_started', 121_600)],
      tokens: 121_600,
    },
    {
      why: 'what is no number takes nothing back',
      records: [started('task_started', 258_400), started('task_started', null)],
      tokens: 258_400,
    },
    { why: 'nobody names it', records: [], tokens: undefined },
  ])('is what the harness says: $why', ({ records, tokens }) => {
    expect(readMain([item(user('hello')), ...records]).windowTokens).toBe(tokens);
  });
});

describe('a roll-back', () => {
  const turns = [
    item(user('<environment_context>')),
    item(user('one')),
    item(assistant('first')),
    item(user('<subagent_notification>')),
    item(user('two')),
    item(call('a')),
    item(output('a')),
    item(user('three')),
  ];

  it.each([
    { turns: 0, left: 8, removed: 0 },
    { turns: 1, left: 7, removed: 1 },
    { turns: 2, left: 4, removed: 2 },
    { turns: 3, left: 1, removed: 3 },
    { turns: 9, left: 1, removed: 3 },
    { turns: -1, left: 8, removed: 0 },
    { turns: 'all', left: 8, removed: 0 },
  ])('of $turns turns leaves $left items', ({ turns: number, left, removed }) => {
    const main = readMain([...turns, event('thread_rolled_back', { num_turns: number })]);

    expect(main.segments[0]?.origins).toHaveLength(left);
    expect(itemsOf(main.segments[0]!)).toHaveLength(left);
    expect(main.notes).toEqual(
      removed === 0
        ? []
        : [`${removed} ${removed === 1 ? 'turn' : 'turns'} rolled back by the user left out`],
    );
  });

  it.each([
    '# AGENTS.md instructions for /home/me',
    '<environment_context>',
    '<skill>',
    '<subagent_notification>',
    '<turn_aborted>',
    '<user_instructions>',
    '<user_shell_command>',
  ])('does not take a message of the harness for a turn: %s', (opening) => {
    const lines = [
      item(user('one')),
      item(user('two')),
      item(user(opening)),
      event('thread_rolled_back', { num_turns: 1 }),
    ];

    expect(outline(readMain(lines).segments[0])).toEqual(['user: one']);
  });

  it('makes room for the usage of the next response', () => {
    const rolledBack = event('thread_rolled_back', { num_turns: 1 });
    const lines = [
      item(user('one')),
      item(assistant('first')),
      tokenCount(10, 1),
      rolledBack,
      item(assistant('other')),
      tokenCount(20, 2),
    ];

    expect(readMain(lines).segments[0]?.origins.map(({ usage }) => usage?.promptTokens)).toEqual([20]);
  });

  it('into a replacement history makes less of it carried', () => {
    const lines = [
      record('compacted', {
        message: '',
        replacement_history: [user('one'), assistant('first'), user('two')],
      }),
      item(assistant('second')),
      event('thread_rolled_back', { num_turns: 1 }),
      item(user('other')),
    ];
    const segment = readMain(lines).segments[0];

    expect(outline(segment)).toEqual(['user: one', 'assistant: first', 'user: other']);
    expect(segment?.opening?.carried).toBe(2);
  });
});

describe('records that are not what they should be', () => {
  it.each([
    { value: 7, reason: 'a record must be an object' },
    { value: {}, reason: 'a record must have a type' },
    {
      value: { timestamp, type: 'response_item' },
      reason: 'the payload of a response_item record must be an object',
    },
    { value: record('compacted', null), reason: 'the payload of a compacted record must be an object' },
    { value: record('hologram', 3), reason: 'the payload of a hologram record must be an object' },
    { value: item({ role: 'user' }), reason: 'not a response item' },
    { value: item({ type: 'message', role: 'user' }), reason: 'not a response item' },
    {
      value: record('compacted', { message: '' }),
      reason: 'a compaction must have a replacement history or a message',
    },
  ])('are reported with their place: $reason', ({ value, reason }) => {
    const { transcripts, bad } = read([item(user('hello')), value, item(assistant('hi'))]);

    expect(bad).toEqual([{ place: { source: 'rollout.jsonl', line: 2 }, reason }]);
    expect(transcripts[0]?.segments.map(outline)).toEqual([['user: hello', 'assistant: hi']]);
  });

  it('inside a replacement history are reported with their path', () => {
    const { bad } = read([record('compacted', { replacement_history: [user('hello'), 'hello'] })]);

    expect(bad.map(({ place }) => place.path)).toEqual(['payload.replacement_history.1']);
  });

  it('give no transcript when there is no item at all', () => {
    expect(read([record('session_meta', { id: 'x' }), event('token_count')]).transcripts).toEqual([]);
  });

  const oddValue = fc.oneof(
    fc.constantFrom(null, 'message', 'user', 'compacted', '__proto__', -1, 1e9),
    fc.jsonValue({ maxDepth: 3 }),
  );
  const odd = fc.dictionary(
    fc.constantFrom(
      'type',
      'role',
      'content',
      'payload',
      'info',
      'message',
      'replacement_history',
      'num_turns',
      '__proto__',
    ),
    oddValue,
  );
  const oddRecord = fc.oneof(
    oddValue,
    odd,
    fc.constantFrom(item(user('hello')), item(call('a')), tokenCount(3, 4)),
    fc
      .tuple(fc.constantFrom('session_meta', 'response_item', 'compacted', 'event_msg', 'turn_context'), odd)
      .map(([type, payload]) => record(type, payload)),
    fc.array(odd).map((history) => record('compacted', { replacement_history: history })),
    fc.integer().map((turns) => event('thread_rolled_back', { num_turns: turns })),
  );

  test.prop([fc.array(oddRecord, { maxLength: 30 })])('never break the reading', (values) => {
    for (const { segments } of read(values).transcripts) {
      for (const segment of segments) {
        expect(segment.origins).toHaveLength(itemsOf(segment).length);
        expect(segment.opening?.carried ?? 0).toBeLessThanOrEqual(segment.origins.length);
      }
    }
    expect(typeof codex.recognise(recordEntries([0, ...values]))).toBe('boolean');
  });
});

describe('recognition', () => {
  it.each([
    ['a header', record('session_meta', { id: 'x' })],
    ['an item', item(user('hello'))],
    ['an event', event('task_started')],
    ['a turn', record('turn_context', { model: 'gpt-5.4' })],
    ['a compaction', record('compacted', { message: 'short' })],
    ['the bare layout', { record_type: 'state' }],
  ])('is certain of a file that begins with %s', (_, value) => {
    expect(codex.recognise(recordEntries([{ unknown: true }, value]))).toBe(true);
    expect(claudeCode.recognise(recordEntries([value]))).toBe(false);
  });

  it.each([
    ['a bare list of items', user('hello')],
    ['an envelope without a payload', { timestamp, type: 'response_item' }],
    [
      'a session of another harness',
      { type: 'user', uuid: 'u1', parentUuid: null, message: { role: 'user', content: '' } },
    ],
    ['a message of another harness', { type: 'message', message: { role: 'user', content: [] } }],
    ['no object', 'session_meta'],
  ])('says no to %s', (_, value) => {
    expect(codex.recognise(recordEntries([value]))).toBe(false);
  });
});

describe('what was counted', () => {
  const counted = (time: string, total: number) => ({
    timestamp: time,
    type: 'event_msg',
    payload: {
      type: 'token_count',
      info: {
        total_token_usage: { total_tokens: total },
        last_token_usage: { input_tokens: 100, cached_input_tokens: 60, output_tokens: 5 },
      },
    },
  });
  const meta = (payload: object) => ({
    timestamp: '2026-04-11T20:00:00.100Z',
    type: 'session_meta',
    payload,
  });

  it('is one charge for each response, though events repeat the newest count', () => {
    const lines = [
      item(user('hi')),
      item(assistant('yes')),
      counted('2026-04-11T20:00:05.000Z', 105),
      counted('2026-04-11T20:00:06.000Z', 105),
      counted('2026-04-11T20:00:09.000Z', 210),
    ];

    expect(readMain(lines).charges).toMatchObject([
      { inputTokens: 40, cacheReadTokens: 60, outputTokens: 5 },
      { inputTokens: 40, cacheReadTokens: 60, outputTokens: 5 },
    ]);
  });

  it('is not counted again in a fork, which begins with a copy of its parent', () => {
    const lines = [
      meta({ id: 'fork', forked_from_id: 'parent' }),
      meta({ id: 'parent' }),
      item(user('hi')),
      counted('2026-04-11T20:00:00.110Z', 105),
      item(assistant('yes')),
      counted('2026-04-11T20:00:08.000Z', 210),
    ];

    expect(readMain(lines).charges).toHaveLength(1);
    expect(readMain(lines).session?.id).toBe('fork');
  });
});
