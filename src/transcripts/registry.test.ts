import { describe, expect, it } from 'vitest';
import { recordEntries } from '../../test/support/fold-records.ts';
import { transcriptReaders } from './registry.ts';

const all = transcriptReaders(() => undefined);
/** The last reader takes what nobody else knows. */
const readers = all.slice(0, -1);

const text = [{ type: 'text', text: 'hi' }];
const usage = { input: 1, output: 1 };

/** Values as files begin with them, whole or in the middle, and the one reader they belong to. */
const beginnings: readonly {
  readonly what: string;
  readonly owner: string | undefined;
  readonly values: readonly unknown[];
}[] = [
  { what: 'a pi session', owner: 'pi', values: [{ type: 'session', id: 's', cwd: '/', version: 3 }] },
  {
    what: 'a pi session from its middle, behind records that anybody might write',
    owner: 'pi',
    values: [
      { type: 'message', message: { role: 'user', content: text } },
      {
        type: 'message',
        message: { role: 'assistant', content: text, api: 'anthropic-messages', stopReason: 'stop', usage },
      },
    ],
  },
  {
    what: 'a pi result',
    owner: 'pi',
    values: [{ type: 'message', message: { role: 'toolResult', toolCallId: 'c', content: text } }],
  },
  {
    what: 'a pi shell command',
    owner: 'pi',
    values: [{ type: 'message', message: { role: 'bashExecution', command: 'ls' } }],
  },
  {
    what: 'a pi compaction',
    owner: 'pi',
    values: [{ type: 'compaction', summary: 's', firstKeptEntryId: 'x' }],
  },
  {
    what: 'OpenCode messages',
    owner: 'opencode',
    values: [{ info: { id: 'msg', role: 'user', sessionID: 's' }, parts: [] }],
  },
  {
    what: 'an OpenCode export',
    owner: 'opencode',
    values: [{ info: { id: 'ses' }, messages: [{ info: { id: 'm', role: 'user' }, parts: [] }] }],
  },
  { what: 'an empty OpenCode export', owner: 'opencode', values: [{ info: { id: 'ses' }, messages: [] }] },
  {
    what: 'a Gemini CLI session',
    owner: 'gemini-cli',
    values: [{ sessionId: 's', projectHash: 'h', messages: [] }],
  },
  {
    what: 'a Gemini CLI record',
    owner: 'gemini-cli',
    values: [{ $set: {} }, { id: 'm', type: 'gemini', content: '', toolCalls: [] }],
  },
  {
    what: 'an Open WebUI chat',
    owner: 'open-webui',
    values: [{ id: 'c', chat: { history: { messages: {}, currentId: null } } }],
  },
  {
    what: 'an old Open WebUI chat',
    owner: 'open-webui',
    values: [{ id: 'c', chat: { models: ['m'], messages: [] } }],
  },
  {
    what: 'an Open WebUI chat alone',
    owner: 'open-webui',
    values: [{ history: { messages: {}, currentId: null }, models: [] }],
  },
  {
    what: 'a SWE-agent trajectory',
    owner: 'swe-agent',
    values: [{ trajectory: [], history: [{ role: 'user', content: 'x' }], info: {} }],
  },
  {
    what: 'a SWE-agent trajectory without history',
    owner: 'swe-agent',
    values: [{ trajectory: [{ action: 'ls', observation: '' }], info: {} }],
  },
  {
    what: 'a saved chat',
    owner: 'roundfold-chat',
    values: [
      { type: 'roundfold-chat', version: 1, format: 'openai-chat', model: 'm', pins: [] },
      { role: 'user', content: 'x' },
    ],
  },
  {
    what: 'a Claude Code session',
    owner: 'claude-code',
    values: [
      { type: 'summary', summary: 's', leafUuid: 'u' },
      { type: 'user', uuid: 'u', parentUuid: null, sessionId: 's', message: { role: 'user', content: 'hi' } },
      {
        type: 'assistant',
        uuid: 'v',
        parentUuid: 'u',
        sessionId: 's',
        message: { id: 'msg', role: 'assistant', content: text },
      },
      { type: 'system', subtype: 'compact_boundary', compactMetadata: { preTokens: 3 } },
    ],
  },
  {
    what: 'a Codex rollout',
    owner: 'codex',
    values: [
      { timestamp: 't', type: 'session_meta', payload: { id: 's', cwd: '/' } },
      { timestamp: 't', type: 'response_item', payload: { type: 'message', role: 'user', content: [] } },
      { timestamp: 't', type: 'compacted', payload: { message: '', replacement_history: [] } },
    ],
  },
  {
    what: 'a Codex rollout of 2025',
    owner: 'codex',
    values: [
      { id: 's', timestamp: 't', instructions: null },
      { record_type: 'state' },
      { type: 'message', role: 'user', content: [] },
    ],
  },
  {
    what: 'a request log',
    owner: undefined,
    values: [{ messages: [{ role: 'user', content: 'x' }], response: {}, kwargs: {} }],
  },
  {
    what: 'an experiment',
    owner: undefined,
    values: [{ task_id: 1, trial: 0, info: {}, traj: [{ role: 'user', content: 'x' }] }],
  },
  {
    what: 'an experiment with a history',
    owner: undefined,
    values: [{ info: {}, history: [{ role: 'user', content: 'x' }] }],
  },
  {
    what: 'an Anthropic response',
    owner: undefined,
    values: [{ type: 'message', role: 'assistant', content: text, stop_reason: 'end_turn' }],
  },
  {
    what: 'a provider compaction item',
    owner: undefined,
    values: [{ type: 'compaction', encrypted_content: 'x' }],
  },
  { what: 'Gemini contents', owner: undefined, values: [{ role: 'user', parts: [{ text: 'x' }] }] },
  {
    what: 'a chat of another kind',
    owner: undefined,
    values: [{ chat: { messages: [{ role: 'user', content: 'x' }] } }],
  },
  {
    what: 'a log of another kind',
    owner: undefined,
    values: [
      { type: 'session', id: 's' },
      { type: 'message', message: 'started' },
    ],
  },
  { what: 'anything else', owner: undefined, values: [null, 3, 'x', [], {}, { info: {}, messages: [] }] },
];

it('has a beginning for every reader', () => {
  const owners = new Set(beginnings.map(({ owner }) => owner));
  const missing = readers.map(({ name }) => name).filter((name) => !owners.has(name));

  expect(missing, 'add a row to `beginnings` above').toEqual([]);
});

it('ends with the reader that takes every file', () => {
  expect(all.filter((reader) => reader.recognise(recordEntries([{ a: 1 }]))).map(({ name }) => name)).toEqual(
    ['json'],
  );
  expect(all.at(-1)?.name).toBe('json');
});

describe('a file', () => {
  it.each(beginnings)('that is $what belongs to $owner alone', ({ owner, values }) => {
    const documents = recordEntries(values);
    const elements = recordEntries(values, { kind: 'element' });
    const expected = owner === undefined ? [] : [owner];
    expect(readers.filter((reader) => reader.recognise(documents)).map(({ name }) => name)).toEqual(expected);
    expect(readers.filter((reader) => reader.recognise(elements)).map(({ name }) => name)).toEqual(expected);
  });
});
