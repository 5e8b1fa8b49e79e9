import { spawn } from 'node:child_process';
import { copyFileSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { runCli } from '../support/cli.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const folder = temporaryFolder();
const session = join(folder.path, 'session.jsonl');
copyFileSync('examples/session.jsonl', session);
const original = readFileSync(session);
const out = (name: string) => join(folder.path, name);

afterEach(() => {
  expect(readFileSync(session).equals(original)).toBe(true);
  expect(readdirSync(folder.path).filter((name) => name.includes('unfinished'))).toEqual([]);
});

/** A provider that answers every request in the same way, or never. */
let respond: ((answer: (status: number, body: unknown) => void) => void) | undefined;
let server: Server;
let env: Readonly<Record<string, string>>;

beforeAll(async () => {
  server = createServer((request, response) => {
    request.resume();
    request.on('end', () => {
      respond?.((status, body) => {
        response.writeHead(status, { 'content-type': 'application/json' });
        response.end(JSON.stringify(body));
      });
    });
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  env = { ANTHROPIC_API_KEY: 'sk-test-not-a-key', ANTHROPIC_BASE_URL: `http://127.0.0.1:${port}` };
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const answerWith = (status: number, body: unknown) => {
  respond = (answer) => answer(status, body);
};
const saying = (message: Readonly<Record<string, unknown>>) => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  content: [],
  stop_reason: 'end_turn',
  usage: { input_tokens: 10, output_tokens: 5 },
  ...message,
});
const summarizing = ['--summarizer', 'anthropic', '--strategy', 'summarize'];

describe('a model that does not deliver', () => {
  it.each([
    {
      title: 'an internal error',
      status: 500,
      body: { type: 'error', error: { type: 'api_error', message: 'Internal server error' } },
      words: ['HTTP 500', 'Internal server error'],
    },
    {
      title: 'an overload',
      status: 529,
      body: { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } },
      words: ['HTTP 529', 'Overloaded'],
    },
    {
      title: 'a wrong key',
      status: 401,
      body: { type: 'error', error: { type: 'authentication_error', message: 'invalid x-api-key' } },
      words: ['HTTP 401', 'invalid x-api-key'],
    },
    {
      title: 'a model that the provider does not know',
      status: 404,
      body: { type: 'error', error: { type: 'not_found_error', message: 'model: magic-1' } },
      words: ['HTTP 404', 'model: magic-1'],
    },
  ])('costs nothing but its words for $title, and the user is told', async ({ status, body, words }) => {
    answerWith(status, body);
    const file = out(`without-${status}.json`);
    const args = ['compact', session, ...summarizing, '--summarizer-model', 'magic-1', '--out', file];
    const { code, stdout, stderr } = await runCli(args, { env });

    expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
    for (const word of ['note: ', ...words, 'without a model']) expect(stderr).toContain(word);
    expect(stderr).not.toContain('sk-test-not-a-key');
    expect(stderr).not.toContain('    at ');
    expect((await runCli(['check', file])).code).toBe(0);
  });

  it('leaves what no model at all would have left', async () => {
    answerWith(500, {});
    const args = ['compact', session, '--budget', '5%'];
    const failing = await runCli([...args, '--summarizer', 'anthropic'], { env });
    const without = await runCli(args);

    expect(failing.code).toBe(without.code);
    expect(failing.stdout).toBe(without.stdout);
  });

  it.each([
    { title: 'nothing', message: { content: [] } },
    {
      title: 'a refusal',
      message: { stop_reason: 'refusal', content: [{ type: 'text', text: 'No.' }] },
    },
    {
      title: 'a tool call',
      message: {
        stop_reason: 'tool_use',
        content: [{ type: 'tool_use', id: 'toolu_1', name: 'Bash', input: {} }],
      },
    },
    {
      title: 'half an answer',
      message: { stop_reason: 'max_tokens', content: [{ type: 'text', text: 'The user' }] },
    },
  ])('is replaced in the same run when it answers with $title', async ({ title, message }) => {
    answerWith(200, saying(message));
    const file = out(`without-${title.replaceAll(' ', '-')}.json`);
    const { code, stderr } = await runCli(['compact', session, ...summarizing, '--out', file], { env });

    expect(code).toBe(0);
    expect(stderr).toMatch(/^note: .*without a model/s);
    expect((await runCli(['check', file])).code).toBe(0);
  });

  it('is written down as failed, and so is what was done instead', async () => {
    answerWith(500, {});
    const log = out('failed.jsonl');
    const args = ['compact', session, ...summarizing, '--budget', '5%', '--log', log];

    expect((await runCli(args, { env })).code).toBe(0);
    const records = readFileSync(log, 'utf8').trim().split('\n');
    expect(records.map((line) => JSON.parse(line) as unknown)).toMatchObject([
      { status: 'failed', reason: 'summary-upstream', messagesBefore: 48, messagesAfter: 48 },
      { status: 'compacted', reason: expect.stringMatching(/^summarised \d+ messages$/), messagesBefore: 48 },
    ]);
  });

  it.each([
    ['--strategy', 'summarize'],
    ['--budget', '5%'],
  ])('ends with 2 when it has no address that can be asked (%s %s)', async (...more) => {
    const args = ['compact', session, '--summarizer', 'anthropic', ...more];
    const { code, stdout, stderr } = await runCli(args, { env: { ...env, ANTHROPIC_BASE_URL: 'here' } });

    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain('starts with https://');
  });

  it('leaves standard output to the data', async () => {
    answerWith(500, {});
    const args = ['compact', session, ...summarizing, '--json', '--out', out('told.json')];
    const { code, stdout } = await runCli(args, { env });

    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ version: 1, type: 'compaction', status: 'compacted' });
  });
});

describe('a user who stops it', () => {
  it.each([
    { signal: 'SIGINT', expected: 130 },
    { signal: 'SIGTERM', expected: 143 },
  ] as const)(
    'ends with $expected after $signal while a summary is written',
    async ({ signal, expected }) => {
      const file = out('never-interrupted.json');
      const main = resolve('dist/cli/main.js');
      const args = [main, 'compact', session, '--summarizer', 'anthropic', '--budget', '5%', '--out', file];
      const child = spawn(process.execPath, args, { env: { PATH: process.env['PATH'] ?? '', ...env } });
      let said = '';
      child.stderr.on('data', (chunk: Buffer) => {
        said += chunk.toString('utf8');
      });
      respond = () => child.kill(signal);
      const code = await new Promise((ended) => child.on('close', ended));

      expect(code).toBe(expected);
      expect(said).toContain('nothing was written');
      expect(existsSync(file)).toBe(false);
    },
  );
});

const hasFullDevice = existsSync('/dev/full');
if (!hasFullDevice) process.stderr.write('no /dev/full here: the tests of a full disk are skipped\n');

describe.skipIf(!hasFullDevice)('a full disk', () => {
  it('costs the log and nothing else', async () => {
    const file = out('logged.json');
    const { code, stderr } = await runCli(['compact', session, '--log', '/dev/full', '--out', file]);

    expect(code).toBe(1);
    expect(stderr).toContain('/dev/full cannot be written (no space left on the disk)');
    expect(stderr).toContain('The conversation was written all the same');
    expect((await runCli(['check', file])).code).toBe(0);
  });

  it('costs neither the conversation on standard output', async () => {
    const { code, stdout } = await runCli(['compact', session, '--log', '/dev/full']);

    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toBeInstanceOf(Array);
  });

  it.each(['--out', '--receipt'])('is told with its remedy when %s meets it', async (option) => {
    const { code, stderr } = await runCli(['compact', session, option, '/dev/full']);

    expect(code).toBe(1);
    expect(stderr).toContain('/dev/full cannot be written (no space left on the disk)');
    expect(stderr).toContain('Make room on the disk');
    expect(stderr).not.toContain('    at ');
  });
});

describe('a command line that asks for what there is not', () => {
  it.each([
    { args: ['--strategy', 'lader'], words: ['Did you mean ladder?', 'Allowed choices are'] },
    { args: ['--strategy', 'magic'], words: ['Allowed choices are ladder'] },
    { args: ['--format', 'openai'], words: ['Did you mean openai-chat?', 'Allowed choices are'] },
    { args: ['--as', 'antropic-messages'], words: ['Did you mean anthropic-messages?'] },
    { args: ['--as', 'morse'], words: ['Allowed choices are anthropic-messages, openai-chat'] },
    { args: ['--model', 'claude-opus-55'], words: ['unknown model', 'Did you mean claude-opus-5-5?'] },
    { args: ['--model', 'magic-9'], words: ['unknown model "magic-9"', 'Leave --model out'] },
    {
      args: ['--summarizer', 'anthropic'],
      words: ['needs a key', 'Set ANTHROPIC_API_KEY', 'the summarizer memory'],
    },
    {
      args: ['--summarizer', 'openai'],
      words: ['needs a key', 'Set OPENAI_API_KEY', 'the summarizer memory'],
    },
  ])('$args ends with 2 and a remedy', async ({ args, words }) => {
    const { code, stdout, stderr } = await runCli(['compact', session, ...args]);

    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    for (const word of words) expect(stderr).toContain(word);
    expect(stderr).not.toContain('    at ');
  });

  it('takes an empty key for none', async () => {
    const args = ['compact', session, '--summarizer', 'anthropic'];

    expect((await runCli(args, { env: { ANTHROPIC_API_KEY: '' } })).code).toBe(2);
  });

  it.each(['--out', '--receipt', '--log'])('never lets %s overwrite the original', async (option) => {
    const { code, stderr } = await runCli([
      'compact',
      session,
      option,
      join(folder.path, '.', 'session.jsonl'),
    ]);

    expect(code).toBe(2);
    expect(stderr).toContain('the file that is read');
  });

  it('does not write two things to one file', async () => {
    const { code, stderr } = await runCli(['compact', session, '--out', out('one'), '--receipt', out('one')]);

    expect(code).toBe(2);
    expect(stderr).toContain('the same file as --out');
    expect(existsSync(out('one'))).toBe(false);
  });

  it('finds out that a file cannot be written before it asks a model', async () => {
    let asked = 0;
    respond = (answer) => {
      asked++;
      answer(500, {});
    };
    const { code, stderr } = await runCli(
      ['compact', session, ...summarizing, '--out', out('no/such/folder/x.json')],
      { env },
    );

    expect({ code, asked }).toEqual({ code: 2, asked: 0 });
    expect(stderr).toContain('no such folder');
  });
});
