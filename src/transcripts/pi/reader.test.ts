import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { bodyOf, foldRecords, foldTranscript } from '../../../test/support/fold-records.ts';
import { pi } from './reader.ts';

const read = (...records: readonly unknown[]) => foldRecords(pi, records);
const readOne = (...records: readonly unknown[]) => foldTranscript(pi, records);

const header = {
  type: 'session',
  id: 'b7c5',
  timestamp: '2026-03-01T08:00:00.000Z',
  cwd: '/home/ada/kiln',
  modelId: 'claude-sonnet-4-5',
};

let clock = 0;
const at = () => new Date(Date.UTC(2026, 2, 1, 8, 0, clock++)).toISOString();

function message(fields: object, tree: object = {}) {
  return { type: 'message', timestamp: at(), ...tree, message: fields };
}

const user = (text: string, tree?: object) =>
  message({ role: 'user', content: [{ type: 'text', text }] }, tree);

function assistant(content: readonly unknown[], fields: object = {}, tree?: object) {
  const usage = { input: 10, output: 4, cacheRead: 200, cacheWrite: 30 };
  const base = { role: 'assistant', content, api: 'anthropic-messages', model: 'claude-opus-4-5', usage };
  return message({ ...base, stopReason: 'stop', ...fields }, tree);
}

const call = (id: string, path = 'kiln.ts') => ({ type: 'toolCall', id, name: 'read', arguments: { path } });

function result(id: string, text: string, fields: object = {}, tree?: object) {
  const base = { role: 'toolResult', toolCallId: id, toolName: 'read', content: [{ type: 'text', text }] };
  return message({ ...base, isError: false, ...fields }, tree);
}

describe('messages of a pi session', () => {
  it('become Anthropic messages with nothing else on them', () => {
    const transcript = readOne(
      header,
      user('light the kiln'),
      assistant([{ type: 'text', text: 'Reading.' }, call('toolu_1')], {
        stopReason: 'toolUse',
        responseId: 'msg_1',
      }),
      result('toolu_1', 'export const kiln = 1', { details: { truncation: { content: 'a copy' } } }),
    );
    expect(transcript).toMatchObject({
      reader: 'pi',
      format: 'anthropic-messages',
      title: 'main',
      kind: 'main',
    });
    expect(transcript.model).toBe('claude-opus-4-5');
    expect(bodyOf(transcript)).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'light the kiln' }] },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'Reading.' },
          { type: 'tool_use', id: 'toolu_1', name: 'read', input: { path: 'kiln.ts' } },
        ],
      },
      {
        role: 'user',
        content: [
          {
            type: 'tool_result',
            tool_use_id: 'toolu_1',
            content: [{ type: 'text', text: 'export const kiln = 1' }],
          },
        ],
      },
    ]);
    expect(transcript.segments[0]?.origins[1]).toMatchObject({
      place: { line: 3 },
      responseId: 'msg_1',
      usage: { promptTokens: 240, outputTokens: 4 },
    });
    expect(transcript.notes).toEqual([]);
  });

  it('keep their blocks as the very values of the record, unknown ones included', () => {
    const known = { type: 'text', text: 'hello' };
    const unknown = { type: 'hologram', depth: 3 };
    const transcript = readOne(header, message({ role: 'user', content: [known, unknown] }));
    const [first] = bodyOf(transcript) as { content: unknown[] }[];
    expect(first?.content[0]).toBe(known);
    expect(first?.content[1]).toBe(unknown);
  });

  it.each([
    {
      why: 'signed thinking keeps its signature',
      block: { type: 'thinking', thinking: 'warm it slowly', thinkingSignature: 'c2ln' },
      wire: [{ type: 'thinking', thinking: 'warm it slowly', signature: 'c2ln' }],
    },
    {
      why: 'redacted thinking is its data',
      block: { type: 'thinking', thinking: '', thinkingSignature: 'b3BhcXVl', redacted: true },
      wire: [{ type: 'redacted_thinking', data: 'b3BhcXVl' }],
    },
    {
      why: 'thinking that was cut off before its signature cannot be sent',
      block: { type: 'thinking', thinking: 'warm it', thinkingSignature: '' },
      wire: [],
      note: '1 thinking block without an Anthropic signature left out',
    },
    {
      why: 'blank text would be refused',
      block: { type: 'text', text: ' \n' },
      wire: [],
      note: '1 blank text block left out',
    },
    {
      why: 'text loses what only another API takes',
      block: { type: 'text', text: 'done', textSignature: 'x' },
      wire: [{ type: 'text', text: 'done' }],
    },
  ])('$why', ({ block, wire, note }) => {
    const transcript = readOne(header, user('go'), assistant([block, call('toolu_9')]));
    const [, second] = bodyOf(transcript) as { content: unknown[] }[];
    expect(second?.content.slice(0, -1)).toEqual(wire);
    expect(transcript.notes).toEqual(note === undefined ? [] : [note]);
  });

  it('lose the thinking of other providers, whose signatures mean nothing to Anthropic', () => {
    const thinking = { type: 'thinking', thinking: 'hm', thinkingSignature: 'reasoning_content' };
    const transcript = readOne(
      header,
      assistant([thinking, { type: 'text', text: 'ok' }], { api: 'openai-completions' }),
    );
    expect(bodyOf(transcript)).toEqual([{ role: 'assistant', content: [{ type: 'text', text: 'ok' }] }]);
  });

  it('that were aborted before they said anything are left out, and counted', () => {
    const transcript = readOne(
      header,
      user('go'),
      assistant([], { stopReason: 'aborted' }),
      assistant([{ type: 'thinking', thinking: 'w', thinkingSignature: '' }], { stopReason: 'error' }),
      user('again'),
      assistant([call('toolu_5')], { stopReason: 'aborted' }),
    );
    expect(bodyOf(transcript)).toMatchObject([
      { role: 'user' },
      { role: 'user' },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_5' }] },
    ]);
    expect(transcript.notes).toContain('2 aborted or failed turns without content left out');
  });

  it('may be commands of the user, which are sent unless kept from the model', () => {
    const run = {
      role: 'bashExecution',
      command: 'make fire',
      output: 'no wood',
      exitCode: 2,
      cancelled: false,
    };
    const transcript = readOne(header, message(run), message({ ...run, excludeFromContext: true }));
    expect(bodyOf(transcript)).toEqual([{ role: 'user', content: '$ make fire\nno wood\n(exit code 2)' }]);
    expect(transcript.notes).toEqual([
      '1 shell command of the user put into words',
      '1 shell command kept from the model left out',
    ]);
  });

  it('may hold images, in the source form of the API', () => {
    const image = { type: 'image', data: 'aGk=', mimeType: 'image/png' };
    const source = { type: 'base64', media_type: 'image/png', data: 'aGk=' };
    const transcript = readOne(
      header,
      message({ role: 'user', content: [image] }),
      assistant([call('toolu_1')]),
      result('toolu_1', '', { content: [image], isError: true }),
    );
    const block = { type: 'image', source };
    expect(bodyOf(transcript)).toMatchObject([
      { content: [block] },
      {},
      { content: [{ type: 'tool_result', content: [block], is_error: true }] },
    ]);
  });
});

describe('results of a turn', () => {
  it('become one user message in the order of the calls, before anything else the user said', () => {
    const transcript = readOne(
      header,
      assistant([call('toolu_a'), call('toolu_b'), call('toolu_c')]),
      result('toolu_c', 'third'),
      user('by the way'),
      result('toolu_a', 'first'),
      assistant([{ type: 'text', text: 'thanks' }]),
    );
    expect(bodyOf(transcript)).toMatchObject([
      { role: 'assistant' },
      { role: 'user', content: [{ tool_use_id: 'toolu_a' }, { tool_use_id: 'toolu_c' }] },
      { role: 'user', content: [{ text: 'by the way' }] },
      { role: 'assistant' },
    ]);
    expect(transcript.segments[0]?.origins[1]?.place).toEqual({ line: 5 });
  });

  it('pair by position when a turn uses an id twice', () => {
    const transcript = readOne(
      header,
      assistant([call('x'), call('x')]),
      result('x', 'one'),
      result('x', 'two'),
    );
    expect(bodyOf(transcript)).toMatchObject([
      {},
      { content: [{ content: [{ text: 'one' }] }, { content: [{ text: 'two' }] }] },
    ]);
  });

  it('that answer no call of the last turn stay where they are, side by side', () => {
    const transcript = readOne(
      result('toolu_8', 'x'),
      result('toolu_9', 'y'),
      assistant([{ type: 'text', text: 'ok' }]),
      result('toolu_9', 'again'),
    );
    expect(bodyOf(transcript)).toMatchObject([
      { role: 'user', content: [{ tool_use_id: 'toolu_8' }, { tool_use_id: 'toolu_9' }] },
      { role: 'assistant' },
      { role: 'user', content: [{ tool_use_id: 'toolu_9' }] },
    ]);
  });

  test.prop([fc.array(fc.constantFrom('u', 'a', 'A', 'r', 's'), { maxLength: 40 })])(
    'are never lost, and never stand before their call',
    (letters) => {
      const records = letters.map((letter, index) => {
        if (letter === 'u') return user(`u${index}`);
        if (letter === 'a') return assistant([call('p'), call('q')]);
        if (letter === 'A') return assistant([{ type: 'text', text: 'ok' }]);
        return result(letter === 'r' ? 'p' : 'q', `r${index}`);
      });
      const messages = bodyOf(readOne(header, ...records)) as { role: string; content: { type: string }[] }[];
      const results = messages.flatMap(({ content }) => content.filter(({ type }) => type === 'tool_result'));
      expect(results).toHaveLength(letters.filter((letter) => 'rs'.includes(letter)).length);
      for (const { role, content } of messages) {
        if (role === 'user') expect(new Set(content.map(({ type }) => type)).size).toBe(1);
      }
    },
  );
});

describe('compactions', () => {
  it('of version 1 open a segment with the summary, the records from an index on, and the later ones', () => {
    const transcript = readOne(
      header,
      user('one'),
      assistant([{ type: 'text', text: 'first' }]),
      user('two'),
      assistant([{ type: 'text', text: 'second' }]),
      {
        type: 'compaction',
        timestamp: at(),
        summary: 'they counted',
        firstKeptEntryIndex: 3,
        tokensBefore: 171_000,
      },
      user('three'),
    );
    expect(transcript.segments).toHaveLength(2);
    expect(bodyOf(transcript, 0)).toHaveLength(4);
    expect(transcript.segments[0]?.opening).toBeUndefined();
    expect(bodyOf(transcript, 1)).toMatchObject([
      { role: 'user', content: 'they counted' },
      { role: 'user', content: [{ text: 'two' }] },
      { role: 'assistant', content: [{ text: 'second' }] },
      { role: 'user', content: [{ text: 'three' }] },
    ]);
    expect(transcript.segments[1]?.opening).toEqual({
      trigger: undefined,
      tokensBefore: 171_000,
      tokensAfter: undefined,
      summary: 'they counted',
      carried: 3,
    });
    expect(transcript.segments[1]?.origins.map(({ place }) => place.line)).toEqual([6, 4, 5, 7]);
  });

  it('never carry an older summary along', () => {
    const transcript = readOne(
      header,
      user('one'),
      { type: 'compaction', summary: 'S1', firstKeptEntryIndex: 1, tokensBefore: 0 },
      user('two'),
      { type: 'compaction', summary: 'S2', firstKeptEntryIndex: 1 },
    );
    expect(bodyOf(transcript, 2)).toMatchObject([
      { content: 'S2' },
      { content: [{ text: 'one' }] },
      { content: [{ text: 'two' }] },
    ]);
    expect(transcript.segments[2]?.opening).toMatchObject({ tokensBefore: undefined, carried: 3 });
  });

  it('whose kept records are not in the file carry the summary alone, and say so', () => {
    const transcript = readOne(
      header,
      user('one'),
      { type: 'compaction', summary: 'S', firstKeptEntryId: 'gone' },
      user('two'),
    );
    expect(bodyOf(transcript, 1)).toMatchObject([{ content: 'S' }, { content: [{ text: 'two' }] }]);
    expect(transcript.notes).toContain('1 compaction whose kept records are not in the file');
  });
});

describe('trees', () => {
  const tree = (id: string, parentId: string | null) => ({ id, parentId });

  it('are read from the newest record up, and say what other branches hold', () => {
    const transcript = readOne(
      { ...header, version: 3 },
      user('start', tree('1', null)),
      assistant([{ type: 'text', text: 'wrong way' }], {}, tree('2', '1')),
      user('on the wrong way', tree('3', '2')),
      { type: 'branch_summary', ...tree('4', '1'), fromId: '3', summary: 'that led nowhere' },
      {
        type: 'custom_message',
        ...tree('5', '4'),
        customType: 'lint',
        content: 'two warnings',
        display: true,
      },
      assistant([{ type: 'text', text: 'right way' }], {}, tree('6', '5')),
      { type: 'label', ...tree('7', '6'), targetId: '6', label: 'good' },
    );
    expect(bodyOf(transcript)).toMatchObject([
      { role: 'user', content: [{ text: 'start' }] },
      { role: 'user', content: 'that led nowhere' },
      { role: 'user', content: 'two warnings' },
      { role: 'assistant', content: [{ text: 'right way' }] },
    ]);
    expect(transcript.notes).toEqual(['2 records of other branches left out']);
  });

  it('compact by id, on the branch only', () => {
    const transcript = readOne(
      { ...header, version: 3 },
      user('start', tree('1', null)),
      user('aside', tree('2', '1')),
      user('more', tree('3', '1')),
      { type: 'compaction', ...tree('4', '3'), summary: 'S', firstKeptEntryId: '3', tokensBefore: 90 },
      user('end', tree('5', '4')),
    );
    expect(bodyOf(transcript, 0)).toMatchObject([
      { content: [{ text: 'start' }] },
      { content: [{ text: 'more' }] },
    ]);
    expect(bodyOf(transcript, 1)).toMatchObject([
      { content: 'S' },
      { content: [{ text: 'more' }] },
      { content: [{ text: 'end' }] },
    ]);
  });

  it('end where a circle would begin', () => {
    const transcript = readOne(header, user('a', tree('1', '2')), user('b', tree('2', '1')));
    expect(bodyOf(transcript)).toMatchObject([{ content: [{ text: 'a' }] }, { content: [{ text: 'b' }] }]);
  });

  it('take the model from the header when no turn names one', () => {
    expect(readOne(header, user('a', tree('1', null))).model).toBe('claude-sonnet-4-5');
    expect(readOne(header, { type: 'model_change', modelId: 'claude-haiku-4-5' }, user('a')).model).toBe(
      'claude-haiku-4-5',
    );
  });
});

describe('odd records', () => {
  it.each([
    { record: 7, path: undefined, reason: 'a `type`' },
    { record: { message: {} }, path: undefined, reason: 'a `type`' },
    { record: { type: 'message' }, path: 'message', reason: 'role' },
    { record: { type: 'message', message: { role: 'oracle' } }, path: 'message', reason: 'role' },
    {
      record: { type: 'message', message: { role: 'toolResult' } },
      path: 'message.toolCallId',
      reason: 'id of the call',
    },
    {
      record: assistant([{ type: 'toolCall', id: 4 }]),
      path: 'message.content.0',
      reason: 'an id and a name',
    },
  ])('are named with their place: $path $reason', ({ record, path, reason }) => {
    const { bad } = read(header, record);
    expect(bad).toHaveLength(1);
    expect(bad[0]?.place).toEqual(path === undefined ? { line: 2 } : { line: 2, path });
    expect(bad[0]?.reason).toContain(reason);
  });

  it('of unknown types are counted', () => {
    const transcript = readOne(header, { type: 'telemetry' }, { type: 'context_edit', id: '1' });
    expect(transcript.notes).toEqual([
      '1 record of an unknown type left out',
      '1 context edit by extensions not applied',
    ]);
  });

  test.prop([fc.array(fc.anything())])('never make it throw', (values) => {
    expect(() => read(header, ...values)).not.toThrow();
  });

  test.prop([
    fc.array(
      fc.record({
        type: fc.constantFrom('message', 'compaction', 'branch_summary', 'custom_message', 'session'),
        id: fc.anything(),
        parentId: fc.constantFrom('1', '2', null),
        message: fc.record({
          role: fc.constantFrom('user', 'assistant', 'toolResult', 'bashExecution'),
          content: fc.anything(),
        }),
        summary: fc.anything(),
        firstKeptEntryIndex: fc.anything(),
      }),
    ),
  ])('never make it throw, however close they come', (records) => {
    expect(() => read(...records)).not.toThrow();
  });
});
