import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { bodyOf, foldRecords, foldTranscript } from '../../../test/support/fold-records.ts';
import { geminiCli } from './reader.ts';

const read = (...records: readonly unknown[]) => foldRecords(geminiCli, records);
const readOne = (...records: readonly unknown[]) => foldTranscript(geminiCli, records);

const header = {
  sessionId: 's-1',
  projectHash: 'ab12',
  startTime: '2026-01-01T00:00:00Z',
  lastUpdated: '2026-01-01T00:01:00Z',
};
const session = (...messages: readonly unknown[]) => ({ ...header, messages });

let serial = 0;
const base = () => ({ id: `m${++serial}`, timestamp: '2026-01-01T00:00:01Z' });
const user = (content: unknown, fields: object = {}) => ({ ...base(), type: 'user', content, ...fields });
const model = (content: unknown, fields: object = {}) => ({
  ...base(),
  type: 'gemini',
  content,
  model: 'gemini-2.5-pro',
  ...fields,
});

function toolCall(id: string, fields: object = {}) {
  const result = [{ functionResponse: { id, name: 'ls', response: { output: `out of ${id}` } } }];
  return {
    id,
    name: 'ls',
    args: { dir: '.' },
    result,
    status: 'success',
    resultDisplay: 'a copy',
    ...fields,
  };
}

describe('a Gemini CLI session', () => {
  it('becomes contents: calls in the turn of the model, responses in a user turn of their own', () => {
    const tokens = { input: 900, output: 20, cached: 400, thoughts: 30, tool: 5, total: 955 };
    const thoughts = [{ subject: 'Looking', description: 'around' }];
    const first = toolCall('ls-1');
    const transcript = readOne(
      session(
        user('what is here?'),
        model('Let me look.', { toolCalls: [first, toolCall('ls-2')], thoughts, tokens }),
        { ...base(), type: 'info', content: 'Update available' },
        model('Two files.'),
      ),
    );
    expect(transcript).toMatchObject({
      reader: 'gemini-cli',
      format: 'gemini',
      title: 'main',
      kind: 'main',
      model: 'gemini-2.5-pro',
    });
    expect(bodyOf(transcript)).toEqual([
      { role: 'user', parts: [{ text: 'what is here?' }] },
      {
        role: 'model',
        parts: [
          { text: 'Let me look.' },
          { functionCall: { id: 'ls-1', name: 'ls', args: { dir: '.' } } },
          { functionCall: { id: 'ls-2', name: 'ls', args: { dir: '.' } } },
        ],
      },
      {
        role: 'user',
        parts: [
          { functionResponse: { id: 'ls-1', name: 'ls', response: { output: 'out of ls-1' } } },
          { functionResponse: { id: 'ls-2', name: 'ls', response: { output: 'out of ls-2' } } },
        ],
      },
      { role: 'model', parts: [{ text: 'Two files.' }] },
    ]);
    expect((bodyOf(transcript) as { parts: unknown[] }[])[2]?.parts[0]).toBe(first.result[0]);
    expect(transcript.segments[0]?.origins.map(({ place, usage }) => [place.path, usage])).toEqual([
      ['messages.0', undefined],
      ['messages.1', { promptTokens: 905, outputTokens: 50 }],
      ['messages.1', undefined],
      ['messages.3', undefined],
    ]);
    expect(transcript.notes).toEqual([
      '1 thought left out: shown, never sent',
      '1 notice of the program left out',
    ]);
  });

  it('joins calls that were recorded late to the text of their response', () => {
    const transcript = readOne(
      session(user('go'), model('Removing.'), model('', { toolCalls: [toolCall('rm-1')] }), model('Done.')),
    );
    expect(bodyOf(transcript)).toMatchObject([
      { role: 'user' },
      { role: 'model', parts: [{ text: 'Removing.' }, { functionCall: { id: 'rm-1' } }] },
      { role: 'user', parts: [{ functionResponse: { id: 'rm-1' } }] },
      { role: 'model', parts: [{ text: 'Done.' }] },
    ]);
  });

  it('gives a response once, though it is recorded with its call and as the message that was sent', () => {
    const image = { inlineData: { mimeType: 'image/png', data: 'aGk=' } };
    const first = toolCall('a');
    const second = toolCall('b', { result: [...toolCall('b').result, image] });
    const transcript = readOne(
      session(
        user('what is here?'),
        model('', { toolCalls: [first, second] }),
        { ...base(), type: 'info', content: 'Update available' },
        user([...first.result, ...second.result]),
        model('Two files.'),
      ),
    );

    expect(bodyOf(transcript)).toEqual([
      { role: 'user', parts: [{ text: 'what is here?' }] },
      {
        role: 'model',
        parts: [
          { functionCall: { id: 'a', name: 'ls', args: { dir: '.' } } },
          { functionCall: { id: 'b', name: 'ls', args: { dir: '.' } } },
        ],
      },
      { role: 'user', parts: [...first.result, ...second.result] },
      { role: 'model', parts: [{ text: 'Two files.' }] },
    ]);
    expect(transcript.segments[0]?.origins).toHaveLength(4);
  });

  it('puts a response that only its call has in front of those that were sent', () => {
    const first = toolCall('a');
    const second = toolCall('b');
    const transcript = readOne(
      session(user('go'), model('', { toolCalls: [first, second] }), user([...second.result, 'and now?'])),
    );

    expect(bodyOf(transcript)).toMatchObject([
      {},
      {},
      { role: 'user', parts: [...first.result, ...second.result, { text: 'and now?' }] },
    ]);
  });

  it('says nothing of a record that a later one of its id has replaced', () => {
    const { id } = base();
    const early = { ...model('', { thoughts: [{ subject: 'Looking' }] }), id };
    const late = { ...early, toolCalls: [toolCall('a')] };
    const { transcripts } = read(header, user('go'), early, late);

    expect(transcripts[0]?.notes).toEqual(['1 thought left out: shown, never sent']);
  });

  it('never joins calls to a turn that has calls of its own', () => {
    const call = { functionCall: { id: 'a', name: 'ls', args: {} } };
    const unanswered = toolCall('b', { result: undefined });
    expect(bodyOf(readOne(session(model([call]), model('', { toolCalls: [unanswered] }))))).toHaveLength(2);
    expect(
      bodyOf(
        readOne(session(model('', { toolCalls: [unanswered] }), model('', { toolCalls: [toolCall('c')] }))),
      ),
    ).toHaveLength(3);
  });

  it.each([
    { why: 'no result leaves the call unanswered', result: undefined, parts: undefined },
    { why: 'null is no result', result: null, parts: undefined },
    {
      why: 'text is the output',
      result: 'plain',
      parts: [{ functionResponse: { id: 'x', name: 'ls', response: { output: 'plain' } } }],
    },
    {
      why: 'text parts are the output',
      result: [{ text: 'a' }, 'b'],
      parts: [{ functionResponse: { id: 'x', name: 'ls', response: { output: 'ab' } } }],
    },
    {
      why: 'media beside a response stay',
      result: [
        { functionResponse: { id: 'x', name: 'ls', response: {} } },
        { inlineData: { mimeType: 'image/png', data: 'aGk=' } },
      ],
      parts: [
        { functionResponse: { id: 'x', name: 'ls', response: {} } },
        { inlineData: { mimeType: 'image/png', data: 'aGk=' } },
      ],
    },
  ])('of a call: $why', ({ result, parts }) => {
    const contents = bodyOf(readOne(session(model('', { toolCalls: [toolCall('x', { result })] })))) as {
      parts: unknown[];
    }[];
    expect(contents[1]?.parts).toEqual(parts);
  });

  it('keeps parts as they are, signatures included, and a call in them once', () => {
    const part = { functionCall: { id: 'x', name: 'ls', args: {} }, thoughtSignature: 'c2ln' };
    const contents = bodyOf(readOne(session(model([part], { toolCalls: [toolCall('x')] })))) as {
      parts: unknown[];
    }[];
    expect(contents[0]?.parts).toHaveLength(1);
    expect(contents[0]?.parts[0]).toBe(part);
    expect(contents[1]?.parts).toHaveLength(1);
  });

  it('leaves out empty messages and unknown types, and counts them', () => {
    const { notes, segments } = readOne(
      session(user(''), model([]), { ...base(), type: 'hologram', content: 'x' }),
    );
    expect(segments[0]?.body).toEqual([]);
    expect(notes).toEqual(['2 messages without content left out', '1 message of an unknown type left out']);
  });
});

describe('the JSONL form', () => {
  const { sessionId, projectHash } = header;

  it('takes the last record of an id, at the place of the first', () => {
    const first = model('draft');
    const transcript = readOne(
      { sessionId, projectHash },
      user('go'),
      first,
      user('next'),
      { ...first, content: 'final' },
      { $set: { lastUpdated: 'x' } },
    );
    expect(bodyOf(transcript)).toEqual([
      { role: 'user', parts: [{ text: 'go' }] },
      { role: 'model', parts: [{ text: 'final' }] },
      { role: 'user', parts: [{ text: 'next' }] },
    ]);
  });

  it('takes back what a rewind takes back', () => {
    const second = user('second');
    const transcript = readOne(
      { sessionId, projectHash },
      user('first'),
      second,
      model('answer'),
      { $rewindTo: second.id },
      user('instead'),
    );
    expect(bodyOf(transcript)).toMatchObject([
      { parts: [{ text: 'first' }] },
      { parts: [{ text: 'instead' }] },
    ]);
    expect(transcript.notes).toEqual(['1 rewind applied: what was taken back is left out']);
  });

  it('leaves alone what a rewind cannot find', () => {
    const transcript = readOne({ sessionId, projectHash }, user('first'), { $rewindTo: 'gone' });
    expect(bodyOf(transcript)).toHaveLength(1);
    expect(transcript.notes).toEqual(['1 rewind to a message that is not in the file not applied']);
  });

  it('may replace all messages, and may begin in the middle', () => {
    const transcript = readOne(user('old'), { $set: { messages: [user('new')], kind: 'subagent' } });
    expect(bodyOf(transcript)).toMatchObject([{ parts: [{ text: 'new' }] }]);
    expect(transcript).toMatchObject({ title: 'sub-agent', kind: 'side-chain' });
    expect(transcript.segments[0]?.origins[0]?.place).toEqual({ line: 2, path: '$set.messages.0' });
  });

  it('gives a session when the next one begins; a repeated header begins none', () => {
    const fold = geminiCli.open(() => undefined);
    const entry = (value: unknown) => ({ value, place: {}, kind: 'document' as const, document: 0 });
    expect([...fold.add(entry({ sessionId, projectHash }))]).toEqual([]);
    expect([...fold.add(entry(user('a')))]).toEqual([]);
    expect([...fold.add(entry({ sessionId, projectHash }))]).toEqual([]);
    expect([...fold.add(entry({ sessionId: 's-2', projectHash }))]).toMatchObject([{ title: 'main' }]);
    expect([...fold.end()]).toMatchObject([{ title: 'session s-2' }]);
  });
});

describe('odd records', () => {
  it.each([
    { value: [], place: { line: 1 } },
    { value: { content: 'x' }, place: { line: 1 } },
    { value: session('x'), place: { line: 1, path: 'messages.0' } },
  ])('are named with their place: $place', ({ value, place }) => {
    expect(read(value).bad).toMatchObject([{ place }]);
  });

  test.prop([
    fc.array(
      fc.oneof(
        fc.anything(),
        fc.record({
          id: fc.constantFrom('a', 'b'),
          type: fc.constantFrom('user', 'gemini'),
          content: fc.anything(),
          toolCalls: fc.anything(),
          tokens: fc.anything(),
        }),
        fc.record({ $rewindTo: fc.constantFrom('a', 'b') }),
      ),
    ),
  ])('never make it throw', (records) => {
    expect(() => read(...records)).not.toThrow();
  });
});
