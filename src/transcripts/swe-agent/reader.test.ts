import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { bodyOf, foldRecords, foldTranscript } from '../../../test/support/fold-records.ts';
import { sweAgent } from './reader.ts';

const read = (...records: readonly unknown[]) => foldRecords(sweAgent, records);
const readOne = (...records: readonly unknown[]) => foldTranscript(sweAgent, records);

const step = { action: 'ls', observation: 'kiln.py', response: 'Look around.', thought: 'Look', state: {} };
const info = { exit_status: 'submitted', model_stats: { api_calls: 2 } };
const calls = [{ id: 'call_1', type: 'function', function: { name: 'bash', arguments: '{"command":"ls"}' } }];
const history = [
  { role: 'system', content: 'You fix kilns.', agent: 'main', message_type: 'system_prompt' },
  { role: 'user', content: 'A demonstration.', agent: 'main', is_demo: true, message_type: 'observation' },
  {
    role: 'assistant',
    content: 'Look around.',
    thought: 'Look',
    action: 'ls',
    agent: 'main',
    tool_calls: calls,
  },
  { role: 'tool', content: 'kiln.py', agent: 'main', tool_call_ids: ['call_1'], message_type: 'observation' },
  { role: 'assistant', content: null, action: 'ls', agent: 'main', tool_calls: calls },
];

describe('a SWE-agent trajectory', () => {
  it('is its history, with only what the API takes', () => {
    const transcript = readOne({
      trajectory: [step],
      history,
      info,
      replay_config: { agent: { model: { name: 'gpt-4o' } } },
    });
    expect(transcript).toMatchObject({
      reader: 'swe-agent',
      format: 'openai-chat',
      title: 'main',
      model: 'gpt-4o',
    });
    expect(transcript.segments).toHaveLength(1);
    expect(bodyOf(transcript)).toEqual([
      { role: 'system', content: 'You fix kilns.' },
      { role: 'user', content: 'A demonstration.' },
      { role: 'assistant', content: 'Look around.', tool_calls: calls },
      { role: 'tool', content: 'kiln.py', tool_call_id: 'call_1' },
      { role: 'assistant', content: null, tool_calls: calls },
    ]);
    expect(transcript.segments[0]?.origins.map(({ place }) => place.path)).toEqual(
      [0, 1, 2, 3, 4].map((n) => `history.${n}`),
    );
    expect(transcript.notes).toEqual(['1 demonstration message kept']);
  });

  it('keeps content and calls as the very values of the record', () => {
    const content = [{ type: 'text', text: 'hi', cache_control: { type: 'ephemeral' } }];
    const transcript = readOne({ trajectory: [], history: [{ role: 'user', content }, history[2]], info });
    const body = bodyOf(transcript) as { content: unknown; tool_calls: unknown }[];
    expect(body[0]?.content).toBe(content);
    expect(body[1]?.tool_calls).toBe(calls);
  });

  it('leaves out what has no role, and counts it', () => {
    const transcript = readOne({
      trajectory: [],
      history: [null, { content: 'x' }, { role: 'user', content: 'y' }],
      info,
    });
    expect(bodyOf(transcript)).toEqual([{ role: 'user', content: 'y' }]);
    expect(transcript.segments[0]?.origins[0]?.place.path).toBe('history.2');
    expect(transcript.notes).toEqual(['2 history records without a role left out']);
  });

  it.each(['messages', 'query'])('without a history is the `%s` of its last step and the answer', (key) => {
    const asked = [{ role: 'user', content: 'go', agent: 'main' }];
    const transcript = readOne({ trajectory: [step, { ...step, response: 'Done.', [key]: asked }], info });
    expect(bodyOf(transcript)).toEqual([
      { role: 'user', content: 'go' },
      { role: 'assistant', content: 'Done.' },
    ]);
    expect(transcript.segments[0]?.origins.map(({ place }) => place.path)).toEqual([
      `trajectory.1.${key}.0`,
      'trajectory.1.response',
    ]);
    expect(transcript.notes).toEqual(['no history in the file: the last step of its trajectory is shown']);
  });

  it('stands in a file with others under a title of its own', () => {
    const { transcripts } = read({ trajectory: [], history, info }, { trajectory: [], history, info });
    expect(transcripts.map(({ title }) => title)).toEqual(['main', 'trajectory 2']);
  });

  it('is told from other documents by name and place', () => {
    expect(read({ history }).bad).toMatchObject([{ place: { line: 1 } }]);
  });

  test.prop([fc.anything(), fc.anything(), fc.anything()])('never makes it throw', (entry, config, last) => {
    expect(() => read({ trajectory: [last], history: [entry], info, replay_config: config })).not.toThrow();
    expect(() => read({ trajectory: [step, last], info }, entry)).not.toThrow();
  });
});
