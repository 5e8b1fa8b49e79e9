import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { hostname } from 'node:os';
import { join, resolve } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterEach, describe, expect, it } from 'vitest';
import { startSimulator } from '../../src/simulator/simulator.ts';
import { createAgent } from '../support/anthropic-agent.ts';
import { runCli } from '../support/cli.ts';
import { untilResults } from '../support/proxied.ts';
import { startRecordingUpstream } from '../support/recording-upstream.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const main = resolve(import.meta.dirname, '../../dist/cli/main.js');
const folder = temporaryFolder();
const children: ChildProcess[] = [];
const running: { close(): Promise<unknown> }[] = [];

afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  for (const each of running.splice(0)) await each.close();
});

/** Starts the command and waits until it has said where it listens. */
async function startCommand(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const child = spawn(process.execPath, [main, 'proxy', '--port', '0', ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env['PATH'] ?? '', HOME: folder.path, ...env },
  });
  children.push(child);
  const said = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk: Buffer) => {
    said.stdout += chunk.toString('utf8');
  });
  child.stderr.on('data', (chunk: Buffer) => {
    said.stderr += chunk.toString('utf8');
  });
  const exited = once(child, 'close').then(([code]) => code as number | null);
  while (!said.stderr.includes('shows what happens')) {
    const ended = await Promise.race([once(child.stderr, 'data').then(() => false), exited.then(() => true)]);
    if (ended) throw new Error(`ended early: ${said.stderr}`);
  }
  return { child, said, exited, url: /ANTHROPIC_BASE_URL=(\S+)/.exec(said.stderr)?.[1] ?? '' };
}

describe('roundfold proxy', () => {
  it('folds a long conversation, keeps it in a file for its owner alone, and ends when it is told to', async () => {
    const simulator = await startSimulator({ windowTokens: 60_000, script: untilResults(10_000) });
    running.push(simulator);
    const store = join(folder.path, 'store.sqlite');
    const log = join(folder.path, 'proxy.log');
    const { child, said, exited, url } = await startCommand([
      ...['--upstream', simulator.url, '--store', store, '--window', '60000', '--log', log, '--json'],
    ]);
    const agent = createAgent(url, [{ role: 'user', content: 'Read the harbour plans.' }], 'sk-never-shown');
    await agent.work(60, { characters: 3000 });
    expect(simulator.requests.filter(({ status }) => status !== 200)).toEqual([]);
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    expect((await (await fetch(`${url}/metrics`)).text()).includes('roundfold_requests_total')).toBe(true);
    expect((await (await fetch(`${url}/roundfold/`)).text()).includes('<html')).toBe(true);
    child.kill('SIGTERM');
    expect(await exited).toBe(0);
    const lines = said.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    const exchanges = lines.filter(({ kind }) => kind === 'generate');
    expect(exchanges.length).toBe(60);
    expect(exchanges.some(({ status }) => status === 'folded')).toBe(true);
    expect(`${said.stdout}${said.stderr}`).not.toMatch(/sk-never-shown|harbour/);
    for (const file of [store, log]) expect(statSync(file).mode & 0o077).toBe(0);
    const listed = await runCli(['store', 'ls', '--store', store]);
    expect(listed.code).toBe(0);
    expect(listed.stdout).toMatch(/[0-9a-f]{6}/);
  });

  it('lets an answer come to its end after SIGTERM', async () => {
    let finish: (() => void) | undefined;
    const upstream = await startRecordingUpstream((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: begun\n\n');
      finish = () => response.end('data: done\n\n');
    });
    running.push(upstream);
    const { child, exited, url } = await startCommand(['--upstream', upstream.url, '--store', 'memory:']);
    const response = await fetch(`${url}/v1/messages`, { method: 'POST', body: '{}' });
    const text = response.text();
    child.kill('SIGTERM');
    // Until it listens no more.
    for (;;) {
      const isUp = await fetch(`${url}/healthz`).then(
        () => true,
        () => false,
      );
      if (!isUp) break;
    }
    finish?.();
    expect(await text).toBe('data: begun\n\ndata: done\n\n');
    expect(await exited).toBe(0);
  });

  it('names an address that clients can use where it listens at all of them, and the header of the token', async () => {
    const args = ['--host', '0.0.0.0', '--allow-remote', '--store', 'memory:'];
    const token = 'a-token-that-is-not-said';
    const { said, url } = await startCommand(args, { ROUNDFOLD_TOKEN: token });
    expect(new URL(url).hostname).toBe(hostname().toLowerCase());
    expect(said.stderr).toContain('header x-roundfold-token');
    expect(said.stderr).not.toMatch(/0\.0\.0\.0|not-said/);
    const listed = await startCommand([...args], { ROUNDFOLD_TOKEN: token, ROUNDFOLD_HOSTS: 'llm.example' });
    expect(new URL(listed.url).hostname).toBe('llm.example');
  });

  it('shows the settings in force and where they came from', async () => {
    const config = folder.write('proxy.jsonc', '{ "maxStreams": 7, /* few */ }');
    const { code, stdout } = await runCli(
      [
        'proxy',
        '--print-config',
        '--config',
        config,
        '--port',
        '9',
        '--upstream',
        'gpt-*=http://127.0.0.1:1',
      ],
      {
        env: {
          HOME: '/home/nobody-in-particular',
          ROUNDFOLD_MODE: 'observe',
          ROUNDFOLD_TOKEN: 'a-token-nobody-sees',
        },
      },
    );
    expect(code).toBe(0);
    expect(stdout).toContain('maxStreams = 7  # file\n');
    expect(stdout).toContain('port = 9  # flag\n');
    expect(stdout).toContain('mode = "observe"  # environment\n');
    expect(stdout).toContain('upstreams = [{"url":"http://127.0.0.1:1","model":"gpt-*"}]  # flag\n');
    expect(stdout).toContain(
      'store = "/home/nobody-in-particular/.local/share/roundfold/store.sqlite"  # default\n',
    );
    expect(stdout).not.toContain('nobody-sees');
  });

  it.each([
    [['--config', 'missing.json'], /missing\.json: there is no such file/],
    [['--config', '/'], /configuration cannot be read/],
    [['--host', '0.0.0.0'], /can be reached from other machines/],
    [['--host', '0.0.0.0', '--allow-remote'], /needs a token/],
    [['--upstream', 'not a url'], /upstreams/],
    [['--mode', 'foold'], /Did you mean fold/],
    [['--window', 'big'], /--window takes a whole number/],
  ])('refuses %j and says what is wrong', async (args, message) => {
    const { code, stderr } = await runCli(['proxy', '--store', 'memory:', ...args]);
    expect(code).toBe(2);
    expect(stderr).toMatch(message);
  });

  it('lets an agent search and read what left its own conversation, where it was asked to', async () => {
    const simulator = await startSimulator({ windowTokens: 60_000, script: untilResults(10_000) });
    running.push(simulator);
    const store = join(folder.path, 'recall.sqlite');
    const { url } = await startCommand([
      ...['--upstream', simulator.url, '--store', store, '--window', '60000', '--recall'],
    ]);
    const question = 'Read the harbour plans, above all the lighthouse of Kellinghusen.';
    const agent = createAgent(url, [{ role: 'user', content: question }], 'sk-owner');
    await agent.work(60, { characters: 3000 });

    const ask = async (key: string) => {
      const client = new Client({ name: 'test', version: '1.0.0' });
      const headers = { 'x-api-key': key };
      await client.connect(
        new StreamableHTTPClientTransport(new URL(`${url}/roundfold/mcp`), { requestInit: { headers } }),
      );
      const found = await client.callTool({ name: 'search', arguments: { words: 'compute value17' } });
      const text = JSON.stringify(found.content);
      const handle = /rf:[0-9a-f]{32}/.exec(text)?.[0] ?? '';
      const read = await client.callTool({ name: 'recall', arguments: { handle } });
      await client.close();
      return { text, page: JSON.stringify(read.content) };
    };
    const own = await ask('sk-owner');
    expect(own.text).toMatch(/rf:[0-9a-f]{32} page \d+ of \d+/);
    expect(own.page).toContain('compute(');
    const strange = await ask('sk-other');
    expect(strange.text).not.toContain('rf:');
    expect(strange.page).not.toContain('compute(');
  });

  it('has no such server by default', async () => {
    const store = join(folder.path, 'none.sqlite');
    const { url } = await startCommand(['--upstream', 'http://127.0.0.1:9', '--store', store]);
    expect((await fetch(`${url}/roundfold/mcp`)).status).toBe(404);
    const post = await fetch(`${url}/roundfold/mcp`, { method: 'POST', body: '{}' });
    expect(post.ok).toBe(false);
  });
});
