import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { runCli } from '../support/cli.ts';

const main = resolve(import.meta.dirname, '../../dist/cli/main.js');
const children: ChildProcess[] = [];

afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

/** Starts the command and waits until it has said where it listens. */
async function startCommand(...args: readonly string[]) {
  const child = spawn(process.execPath, [main, 'simulate', ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  children.push(child);
  const said = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk: Buffer) => {
    said.stdout += chunk.toString('utf8');
  });
  child.stderr.on('data', (chunk: Buffer) => {
    said.stderr += chunk.toString('utf8');
  });
  const exited = once(child, 'close').then(([code]) => code as number | null);
  const addresses = args.includes('--json') ? 'stderr' : 'stdout';
  while (!said[addresses].includes('GEMINI_API_KEY')) {
    const spoken = once(child[addresses], 'data').then(() => false);
    if (await Promise.race([spoken, exited.then(() => true)])) throw new Error(`ended early: ${said.stderr}`);
  }
  const url = /ANTHROPIC_BASE_URL=(\S+)/.exec(said[addresses])?.[1] ?? '';
  return { child, said, url, exited };
}

const secret = 'sk-never-to-be-printed';

function ask(url: string, content: string) {
  return fetch(`${url}/v1/messages`, {
    method: 'POST',
    headers: { 'x-api-key': secret, 'anthropic-version': '2023-06-01' },
    body: JSON.stringify({ model: 'claude-opus-5', max_tokens: 64, messages: [{ role: 'user', content }] }),
  });
}

describe('roundfold simulate', () => {
  it('prints lines for a shell and nothing else on standard output, which give a client all it needs', async () => {
    const { child, said, url, exited } = await startCommand();
    await ask(url, 'Hello');
    child.kill('SIGINT');
    expect(await exited).toBe(0);
    expect(said.stderr).toMatch(/^200 POST \/v1\/messages \d+ tokens\n$/);
    const shell = spawnSync('sh', ['-eu'], { input: `${said.stdout}${said.stdout}env\n`, env: {} });
    expect(shell.status).toBe(0);
    expect(shell.stdout.toString('utf8').split('\n')).toEqual(
      expect.arrayContaining([
        ...[`ANTHROPIC_BASE_URL=${url}`, `OPENAI_BASE_URL=${url}/v1`, `GOOGLE_GEMINI_BASE_URL=${url}`],
        ...['ANTHROPIC_API_KEY=any', 'OPENAI_API_KEY=any', 'CODEX_API_KEY=any', 'GEMINI_API_KEY=any'],
      ]),
    );
  });

  it('gives one line of JSON per request without keys and contents, and ends', async () => {
    const { child, said, url, exited } = await startCommand('--json', '--window', '600');
    const answered = await ask(url, 'The harbour master sleeps.');
    const refused = await ask(url, 'The harbour master sleeps. '.repeat(500));
    expect([answered.status, refused.status]).toEqual([200, 400]);
    expect(await refused.text()).toContain('> 600 maximum');
    child.kill('SIGINT');
    expect(await exited).toBe(0);

    const lines = said.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as object);
    const request = { version: 1, type: 'request', method: 'POST', path: '/v1/messages' };
    expect(lines).toMatchObject([
      { ...request, status: 200, promptTokens: expect.any(Number) },
      { ...request, status: 400, promptTokens: expect.any(Number) },
    ]);
    expect(`${said.stdout}${said.stderr}`).not.toMatch(new RegExp(`${secret}|harbour`));
  });

  it('ends on SIGTERM in the middle of an answer', async () => {
    const { child, url, exited } = await startCommand('--fault', 'slow-first-byte', '--fault', 'crlf');
    const answer = ask(url, 'Hello').catch(() => 'broken');
    await ask(url, 'Hello');
    const another = ask(url, 'Hello').catch(() => 'broken');
    child.kill('SIGTERM');
    expect(await exited).toBe(0);
    await Promise.all([answer, another]);
  });

  it.each([
    { args: ['--port', 'x'], words: '--port takes a whole number' },
    { args: ['--port', '70000'], words: 'from 0 to 65535' },
    { args: ['--window', '0'], words: '--window takes a whole number' },
    { args: ['--fault', 'nothing'], words: 'Allowed choices are' },
    { args: ['request.json'], words: 'too many arguments' },
    { args: ['--host', '203.0.113.1'], words: 'cannot listen' },
  ])('$args is a wrong command line', async ({ args, words }) => {
    const { code, stderr } = await runCli(['simulate', ...args]);
    expect(code).toBe(2);
    expect(stderr).toContain(words);
  });
});
