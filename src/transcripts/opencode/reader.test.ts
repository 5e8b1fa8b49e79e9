import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { bodyOf, foldRecords, foldTranscript } from '../../../test/support/fold-records.ts';
import { opencode } from './reader.ts';

const read = (...records: readonly unknown[]) => foldRecords(opencode, records);
const readOne = (...records: readonly unknown[]) => foldTranscript(opencode, records);

let serial = 0;
const ids = () => ({ id: `prt_${++serial}`, sessionID: 'ses_1', messageID: 'msg_1' });

const text = (words: string, fields: object = {}) => ({ type: 'text', text: words, ...fields, ...ids() });
const stepStart = () => ({ type: 'step-start', snapshot: 'f00', ...ids() });
const stepFinish = (input: number) => ({
  type: 'step-finish',
  reason: 'stop',
  tokens: { input, output: 5, reasoning: 2, cache: { read: 100, write: 10 } },
  ...ids(),
});

function tool(callID: string, state: object) {
  return { type: 'tool', callID, tool: 'bash', state: { input: { command: 'ls' }, ...state }, ...ids() };
}

function user(id: string, parts: readonly unknown[], info: object = {}) {
  const model = { providerID: 'anthropic', modelID: 'claude-sonnet-4-5' };
  return {
    info: { id, role: 'user', sessionID: 'ses_1', time: { created: 1_780_000_000_000 }, model, ...info },
    parts,
  };
}

function assistant(id: string, parts: readonly unknown[], info: object = {}) {
  const base = {
    id,
    role: 'assistant',
    sessionID: 'ses_1',
    modelID: 'claude-opus-4-5',
    time: { created: 1_780_000_001_000 },
  };
  return { info: { ...base, ...info }, parts };
}

describe('messages of OpenCode', () => {
  it('become Anthropic messages: a call and its result part ways', () => {
    const transcript = readOne(
      user('msg_a', [text('what is here?')]),
      assistant('msg_b', [
        stepStart(),
        text('Looking.'),
        tool('call_1', { status: 'completed', output: 'kiln.ts', metadata: { big: 'copy' }, title: 'ls' }),
        stepFinish(7),
        { type: 'patch', hash: 'x', files: [] },
      ]),
    );
    expect(transcript).toMatchObject({
      reader: 'opencode',
      format: 'anthropic-messages',
      title: 'main',
      model: 'claude-opus-4-5',
    });
    expect(bodyOf(transcript)).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'what is here?' }] },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'Looking.' },
          { type: 'tool_use', id: 'call_1', name: 'bash', input: { command: 'ls' } },
        ],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_1', content: 'kiln.ts' }] },
    ]);
    expect(transcript.segments[0]?.origins[1]).toEqual({
      place: { line: 2 },
      timestamp: '2026-05-28T20:26:41.000Z',
      responseId: undefined,
      usage: { promptTokens: 117, outputTokens: 7 },
    });
    expect(transcript.notes).toEqual([]);
  });

  it('hold several rounds when they hold several steps', () => {
    const done = { status: 'completed', output: 'ok' };
    const transcript = readOne(
      assistant('msg_b', [
        stepStart(),
        tool('c1', done),
        tool('c2', done),
        stepFinish(1),
        stepStart(),
        tool('c3', done),
        stepFinish(2),
        stepStart(),
        text('all done'),
      ]),
    );
    expect(bodyOf(transcript)).toMatchObject([
      { role: 'assistant', content: [{ id: 'c1' }, { id: 'c2' }] },
      { role: 'user', content: [{ tool_use_id: 'c1' }, { tool_use_id: 'c2' }] },
      { role: 'assistant', content: [{ id: 'c3' }] },
      { role: 'user', content: [{ tool_use_id: 'c3' }] },
      { role: 'assistant', content: [{ text: 'all done' }] },
    ]);
    expect(transcript.segments[0]?.origins.map(({ usage }) => usage?.promptTokens)).toEqual([
      111,
      undefined,
      112,
      undefined,
      undefined,
    ]);
  });

  it.each([
    { why: 'a pending call has no result', state: { status: 'pending', raw: '{' }, results: [] },
    { why: 'a running call has no result', state: { status: 'running' }, results: [] },
    {
      why: 'a failed call is an error',
      state: { status: 'error', error: 'no such file' },
      results: [{ content: 'no such file', is_error: true }],
    },
    {
      why: 'an interrupted call gives what it had',
      state: { status: 'error', error: 'aborted', metadata: { interrupted: true, output: 'half' } },
      results: [{ content: 'half' }],
    },
    {
      why: 'images of a result stand in it',
      state: {
        status: 'completed',
        output: 'shot',
        attachments: [{ type: 'file', mime: 'image/png', url: 'data:image/png;base64,aGk=' }],
      },
      results: [
        {
          content: [
            { type: 'text', text: 'shot' },
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'aGk=' } },
          ],
        },
      ],
    },
  ])('$why', ({ state, results }) => {
    const messages = bodyOf(readOne(assistant('m', [tool('c', state)]))) as { content: unknown[] }[];
    expect(messages.slice(1).flatMap(({ content }) => content)).toEqual(
      results.map((fields) => ({ type: 'tool_result', tool_use_id: 'c', ...fields })),
    );
  });

  it('keep signed thinking and lose the rest of the reasoning', () => {
    const reasoning = (metadata: unknown) => ({ type: 'reasoning', text: 'hm', metadata, ...ids() });
    const transcript = readOne(
      assistant('m', [
        reasoning({ anthropic: { signature: 'c2ln' } }),
        reasoning({ anthropic: { redactedData: 'b3A=' } }),
        reasoning(undefined),
        text('so'),
      ]),
    );
    expect(bodyOf(transcript)).toEqual([
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'hm', signature: 'c2ln' },
          { type: 'redacted_thinking', data: 'b3A=' },
          { type: 'text', text: 'so' },
        ],
      },
    ]);
    expect(transcript.notes).toEqual(['1 reasoning part without an Anthropic signature left out']);
  });

  it('say what OpenCode wrote in the name of the user, and what cannot be sent', () => {
    const transcript = readOne(
      user('m', [
        text('read this', {}),
        text('Called the Read tool', { synthetic: true }),
        text('not for the model', { ignored: true }),
        text(' '),
        { type: 'file', mime: 'application/pdf', url: 'https://example.com/a.pdf' },
        { type: 'file', mime: 'text/plain', url: 'file:///a.txt' },
        { type: 'file', mime: 'audio/wav', url: 'data:audio/wav;base64,aGk=' },
        { type: 'agent', name: 'build' },
        { type: 'subtask', prompt: 'p', description: 'd', agent: 'a' },
        { type: 'hologram' },
      ]),
    );
    expect(bodyOf(transcript)).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'read this' },
          { type: 'text', text: 'Called the Read tool' },
          { type: 'document', source: { type: 'url', url: 'https://example.com/a.pdf' } },
        ],
      },
    ]);
    expect(transcript.notes).toEqual([
      '1 synthetic text part kept: written by OpenCode, not by the user',
      '1 blank text part left out',
      '1 attached file that the format or the record has no room for left out',
      '1 subtask marker left out',
      '1 part of an unknown type left out',
    ]);
  });

  it('that failed are left out, unless the user stopped them at work', () => {
    const transcript = readOne(
      assistant('m1', [text('half a')], { error: { name: 'APIError' } }),
      assistant('m2', [stepStart()], { error: { name: 'MessageAbortedError' } }),
      assistant('m3', [text('half an answer')], { error: { name: 'MessageAbortedError' } }),
      assistant('m4', []),
    );
    expect(bodyOf(transcript)).toMatchObject([{ content: [{ text: 'half an answer' }] }]);
    expect(transcript.notes).toEqual(['2 failed turns left out', '1 turn without content left out']);
  });

  it('show results in full that OpenCode cleared later', () => {
    const transcript = readOne(
      assistant('m', [tool('c', { status: 'completed', output: 'long', time: { compacted: 1 } })]),
    );
    expect(bodyOf(transcript)).toMatchObject([{}, { content: [{ content: 'long' }] }]);
    expect(transcript.notes).toEqual(['1 tool result that OpenCode had cleared shown in full']);
  });
});

describe('compactions of OpenCode', () => {
  const marker = (fields: object) => ({ type: 'compaction', auto: true, ...fields, ...ids() });

  it('open a segment with the summary as a user message and the kept tail', () => {
    const transcript = readOne(
      user('m1', [text('one')]),
      assistant('m2', [text('first')]),
      user('m3', [text('two')]),
      user('m4', [marker({ tail_start_id: 'm3' })]),
      assistant('m5', [text('they counted')], { summary: true, parentID: 'm4', tokens: { input: 9 } }),
      user('m6', [text('three')]),
    );
    expect(bodyOf(transcript, 0)).toMatchObject([
      { content: [{ text: 'one' }] },
      { role: 'assistant' },
      { content: [{ text: 'two' }] },
    ]);
    expect(bodyOf(transcript, 1)).toMatchObject([
      { role: 'user', content: 'they counted' },
      { role: 'user', content: [{ text: 'two' }] },
      { role: 'user', content: [{ text: 'three' }] },
    ]);
    expect(transcript.segments[1]?.opening).toEqual({
      trigger: 'auto',
      tokensBefore: undefined,
      tokensAfter: undefined,
      summary: 'they counted',
      carried: 2,
    });
  });

  it.each([
    { why: 'the user asked', parts: [{ type: 'compaction', auto: false }], trigger: 'manual' },
    { why: 'older versions do not say', parts: [], trigger: undefined },
  ])('have the trigger $trigger when $why', ({ parts, trigger }) => {
    const transcript = readOne(user('m1', parts), assistant('m2', [text('S')], { summary: true }));
    expect(transcript.segments[1]?.opening).toMatchObject({ trigger, summary: 'S', carried: 1 });
  });

  it('that came to nothing change nothing', () => {
    const transcript = readOne(
      user('m1', [text('one')]),
      user('m2', [marker({})]),
      assistant('m3', [text('half a summ')], { summary: true, error: { name: 'APIError' } }),
      user('m4', [text('two')]),
    );
    expect(transcript.segments).toHaveLength(1);
    expect(bodyOf(transcript)).toHaveLength(2);
    expect(transcript.notes).toContain('1 compaction that came to nothing left out');
  });

  it('are told from user messages, whose summary lists changed files', () => {
    expect(readOne(user('m1', [text('one')], { summary: { diffs: [] } })).segments).toHaveLength(1);
  });
});

describe('files of OpenCode', () => {
  it('may be exports, given one by one; those of sub-agents name their parent', () => {
    const info = { id: 'ses_1', title: 'Kiln' };
    const { transcripts, bad } = read(
      { info, messages: [user('m', [text('hi')])] },
      { info: { id: 'ses_2', parentID: 'ses_1' }, messages: [user('m', [text('sub')]), { info: 3 }] },
    );
    expect(transcripts).toMatchObject([
      { title: 'main', kind: 'main' },
      { title: 'session ses_2', kind: 'side-chain' },
    ]);
    expect(transcripts[0]?.segments[0]?.origins[0]?.place).toEqual({ line: 1, path: 'messages.0' });
    expect(bad).toMatchObject([{ place: { line: 2, path: 'messages.1' } }]);
  });

  it('may mix sessions', () => {
    const { transcripts } = read(
      user('m1', [text('a')]),
      user('m2', [text('b')], { sessionID: 'ses_2' }),
      user('m3', [text('c')]),
    );
    expect(transcripts.map(({ title, segments }) => [title, segments[0]?.origins.length])).toEqual([
      ['session ses_1', 2],
      ['session ses_2', 1],
    ]);
  });

  it.each([
    { value: null, place: { line: 1 } },
    { value: { info: {}, parts: 3 }, place: { line: 1 } },
    { value: assistant('m', [{ type: 'tool', callID: 3 }]), place: { line: 1, path: 'parts.0' } },
  ])('may hold what has no place in them: $value', ({ value, place }) => {
    expect(read(value).bad).toMatchObject([{ place }]);
  });

  test.prop([
    fc.array(
      fc.record({
        info: fc.record({
          id: fc.string(),
          role: fc.constantFrom('user', 'assistant'),
          summary: fc.anything(),
          error: fc.anything(),
        }),
        parts: fc.array(
          fc.record({
            type: fc.constantFrom('text', 'tool', 'file', 'reasoning', 'compaction'),
            text: fc.anything(),
            state: fc.anything(),
            callID: fc.anything(),
            tool: fc.anything(),
          }),
        ),
      }),
    ),
  ])('never make it throw', (records) => {
    expect(() => read(...records)).not.toThrow();
  });
});
