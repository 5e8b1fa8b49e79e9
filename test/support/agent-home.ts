import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** Sessions of every agent in a home of our own making, with the usage that their cost is reckoned from. */
export interface AgentHome {
  readonly home: string;
  /** Variables that lead to it, for a command. */
  readonly variables: Readonly<Record<string, string>>;
  /** Files by agent. */
  readonly files: Readonly<Record<'claude-code' | 'codex' | 'pi' | 'opencode' | 'gemini-cli', string>>;
}

type Json = Readonly<Record<string, unknown>>;

function writeLines(path: string, records: readonly Json[]): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, records.map((record) => `${JSON.stringify(record)}\n`).join(''));
  return path;
}

/** Writes one session for each agent below `home`, where the agent itself would. */
export function writeAgentHome(home: string): AgentHome {
  const files = {
    'claude-code': writeClaudeSession(join(home, '.claude/projects/-shop')),
    codex: writeCodexSession(join(home, '.codex/sessions/2026/11/02')),
    pi: writePiSession(join(home, '.pi/agent/sessions/--shop--')),
    opencode: writeOpencodeDatabase(join(home, '.local/share/opencode')),
    'gemini-cli': writeGeminiSession(join(home, '.gemini/tmp/abc/chats')),
  };
  return { home, files, variables: { HOME: home, XDG_CACHE_HOME: join(home, '.cache') } };
}

function writeClaudeSession(folder: string): string {
  const record = (uuid: string, parentUuid: string | null, more: Json) => ({
    parentUuid,
    uuid,
    isSidechain: false,
    sessionId: 'claude-1',
    cwd: '/shop',
    gitBranch: 'main',
    version: '2.1.100',
    timestamp: `2026-11-01T10:00:0${uuid.slice(1)}.000Z`,
    ...more,
  });
  const usage = {
    input_tokens: 10,
    cache_creation_input_tokens: 3000,
    cache_creation: { ephemeral_5m_input_tokens: 1000, ephemeral_1h_input_tokens: 2000 },
    cache_read_input_tokens: 20_000,
    output_tokens: 500,
  };
  const answer = (uuid: string, parent: string, id: string, block: Json) =>
    record(uuid, parent, {
      type: 'assistant',
      requestId: `req_${id}`,
      message: { id, role: 'assistant', model: 'claude-opus-4-6', content: [block], usage },
    });
  return writeLines(join(folder, 'claude-1.jsonl'), [
    record('u1', null, { type: 'user', message: { role: 'user', content: 'Find the rounding bug.' } }),
    // One response in two records: its usage counts once.
    answer('u2', 'u1', 'msg_1', { type: 'text', text: 'I look.' }),
    answer('u3', 'u2', 'msg_1', { type: 'tool_use', id: 'toolu_1', name: 'Read', input: {} }),
    record('u4', 'u3', {
      type: 'user',
      message: { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'code' }] },
    }),
    answer('u5', 'u4', 'msg_2', { type: 'text', text: 'It rounds twice.' }),
  ]);
}

function writeCodexSession(folder: string): string {
  let seconds = 0;
  const record = (type: string, payload: Json) => ({
    timestamp: `2026-11-02T10:00:${String(seconds++).padStart(2, '0')}.000Z`,
    type,
    payload,
  });
  const message = (role: string, type: string, text: string) =>
    record('response_item', { type: 'message', role, content: [{ type, text }] });
  const counted = (input: number, total: number) =>
    record('event_msg', {
      type: 'token_count',
      info: {
        total_token_usage: { input_tokens: total },
        last_token_usage: { input_tokens: input, cached_input_tokens: 4000, output_tokens: 300 },
        model_context_window: 258_400,
      },
    });
  return writeLines(join(folder, 'rollout-2026-11-02T10-00-00-codex-1.jsonl'), [
    record('session_meta', { id: 'codex-1', cwd: '/harbour', cli_version: '0.169.0' }),
    record('turn_context', { cwd: '/harbour', model: 'gpt-5.5' }),
    message('user', 'input_text', 'Explain the tides.'),
    message('assistant', 'output_text', 'The moon does it.'),
    counted(10_000, 10_000),
    // Codex repeats its newest count; it is no second response.
    counted(10_000, 10_000),
    message('user', 'input_text', 'And the sun?'),
    message('assistant', 'output_text', 'A little.'),
    counted(11_000, 21_000),
  ]);
}

function writePiSession(folder: string): string {
  const usage = {
    input: 2000,
    output: 100,
    cacheRead: 0,
    cacheWrite: 0,
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0.25 },
  };
  return writeLines(join(folder, '2026-11-03T10-00-00-000Z_pi-1.jsonl'), [
    { type: 'session', version: 3, id: 'pi-1', timestamp: '2026-11-03T10:00:00.000Z', cwd: '/lighthouse' },
    {
      type: 'message',
      id: 'a',
      parentId: null,
      timestamp: '2026-11-03T10:00:01.000Z',
      message: { role: 'user', content: 'Light the lamp.' },
    },
    {
      type: 'message',
      id: 'b',
      parentId: 'a',
      timestamp: '2026-11-03T10:00:02.000Z',
      message: {
        role: 'assistant',
        content: [{ type: 'text', text: 'Lit.' }],
        api: 'openai-completions',
        provider: 'own',
        model: 'a-model-nobody-knows',
        usage,
        stopReason: 'stop',
      },
    },
  ]);
}

function writeGeminiSession(folder: string): string {
  const session = {
    sessionId: 'gemini-1',
    projectHash: 'abc',
    messages: [
      { id: 'm1', type: 'user', timestamp: '2026-11-04T10:00:00.000Z', content: 'Count the gulls.' },
      {
        id: 'm2',
        type: 'gemini',
        timestamp: '2026-11-04T10:00:01.000Z',
        content: 'Seven.',
        model: 'gemini-2.5-pro',
        tokens: { input: 8000, output: 20, cached: 3000, thoughts: 80, tool: 0, total: 8100 },
      },
    ],
  };
  return writeLines(join(folder, 'session-1.json'), [session]);
}

function writeOpencodeDatabase(folder: string): string {
  const path = join(folder, 'opencode.db');
  mkdirSync(folder, { recursive: true });
  const database = new DatabaseSync(path);
  database.exec(`
    CREATE TABLE session (id TEXT, directory TEXT, version TEXT, parent_id TEXT, time_created INTEGER);
    CREATE TABLE message (id TEXT, session_id TEXT, time_created INTEGER, data TEXT);
    CREATE TABLE part (id TEXT, message_id TEXT, session_id TEXT, data TEXT);
    INSERT INTO session VALUES ('ses_1', '/pier', '1.18.33', NULL, 1);
  `);
  const addMessage = (id: string, info: Json, parts: readonly Json[]): void => {
    database.prepare('INSERT INTO message VALUES (?, ?, ?, ?)').run(id, 'ses_1', 1, JSON.stringify(info));
    for (const [index, part] of parts.entries()) {
      const insert = database.prepare('INSERT INTO part VALUES (?, ?, ?, ?)');
      insert.run(`prt_${id}_${index}`, id, 'ses_1', JSON.stringify(part));
    }
  };
  const created = Date.UTC(2026, 10, 5, 10);
  addMessage('msg_1', { role: 'user', time: { created } }, [{ type: 'text', text: 'Mend the nets.' }]);
  addMessage(
    'msg_2',
    { role: 'assistant', time: { created }, modelID: 'claude-opus-4-6', providerID: 'anthropic' },
    [
      { type: 'step-start' },
      { type: 'text', text: 'Mended.' },
      {
        type: 'step-finish',
        cost: 0,
        tokens: { input: 100, output: 50, reasoning: 10, cache: { read: 1000, write: 2000 } },
      },
    ],
  );
  database.close();
  return path;
}
