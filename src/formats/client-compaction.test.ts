import { describe, expect, it } from 'vitest';
import { clientCompaction } from './client-compaction.ts';
import { readConversation } from './registry.ts';

const readTool = { name: 'Read', input_schema: { type: 'object' } };
const shellTool = { type: 'function', name: 'shell', parameters: {} };
const call = { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'Read', input: {} }] };
const result = { type: 'tool_result', tool_use_id: 'a', content: 'CRITICAL: Respond with TEXT ONLY.' };
const say = (text: string) => ({ role: 'user', content: [{ type: 'text', text }] });
const item = (text: string, role = 'user') => ({ role, content: [{ type: 'input_text', text }] });
const output = { type: 'function_call_output', call_id: 'c', output: 'done' };
const codexKind = (kind: string) => ({
  client_metadata: { 'x-codex-turn-metadata': JSON.stringify({ request_kind: kind }) },
});

const CRITICAL = 'CRITICAL: Respond with TEXT ONLY. Do NOT call any tools.';
const HANDOFF = 'You are performing a CONTEXT CHECKPOINT COMPACTION. Create a handoff summary.';

const anthropic = (messages: readonly unknown[], frame: object = { tools: [readTool] }) => ({
  model: 'claude-opus-5',
  max_tokens: 9,
  system: 'Work.',
  messages,
  ...frame,
});
const responses = (input: readonly unknown[], frame: object = {}) => ({
  model: 'gpt-5.5',
  tools: [shellTool],
  input,
  ...frame,
});

describe('the compaction call of a client', () => {
  it.each([
    ['codex', 'a trigger at the end', responses([item('Go'), { type: 'compaction_trigger' }])],
    ['codex', 'its metadata', responses([item('Go'), output], codexKind('compaction'))],
    ['codex', 'its words', responses([item('Go'), output, item(HANDOFF)])],
    [
      'claude-code',
      'its words',
      anthropic([say('Go'), call, { role: 'user', content: [result, ...say(CRITICAL).content] }]),
    ],
    [
      'claude-code',
      'its words before a system message',
      anthropic([say(CRITICAL), { role: 'system', content: 'Note.' }]),
    ],
    [
      'claude-code',
      'its words in earlier versions',
      anthropic([
        say('Your task is to create a detailed summary of the conversation so far, paying attention'),
      ]),
    ],
    [
      'opencode',
      'the history as one text',
      anthropic([say('Here is the conversation so far:\n\n<conversation>\n[User]: Go')], {}),
    ],
    [
      'pi',
      'instructions in front',
      {
        input: [
          item('You are a context summarization assistant. Read.', 'developer'),
          item('# Conversation\n[User]: Go'),
        ],
      },
    ],
    [
      'pi',
      'instructions apart',
      anthropic([say('<conversation>\n[User]: Go')], {
        system: 'You are a context summarization assistant. Read.',
      }),
    ],
  ])('of %s is told by %s', (client, _by, body) => {
    expect(clientCompaction(readConversation(body))).toBe(client);
  });

  it.each([
    ['a turn of Codex', responses([item('Go'), output], codexKind('turn'))],
    ['a trigger that was answered', responses([{ type: 'compaction_trigger' }, item('Go on')])],
    [
      'words that were asked before',
      responses([item(HANDOFF), { role: 'assistant', content: 'Done.' }, item('Go on')]),
    ],
    ['words of a tool result', anthropic([say('Go'), call, { role: 'user', content: [result] }])],
    ['words of the model', anthropic([say('Go'), { role: 'assistant', content: CRITICAL }])],
    ['a person who quotes them', anthropic([say(`What does "${CRITICAL}" mean?`)])],
    ['a person who asks for a summary', anthropic([say('Summarize our conversation so far.')], {})],
    [
      'an agent that has tools',
      anthropic([say('Here is the conversation so far:\n\n<conversation>\n[User]: Go')]),
    ],
    ['no messages', anthropic([])],
    [
      'metadata that is no JSON',
      responses([item('Go')], { client_metadata: { 'x-codex-turn-metadata': '{' } }),
    ],
  ])('is not %s', (_what, body) => {
    expect(clientCompaction(readConversation(body))).toBeUndefined();
  });
});
