import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Simulator, startSimulator } from '../../src/simulator/index.ts';
import { savedMessages } from '../support/chat-file.ts';
import { runCli } from '../support/cli.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const folder = temporaryFolder();
const outside = temporaryFolder();
const state = join(folder.path, 'state');
const work = join(folder.path, 'work');
mkdirSync(work);
folder.write('work/notes.txt', 'the kiln runs at port 8123\n');
outside.write('secret.txt', 'the secret word is tamarisk\n');
symlinkSync(join(outside.path, 'secret.txt'), join(work, 'link.txt'));
symlinkSync(outside.path, join(work, 'elsewhere'));

const chat = (
  entries: readonly string[],
  args: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
) =>
  runCli(['chat', ...args], {
    stdin: entries.map((entry) => `${entry}\n`).join(''),
    cwd: work,
    env: { XDG_STATE_HOME: state, HOME: folder.path, ...env },
  });

describe('a chat from a pipe', () => {
  it('takes every line for an entry, writes no colours and ends with 0', async () => {
    const { code, stdout, stderr } = await chat([
      'the kiln runs at port 8123',
      '',
      'what port does the kiln have?',
    ]);

    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).not.toContain('\u001b');
    expect(stdout).toContain('Earlier it was said: the kiln runs at port 8123');
    expect(stdout.match(/compacts at/g)?.length).toBe(2);
  });

  it.each([
    { args: ['--provider', 'nobody'], words: 'Allowed choices are' },
    { args: ['--provider', 'anthropic'], words: 'ANTHROPIC_API_KEY' },
    { args: ['--window', 'wide'], words: 'whole number' },
    { args: ['--resume', 'nothing-of-that-name'], words: 'no saved chat has that name' },
    { args: ['--set', 'nonsense=1'], words: 'has no option' },
  ])('refuses $args with exit code 2', async ({ args, words }) => {
    const { code, stdout, stderr } = await chat(['hello'], args);

    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(words);
  });

  it('explains itself', async () => {
    const { code, stdout } = await runCli(['chat', '--help']);

    expect(code).toBe(0);
    expect(stdout).toMatch(/--resume \[name\][\s\S]*Examples:[\s\S]*From a pipe/);
  });
});

describe('tools', () => {
  it('list, read and search below the working directory', async () => {
    const { stdout } = await chat(['list files', 'read notes.txt', 'search for "port"']);

    expect(stdout).toMatch(/\[list_files\][\s\S]*notes\.txt/);
    expect(stdout).toMatch(/\[read_file\][\s\S]*the kiln runs at port 8123/);
    expect(stdout).toContain('notes.txt:1: the kiln runs at port 8123');
  });

  const leaving = [
    'read ../secret.txt',
    'read link.txt',
    'read elsewhere/secret.txt',
    'list ..',
    'list elsewhere',
    `read ${join(outside.path, 'secret.txt')}`,
    'read /etc/hostname',
    'read notes.txt/../../../work/../state',
  ];

  it('never leave it, by whatever path or link', async () => {
    const { code, stdout } = await chat(leaving);

    expect(code).toBe(0);
    expect(stdout.match(/^ {2}that is outside of the working directory$/gm)?.length).toBe(2 * leaving.length);
    expect(stdout).not.toContain('tamarisk');
  });

  it('a search follows no links', async () => {
    const { stdout } = await chat(['search for "tamarisk"']);

    expect(stdout).toContain('no line contains that text');
  });
});

describe('saved chats', () => {
  const own = join(folder.path, 'own-state');
  const env = { XDG_STATE_HOME: own };
  const saved = join(own, 'roundfold', 'chat');

  it('are for their owner alone, and resumed: the newest, or by name, with what can be undone', async () => {
    await chat(['one', 'two', 'three', 'four', '/compact sliding'], [], env);
    const [name = ''] = readdirSync(saved);
    const file = join(saved, name);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(savedMessages(file).length).toBe(7);

    const resumed = await chat(['five', '/undo'], ['--resume'], env);
    expect(resumed.stdout).toContain('sliding-window was undone: 10 messages');
    expect(readdirSync(saved)).toEqual([name]);
    const named = await chat(['/redo'], ['--resume', name.replace('.jsonl', '')], env);
    expect(named.stdout).toContain('sliding-window was done again: 9 messages');
  });

  it('/save, /export and /load: what inspect reads can go on here', async () => {
    const session = resolve('examples/session.jsonl');
    const body = join(folder.path, 'request.json');
    const copy = join(folder.path, 'copy.jsonl');
    const first = await chat([
      `/load ${session}`,
      'and now?',
      `/export ${body}`,
      `/export ${body}`,
      `/save ${copy}`,
    ]);
    expect(first.stdout).toMatch(/\d+ messages loaded/);
    expect(first.stdout).toContain('that file is there already');
    const checked = await runCli(['check', body]);
    expect({ code: checked.code, says: checked.stdout }).toMatchObject({ code: 0 });
    const { messages } = JSON.parse(readFileSync(body, 'utf8')) as { messages: readonly unknown[] };
    expect(savedMessages(copy).length).toBe(messages.length);

    const second = await chat(['/context'], ['--load', copy]);
    expect(second.stdout).toContain(`${messages.length} messages in`);

    const former = join(folder.path, 'former.jsonl');
    const third = await chat(['stay here', `/load ${copy}`, 'and go on'], ['--session', former]);
    expect(third.stdout).toContain(`the chat so far stays in ${former}`);
    expect(savedMessages(former).length).toBe(2);
    expect((await chat(['x'], ['--session', former, '--load', copy])).code).toBe(2);
    expect(statSync(copy).mode & 0o777).toBe(0o600);
  });

  it('/pin keeps a message, /recall finds what has left', async () => {
    const store = join(folder.path, 'kept.sqlite');
    const entries = ['begin', 'the glaze is called celadon', 'a', 'b', 'c', 'd', 'e', 'f', '/pin celadon'];
    const session = join(folder.path, 'pinned.jsonl');
    const pinned = await chat(
      [...entries, 'list files', '/pin list_files {}', '/compact sliding'],
      ['--session', session],
    );
    expect(pinned.stdout).toContain('pinned; 2 messages so far');
    // A call is no text that could be kept.
    expect(pinned.stdout).toContain('pinned; 0 messages so far');
    expect(savedMessages(session).join('\n')).toContain('"the glaze is called celadon"');

    const kept = await chat(
      ['begin', 'the glaze is called celadon', 'a', 'b', 'c', 'd', '/compact sliding', '/recall celadon'],
      ['--store', store],
    );
    const handle = /rf:[0-9a-f]{32}/.exec(kept.stdout)?.[0] ?? '';
    expect(handle).not.toBe('');
    expect(kept.stdout).toMatch(new RegExp(`${handle} 1 {2}message \\d+: .*celadon`));
    const recalled = await chat(
      [`/recall ${handle}`, `/recall ${handle} 2`, `/recall ${handle} x`, '/recall rf:nothing'],
      ['--store', store],
    );
    expect(recalled.stdout).toMatch(/--- message \d+: user\nthe glaze is called celadon/);
    expect(recalled.stdout).toContain('page 1 of 1\n');
    expect(recalled.stdout).toContain('there is no page 2: this handle has 1 page\n');
    expect(recalled.stdout).toContain('there is no page x');
    expect(recalled.stdout).toContain('nothing is kept under that handle');
    expect(existsSync(store)).toBe(true);
  });
});

describe('providers', () => {
  let simulator: Simulator;
  beforeAll(async () => {
    simulator = await startSimulator({ chunking: 'whole' });
  });
  afterAll(() => simulator.close());

  it.each([
    {
      name: 'anthropic',
      args: () => ['--provider', 'anthropic', '--model', 'claude-sonnet-4-5'],
      env: () => ({ ANTHROPIC_API_KEY: 'sk-test', ANTHROPIC_BASE_URL: simulator.url }),
    },
    {
      name: 'openai',
      args: () => ['--base-url', `${simulator.url}/v1`, '--model', 'gpt-4o'],
      env: () => ({ OPENAI_API_KEY: 'sk-test' }),
    },
  ])('$name is asked with tools, and every request begins with the one before', async ({ args, env }) => {
    const before = simulator.requests.length;
    const { code, stdout } = await chat(['look around', 'and again', '/cost'], args(), env());
    const requests = simulator.requests.slice(before);
    const lists = requests.map(({ body }) => (body as { messages: readonly unknown[] }).messages);

    expect(stdout).toMatch(/Step 1 – calling list_files\.[\s\S]*Done after \d results ✓/);
    expect({ code, refused: requests.filter(({ status }) => status !== 200).length }).toEqual({
      code: 0,
      refused: 0,
    });
    expect(requests.length).toBeGreaterThan(5);
    for (const [index, list] of lists.slice(1).entries())
      expect(JSON.stringify(list).startsWith(JSON.stringify(lists[index]).slice(0, -1))).toBe(true);
    expect(stdout).toMatch(/\d+ requests: [\d,]+ tokens in, [1-9]\d* out/);
    expect(stdout).not.toContain('sk-test');
  });

  it('a provider that fails leaves what was said, and the exit code tells', async () => {
    const file = join(folder.path, 'failed.jsonl');
    const { code, stdout } = await chat(
      ['hello', '/context'],
      ['--base-url', 'http://127.0.0.1:9/v1', '--session', file],
    );

    expect(code).toBe(5);
    expect(stdout).toContain('could not be reached');
    expect(savedMessages(file).join('\n')).toContain('hello');
  });
});
