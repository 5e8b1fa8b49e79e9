import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { runCli } from '../support/cli.ts';
import { type PostgresServer, startPostgres } from '../support/postgres.ts';
import { startRecordingUpstream } from '../support/recording-upstream.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const main = resolve(import.meta.dirname, '../../dist/cli/main.js');
const folder = temporaryFolder();
const children: ChildProcess[] = [];

afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

/** As on a machine where nobody has installed `pg`. */
const WITHOUT_PG = `--import=data:text/javascript,${encodeURIComponent(
  `import { registerHooks } from 'node:module';
  registerHooks({ resolve(name, context, next) { if (name === 'pg') throw new Error('not found'); return next(name, context); } });`,
)}`;

describe('a store that cannot be used', () => {
  const unusable: readonly (readonly [string, () => string, RegExp, Record<string, string>])[] = [
    ['a text file', () => folder.write('notes.txt', 'no database'), /no database of roundfold/, {}],
    ['a path below a device', () => '/dev/null/x.sqlite', /cannot be opened/, {}],
    ['a file system without room for files', () => '/proc/x/store.sqlite', /cannot be opened/, {}],
    [
      'PostgreSQL without its package',
      () => 'postgres://somebody@127.0.0.1:1/x',
      /needs the package pg/,
      { NODE_OPTIONS: WITHOUT_PG },
    ],
  ];

  it.each(unusable)(
    'ends a proxy before it listens, with its error: %s',
    async (_name, address, error, env) => {
      const { code, stderr } = await runCli(['proxy', '--port', '0', '--store', address()], { env });
      expect(stderr).toMatch(error);
      expect(stderr).not.toContain('BASE_URL');
      expect(code).toBe(1);
    },
  );

  it.each(unusable)(
    'ends `roundfold run` before the client starts: %s',
    async (_name, address, error, env) => {
      const trace = join(folder.path, 'started');
      const client = ['--', 'touch', trace];
      const { code, stderr } = await runCli(['run', '--store', address(), ...client], { env });
      expect(stderr).toMatch(error);
      expect(code).toBe(1);
      expect(existsSync(trace)).toBe(false);
    },
  );
});

describe('a database that does not answer yet', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.stop());

  it('is waited for while requests pass, and told when it goes and comes back', async () => {
    const address = await server.createDatabase();
    await server.pause();
    const upstream = await startRecordingUpstream((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
    const child = spawn(
      process.execPath,
      [main, 'proxy', '--port', '0', '--store', address, '--upstream', upstream.url],
      { stdio: ['ignore', 'pipe', 'pipe'], env: { PATH: process.env['PATH'] ?? '', HOME: folder.path } },
    );
    children.push(child);
    let said = '';
    child.stderr.on('data', (chunk: Buffer) => {
      said += chunk.toString('utf8');
    });
    const untilSaid = async (words: RegExp) => {
      while (!words.test(said)) await once(child.stderr, 'data');
    };
    await untilSaid(/shows what happens/);
    const url = /ANTHROPIC_BASE_URL=(\S+)/.exec(said)?.[1] ?? '';
    const ask = () =>
      fetch(`${url}/v1/messages`, {
        method: 'POST',
        headers: { 'x-api-key': 'k', 'content-type': 'application/json' },
        body: JSON.stringify({
          model: 'claude-sonnet-4-6',
          max_tokens: 9,
          messages: [{ role: 'user', content: 'hi' }],
        }),
      });
    expect(said.match(/cannot be reached/g)).toHaveLength(1);
    expect(said).not.toContain('only-for-tests');
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    const waiting = await fetch(`${url}/readyz`);
    expect([waiting.status, await waiting.text()]).toEqual([503, 'waiting for the store\n']);
    expect((await ask()).status).toBe(200);
    const metrics = await (await fetch(`${url}/metrics`)).text();
    expect(metrics).toMatch(/^roundfold_store_errors_total\{operation="acquire"\} [1-9]/m);
    expect((await runCli(['doctor', url])).stdout).toMatch(/the store did not answer/);

    await server.resume();
    await untilSaid(/the store answers now/);
    expect((await fetch(`${url}/readyz`)).status).toBe(200);

    // Whoever takes a proxy away for a store that all proxies share takes all of them away.
    await server.pause();
    expect((await ask()).status).toBe(200);
    await untilSaid(/cannot be reached[\s\S]*cannot be reached/);
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    await server.resume();
    await untilSaid(/answers now[\s\S]*answers now/);
    child.kill('SIGTERM');
    expect((await once(child, 'close'))[0]).toBe(0);
    await upstream.close();
  }, 90_000);
});
