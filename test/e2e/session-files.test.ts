import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { sessionWriters } from '../../src/transcripts/registry.ts';
import { writeAgentHome } from '../support/agent-home.ts';
import { runCli } from '../support/cli.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { writtenSession } from '../support/written-session.ts';

const folder = temporaryFolder();
const text = writtenSession({ files: 12 });
const session = folder.write('session.jsonl', text);

/** Where each agent looks, below a home and where its own variable says. */
const homes = [
  { agent: 'claude-code', variable: 'CLAUDE_CONFIG_DIR', usual: '.claude/projects', own: 'projects' },
  { agent: 'codex', variable: 'CODEX_HOME', usual: '.codex/sessions', own: 'sessions' },
  { agent: 'pi', variable: 'PI_CODING_AGENT_DIR', usual: '.pi/agent/sessions', own: 'sessions' },
  { agent: 'opencode', variable: 'XDG_DATA_HOME', usual: '.local/share/opencode', own: 'opencode' },
] as const;

interface Told {
  readonly session: {
    readonly id: string;
    readonly path: string;
    readonly folder: string;
    readonly command: string;
  };
}

let count = 0;
function newHome(): string {
  const home = join(folder.path, `home-${++count}`);
  mkdirSync(home);
  return home;
}

async function resume(agent: string, env: Readonly<Record<string, string>>) {
  const args = ['compact', session, '--as', agent, '--budget', '40%', '--resume', '--json'];
  const { code, stdout, stderr } = await runCli(args, { env, cwd: folder.path });
  expect({ code, stderr }).toMatchObject({ code: 0 });
  return (JSON.parse(stdout) as Told).session;
}

describe('roundfold compact --resume', () => {
  it('knows where every agent looks that it can write for', () => {
    expect(homes.map(({ agent }) => agent)).toEqual(sessionWriters.map(({ name }) => name));
  });

  it.each(homes)(
    'puts a session where $agent looks, for its owner alone, and leaves the old one',
    async (one) => {
      const { agent, usual } = one;
      const home = newHome();
      const { id, path, command } = await resume(agent, { HOME: home });
      const checked = await runCli(['check', path, '--json']);

      expect(path.startsWith(join(home, usual))).toBe(true);
      expect(statSync(path).mode & 0o777).toBe(0o600);
      expect(path).toContain(id);
      expect(command).toContain(id);
      expect(checked.code).toBe(0);
      expect(JSON.parse(checked.stdout)).toMatchObject({ reader: agent, segments: 1 });
      expect(readFileSync(session, 'utf8')).toBe(text);
    },
  );

  it.each(homes)('goes where $variable says', async ({ agent, variable, own }) => {
    const place = newHome();
    const { path } = await resume(agent, { HOME: newHome(), [variable]: place });

    expect(path.startsWith(join(place, own))).toBe(true);
    expect(existsSync(path)).toBe(true);
  });

  it('goes on in the agent that wrote the file when none is named, and prints the command alone', async () => {
    const home = newHome();
    const { code, stdout, stderr } = await runCli(['compact', session, '--budget', '40%', '--resume'], {
      env: { HOME: home },
      cwd: folder.path,
    });

    expect(code).toBe(0);
    expect(stdout).toMatch(/^cd \S+ && claude --resume [0-9a-f-]{36}\n$/);
    expect(stderr).toContain('the old session is as it was');
  });

  it('makes another session each time', async () => {
    const env = { HOME: newHome() };
    const ids = [await resume('pi', env), await resume('pi', env)].map(({ id }) => id);

    expect(new Set(ids).size).toBe(2);
  });

  it.each([
    { args: ['--resume', '--out', 'x.jsonl'], words: '--resume and --out both say where to write' },
    { args: ['--resume', '--as', 'openai-chat'], words: '--resume needs an agent, and openai-chat is none' },
  ])('is refused with $args', async ({ args, words }) => {
    const run = await runCli(['compact', session, ...args], { cwd: folder.path });

    expect(run).toMatchObject({ code: 2, stdout: '' });
    expect(run.stderr).toContain(words);
  });

  it('is refused for a list of messages, which belongs to no agent, unless one is named', async () => {
    const list = folder.write('list.json', '[{"role":"user","content":"hello there"}]');
    const home = newHome();
    const alone = await runCli(['compact', list, '--resume'], { env: { HOME: home } });
    const named = await runCli(['compact', list, '--as', 'pi', '--budget', '100%', '--resume'], {
      env: { HOME: home },
    });

    expect(alone.code).toBe(2);
    expect(alone.stderr).toContain('--as');
    expect(named.code).toBe(0);
  });

  it('writes nothing with --dry-run', async () => {
    const home = newHome();
    const { code } = await runCli(['compact', session, '--resume', '--dry-run'], { env: { HOME: home } });

    expect(code).toBe(0);
    expect(existsSync(join(home, '.claude'))).toBe(false);
  });

  it('says what is wrong where nothing can be written, and leaves nothing behind', async () => {
    const blocked = folder.write('blocked', 'a file');
    const run = await runCli(['compact', session, '--as', 'codex', '--resume'], {
      env: { HOME: newHome(), CODEX_HOME: blocked },
    });

    expect(run.code).toBe(2);
    expect(run.stderr).toContain('cannot be written');
    expect(readFileSync(blocked, 'utf8')).toBe('a file');
  });
});

describe('roundfold compact --as an agent', () => {
  it.each(homes)('writes the session of $agent to a file or to standard output', async ({ agent }) => {
    const out = join(folder.path, `${agent}.out`);
    const args = ['compact', session, '--as', agent, '--budget', '40%'];
    const toFile = await runCli([...args, '--out', out]);
    const toOutput = await runCli(args);

    expect([toFile.code, toOutput.code]).toEqual([0, 0]);
    expect(statSync(out).mode & 0o777).toBe(0o600);
    const checked = await runCli(['check', '-', '--json'], { stdin: toOutput.stdout });
    expect(JSON.parse(checked.stdout)).toMatchObject({ reader: agent });
  });

  it('never overwrites a session that is there', async () => {
    const out = folder.write('mine.jsonl', text);
    const run = await runCli(['compact', session, '--as', 'claude-code', '--out', out]);

    expect(run.code).toBe(2);
    expect(readFileSync(out, 'utf8')).toBe(text);
  });

  it('says what the agent has no place for', async () => {
    const list = folder.write(
      'document.json',
      JSON.stringify([
        {
          role: 'user',
          content: [{ type: 'document', source: { type: 'url', url: 'https://example.com/a.pdf' } }],
        },
        { role: 'assistant', content: 'It is long.' },
        { role: 'user', content: 'Go on.' },
      ]),
    );
    const { stderr } = await runCli(['compact', list, '--as', 'pi', '--budget', '100%']);

    expect(stderr).toContain('as pi, not everything could stay as it was');
  });
});

describe('roundfold check --fix', () => {
  it('refuses a database of several sessions, and says how to take one out', async () => {
    const file = writeAgentHome(join(folder.path, 'with-database')).files.opencode;
    const database = new DatabaseSync(file);
    database.exec(`
      INSERT INTO session SELECT 'ses_2', directory, version, parent_id, 2 FROM session;
      INSERT INTO message SELECT id || '_2', 'ses_2', time_created, data FROM message;
      INSERT INTO part SELECT id || '_2', message_id || '_2', 'ses_2', data FROM part;
    `);
    database.close();
    const { code, stderr } = await runCli(['check', file, '--fix']);

    expect(code).toBe(2);
    expect(stderr).toContain('holds 2 sessions; one can be mended at a time');
    expect(stderr).toContain('opencode export ID');
  });

  const lines = text.trimEnd().split('\n');
  const half = [...lines.slice(0, 6), lines[6]?.slice(0, 80) ?? '', ...lines.slice(7)].join('\n');

  it('writes a mended copy beside the file, says what was changed, and leaves the file', async () => {
    const file = folder.write('half.jsonl', `${half}\n`);
    const { code, stdout } = await runCli(['check', file, '--fix']);
    const fixed = join(folder.path, 'half.fixed.jsonl');
    const before = await runCli(['check', file]);
    const after = await runCli(['check', fixed]);

    expect(code).toBe(0);
    expect(stdout).toContain(`→ ${fixed}`);
    expect(stdout).toContain('line 7 left out');
    expect(before.code).toBe(1);
    expect(after.code).toBe(0);
    expect(statSync(fixed).mode & 0o777).toBe(0o600);
    expect(readFileSync(file, 'utf8')).toBe(`${half}\n`);
  });

  it('accounts for every change as JSON', async () => {
    const file = folder.write('open.jsonl', `${lines.slice(0, 4).join('\n')}\n${lines.at(4)?.slice(0, 50)}`);
    const { stdout } = await runCli([
      'check',
      file,
      '--fix',
      '--json',
      '--out',
      join(folder.path, 'o.jsonl'),
    ]);

    expect(JSON.parse(stdout)).toMatchObject({
      type: 'fix',
      reader: 'claude-code',
      bad: [{ place: { line: 5 } }],
      out: join(folder.path, 'o.jsonl'),
    });
  });

  it('writes nothing where nothing is wrong', async () => {
    const { code, stdout } = await runCli(['check', session, '--fix']);

    expect(code).toBe(0);
    expect(stdout).toContain('nothing to mend');
    expect(existsSync(join(folder.path, 'session.fixed.jsonl'))).toBe(false);
  });

  it('mends a request body in its own shape', async () => {
    const call = { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'run', input: {} }] };
    const body = {
      model: 'claude-opus-4-6',
      max_tokens: 10,
      messages: [{ role: 'user', content: 'hi' }, call],
    };
    const file = folder.write('body.json', JSON.stringify(body));
    await runCli(['check', file, '--fix']);
    const fixed = JSON.parse(readFileSync(join(folder.path, 'body.fixed.json'), 'utf8')) as typeof body;

    expect(fixed).toMatchObject({ model: 'claude-opus-4-6', max_tokens: 10 });
    expect(fixed.messages.slice(0, 2)).toEqual(body.messages);
    expect(fixed.messages).toHaveLength(3);
  });

  it('puts the copy where its agent looks with --resume', async () => {
    const file = folder.write('again.jsonl', `${half}\n`);
    const home = newHome();
    const { code, stdout } = await runCli(['check', file, '--fix', '--resume'], { env: { HOME: home } });

    expect(code).toBe(0);
    expect(stdout).toContain(join(home, '.claude/projects'));
    expect(stdout).toMatch(/&& claude --resume [0-9a-f-]{36}\n$/);
  });

  it.each([
    { args: ['--out', 'x'], words: '--out says nothing without --fix' },
    { args: ['--resume'], words: '--resume says nothing without --fix' },
    { args: ['--fix', session, '--out', 'x'], words: '--out names one file' },
  ])('is refused with $args', async ({ args, words }) => {
    const { code, stderr } = await runCli(['check', session, ...args]);

    expect(code).toBe(2);
    expect(stderr).toContain(words);
  });

  it('does not overwrite what is there', async () => {
    const file = folder.write('taken.jsonl', `${half}\n`);
    const taken = folder.write('taken.fixed.jsonl', 'mine\n');
    const { code } = await runCli(['check', file, '--fix']);

    expect(code).toBe(2);
    expect(readFileSync(taken, 'utf8')).toBe('mine\n');
  });
});

describe('a folder of sessions', () => {
  const sessions = join(folder.path, 'sessions');
  mkdirSync(join(sessions, 'deep/er'), { recursive: true });
  writeFileSync(join(sessions, 'deep/er/whole.jsonl'), text);
  writeFileSync(
    join(sessions, 'broken.json'),
    '[{"role":"user","content":"hi"},{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"run","input":{}}]},{"role":"user","content":"no"}]',
  );
  writeFileSync(join(sessions, 'notes.json'), '{"price":3}');
  writeFileSync(join(sessions, 'readme.txt'), 'no session');

  it('is judged file by file by check, with a summary', async () => {
    const { code, stdout, stderr } = await runCli(['check', sessions]);

    expect(code).toBe(1);
    expect(stdout.trimEnd().split('\n').at(-1)).toBe('1 legal, 1 broken, 1 unreadable');
    expect(stderr).toContain('notes.json');
  });

  it('is looked through by inspect, with a summary', async () => {
    const { code, stdout } = await runCli(['inspect', sessions]);

    expect(code).toBe(0);
    expect(stdout.trimEnd().split('\n').at(-1)).toBe('2 conversations in 3 files, 1 unreadable');
  });

  it('gives the summary as JSON as well', async () => {
    const { stdout } = await runCli(['check', sessions, '--json']);

    expect(JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '')).toMatchObject({
      type: 'summary',
      files: 3,
      legal: 1,
      broken: 1,
      unreadable: 1,
    });
  });

  it('is compared file by file', async () => {
    const { stderr } = await runCli(['compare', sessions, '--strategies', 'sliding-window', '--cuts', '1']);
    expect(stderr).toContain('2 files compared, 1 unreadable');
  });
});
