import { describe, expect, it } from 'vitest';
import { type Conversation, withMessages } from '../conversation/format.ts';
import { isObject, type JsonObject } from '../conversation/json.ts';
import { PLACEHOLDER_TEXT } from '../conversation/pairing.ts';
import { summaryMessageText } from '../conversation/summary-message.ts';
import { findFormat } from '../formats/registry.ts';
import { claudeCodeWriter } from './claude-code/writer.ts';
import { codexWriter } from './codex/writer.ts';
import { opencodeWriter } from './opencode/writer.ts';
import { piWriter } from './pi/writer.ts';
import { type NewSession, type SessionWriter, shellWord, writeSession } from './session-writer.ts';

const anthropic = findFormat('anthropic-messages')!;
const call = { type: 'tool_use', id: 'toolu_1', name: 'Read', input: { path: 'a.ts' } };
const whole = anthropic.read([
  { role: 'user', content: 'Mend the clock.' },
  { role: 'assistant', content: [{ type: 'text', text: 'I look.' }, call] },
  { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'code' }] },
  { role: 'assistant', content: 'It is mended.' },
]);
const [memory] = anthropic.userMessages([anthropic.textBlock(summaryMessageText('It was wound.'))]);
const compacted = withMessages(whole, [whole.messages[0]!, memory!, ...whole.messages.slice(1)]);

/** A session of so many ids, each of which tells its number. */
function newSession(more: Partial<NewSession> = {}): NewSession {
  let count = 0;
  return {
    folder: '/home/ada/clock work',
    model: 'claude-opus-4-6',
    recorded: undefined,
    now: new Date(2026, 10, 18, 9, 30, 5),
    createId: () => `${String(++count).padStart(8, '0')}-0000-4000-8000-000000000000`,
    ...more,
  };
}

function linesOf(
  writer: SessionWriter,
  conversation: Conversation,
  about = newSession(),
): readonly JsonObject[] {
  const { text } = writeSession(writer, conversation, about);
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as JsonObject);
}

const inside = (value: unknown, key: string): unknown => (isObject(value) ? value[key] : undefined);

describe('a session of Claude Code', () => {
  it('is a chain of records, each with the one before it as its parent', () => {
    const records = linesOf(claudeCodeWriter, whole);

    expect(records.map(({ parentUuid }) => parentUuid)).toEqual([
      null,
      ...records.slice(0, -1).map(({ uuid }) => uuid),
    ]);
    expect(records.map(({ type }) => type)).toEqual(['user', 'assistant', 'assistant', 'user', 'assistant']);
  });

  it('has the blocks of one response in records of one id', () => {
    const ids = linesOf(claudeCodeWriter, whole)
      .filter(({ type }) => type === 'assistant')
      .map(({ message }) => inside(message, 'id'));

    expect(ids[0]).toBe(ids[1]);
    expect(ids[2]).not.toBe(ids[0]);
  });

  it('begins with a boundary where there is a memory, which is marked as the summary', () => {
    const records = linesOf(
      claudeCodeWriter,
      compacted,
      newSession({ tokensBefore: 90_000, tokensAfter: 30_000 }),
    );

    expect(records[0]).toMatchObject({
      type: 'system',
      subtype: 'compact_boundary',
      parentUuid: null,
      compactMetadata: { trigger: 'manual', preTokens: 90_000, postTokens: 30_000 },
    });
    expect(records.map(({ isCompactSummary }) => isCompactSummary === true)).toEqual([
      ...[false, false, true],
      ...[false, false, false, false],
    ]);
  });

  it('keeps version and branch of the recording it goes on from', () => {
    const recorded = { version: '2.1.150', branch: 'fix/clock' };
    const [first] = linesOf(claudeCodeWriter, whole, newSession({ recorded }));

    expect(first).toMatchObject({ version: '2.1.150', gitBranch: 'fix/clock', cwd: '/home/ada/clock work' });
  });

  it('lies in the folder that the agent has for the project', () => {
    const about = newSession();
    const written = writeSession(claudeCodeWriter, whole, about);
    const { path } = claudeCodeWriter.locate(written, about, { home: '/home/ada', variables: {} });

    expect(path).toBe(`/home/ada/.claude/projects/-home-ada-clock-work/${written.id}.jsonl`);
  });
});

describe('a rollout of Codex', () => {
  it('has a memory and what stands before it as replacement history, and items after it', () => {
    const records = linesOf(codexWriter, compacted).filter(({ type }) => type !== 'event_msg');
    const history = inside(records[1]?.['payload'], 'replacement_history');

    expect(records.map(({ type }) => type)).toEqual([
      'session_meta',
      'compacted',
      ...Array.from({ length: 4 }, () => 'response_item'),
    ]);
    expect(history).toHaveLength(2);
    expect(history).toMatchObject([{ type: 'message' }, { type: 'message', role: 'user' }]);
  });

  it('shows what people said and were told as events, without which the agent neither lists nor shows it', () => {
    const events = linesOf(codexWriter, compacted)
      .filter(({ type }) => type === 'event_msg')
      .map(({ payload }) => [inside(payload, 'type'), inside(payload, 'message')]);

    expect(events).toEqual([
      ['user_message', 'Mend the clock.'],
      ['context_compacted', undefined],
      ['agent_message', 'I look.'],
      ['agent_message', 'It is mended.'],
    ]);
  });

  it('shows nothing that the agent has said in the name of the user', () => {
    const harness = anthropic.read([
      { role: 'user', content: '<environment_context>\n<cwd>/</cwd>' },
      { role: 'user', content: '# AGENTS.md instructions for /' },
      { role: 'assistant', content: 'Hello.' },
    ]);
    const events = linesOf(codexWriter, harness).filter(({ type }) => type === 'event_msg');

    expect(events.map(({ payload }) => inside(payload, 'type'))).toEqual(['agent_message']);
  });

  it('keeps the branch that the agent lists it with', () => {
    const [meta] = linesOf(codexWriter, whole, newSession({ recorded: { branch: 'tides' } }));
    expect(meta).toMatchObject({ payload: { git: { branch: 'tides' } } });
  });

  it('names the model only where the same agent goes on: it warns of another one', () => {
    const recorded = { provider: 'openai', version: '0.169.0' };
    const types = (more: Partial<NewSession>) =>
      linesOf(codexWriter, whole, newSession(more)).map(({ type }) => type);

    expect(types({})).not.toContain('turn_context');
    expect(types({ recorded })).toContain('turn_context');
  });

  it('lies under its day, by the clock of this machine', () => {
    const about = newSession();
    const written = writeSession(codexWriter, whole, about);
    const { path } = codexWriter.locate(written, about, {
      home: '/home/ada',
      variables: { CODEX_HOME: '/c' },
    });

    expect(path).toBe(`/c/sessions/2026/11/18/rollout-2026-11-18T09-30-05-${written.id}.jsonl`);
  });

  it('has a note in the place of a file, which Codex could not read back', () => {
    const responses = findFormat('openai-responses')!;
    const file = { type: 'input_file', file_data: 'data:application/pdf;base64,AAAA' };
    const body = [{ type: 'message', role: 'user', content: [file] }];
    const { text, changes } = writeSession(codexWriter, responses.read(body), newSession());

    expect(text).not.toContain('input_file');
    expect(changes).toMatchObject([{ what: 'attached file' }]);
  });
});

describe('a session of pi', () => {
  it('names the session that it goes on from, below which pi lists it', () => {
    const [header] = linesOf(piWriter, whole, newSession({ source: '/sessions/old.jsonl' }));
    expect(header).toMatchObject({ parentSession: '/sessions/old.jsonl' });
  });

  it('is a header and a chain of entries, with calls and results in its own form', () => {
    const [header, model, ...entries] = linesOf(piWriter, whole);
    const messages = entries.map(({ message }) => message);

    expect(header).toMatchObject({ type: 'session', version: 3, cwd: '/home/ada/clock work' });
    expect(model).toMatchObject({ type: 'model_change', parentId: null, modelId: 'claude-opus-4-6' });
    expect(entries[0]?.['parentId']).toBe(model?.['id']);
    expect(messages).toMatchObject([
      { role: 'user' },
      {
        role: 'assistant',
        stopReason: 'toolUse',
        content: [{}, { type: 'toolCall', arguments: { path: 'a.ts' } }],
      },
      { role: 'toolResult', toolCallId: 'toolu_1', toolName: 'Read', isError: false },
      { role: 'assistant', stopReason: 'stop' },
    ]);
  });
});

describe('a session of OpenCode', () => {
  it('is called by the first words of the user, not by what stands for something else', () => {
    const conversation = anthropic.read([
      { role: 'user', content: PLACEHOLDER_TEXT },
      { role: 'assistant', content: 'Hello.' },
      { role: 'user', content: summaryMessageText('It was wound.') },
      { role: 'assistant', content: 'I see.' },
      { role: 'user', content: 'Wind the\nclock.' },
    ]);
    const { text } = writeSession(opencodeWriter, conversation, newSession());

    expect(JSON.parse(text)).toMatchObject({ info: { title: 'Wind the clock.' } });
  });

  it('has ids that sort in its order, and each result with its call', () => {
    const { text } = writeSession(opencodeWriter, whole, newSession());
    const { messages } = JSON.parse(text) as { readonly messages: readonly JsonObject[] };
    const ids = messages.map(({ info }) => String(inside(info, 'id')));

    expect(ids).toEqual(ids.toSorted());
    expect(messages.map(({ info }) => inside(info, 'role'))).toEqual(['user', 'assistant', 'assistant']);
    expect(messages[1]?.['parts']).toMatchObject([
      { type: 'step-start' },
      { type: 'text', text: 'I look.' },
      { type: 'tool', callID: 'toolu_1', state: { status: 'completed', output: 'code' } },
      { type: 'step-finish', reason: 'tool-calls', cost: 0 },
    ]);
  });
});

describe('a word for a shell', () => {
  it.each([
    ['/plain/path-1.jsonl', '/plain/path-1.jsonl'],
    ['/with space', "'/with space'"],
    ["it's; rm -rf $HOME", `'it'\\''s; rm -rf $HOME'`],
    ['', "''"],
  ])('%j is %s', (text, word) => {
    expect(shellWord(text)).toBe(word);
  });
});
