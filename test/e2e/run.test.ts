import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { type Simulator, startSimulator } from '../../src/simulator/simulator.ts';
import { runCli } from '../support/cli.ts';
import { openTerminal } from '../support/terminal-session.ts';

// Programs of our own as clients: what they get, and what becomes of how they end.

const main = resolve(import.meta.dirname, '../../dist/cli/main.js');
const folder = mkdtempSync(join(tmpdir(), 'roundfold-run-test-'));
const running: Simulator[] = [];

afterEach(async () => {
  await Promise.all(running.splice(0).map((simulator) => simulator.close()));
});
afterAll(() => rmSync(folder, { recursive: true }));

async function surroundings() {
  const simulator = await startSimulator();
  running.push(simulator);
  const env = {
    ANTHROPIC_BASE_URL: simulator.url,
    OPENAI_BASE_URL: `${simulator.url}/v1`,
    GOOGLE_GEMINI_BASE_URL: simulator.url,
    ROUNDFOLD_STORE: join(folder, 'store.sqlite'),
    TMPDIR: folder,
  };
  return { simulator, env };
}

/** A client that asks once, of every provider. */
const client = `
const ask = async (base, path, headers, body) =>
  (await fetch(process.env[base] + path, { method: 'POST', headers, body: JSON.stringify(body) })).status;
const messages = [{ role: 'user', content: 'Hello' }];
console.log(JSON.stringify([
  await ask('ANTHROPIC_BASE_URL', '/v1/messages', { 'x-api-key': 'k', 'anthropic-version': '2023-06-01' },
    { model: 'claude-sonnet-4-5', max_tokens: 100, messages }),
  await ask('OPENAI_BASE_URL', '/chat/completions', { authorization: 'Bearer k' }, { model: 'gpt-4.1', messages }),
  await ask('GOOGLE_GEMINI_BASE_URL', '/v1beta/models/gemini-2.5-pro:generateContent', { 'x-goog-api-key': 'k' },
    { contents: [{ role: 'user', parts: [{ text: 'Hello' }] }] }),
]));
console.log(process.argv.slice(1).join(' '));
process.exitCode = 7;
`;

describe('roundfold run', () => {
  it('leads a program to its proxy, goes on to where the environment pointed, and ends as it ends', async () => {
    const { simulator, env } = await surroundings();
    const args = [
      'run',
      process.execPath,
      '--input-type=module',
      '-e',
      client,
      '--',
      '--json',
      '--mode',
      'x',
    ];
    const { code, stdout, stderr } = await runCli(args, { env });
    expect(stdout).toBe('[200,200,200]\n--json --mode x\n');
    expect(code).toBe(7);
    expect(simulator.requests.map(({ path, status }) => `${path} ${status}`)).toEqual([
      '/v1/messages 200',
      '/v1/chat/completions 200',
      '/v1beta/models/gemini-2.5-pro:generateContent 200',
    ]);
    const [, url = ''] =
      /roundfold (http:\/\/127\.0\.0\.1:\d+)\/roundfold\/ in front of (\S+)/.exec(stderr) ?? [];
    expect(stderr).toContain(`in front of ${simulator.url}\n`);
    expect(stderr).toContain(`  ANTHROPIC_BASE_URL=${url}/anthropic\n`);
    expect(stderr).toContain(`  OPENAI_BASE_URL=${url}/openai/v1\n`);
    expect(stderr).toContain(`  GOOGLE_GEMINI_BASE_URL=${url}/google\n`);
    expect(stderr).toMatch(/roundfold 3 requests, 0 folds, 0 sent folded\n {2}tokens in: [\d,]+ received/);
    expect(stderr).toMatch(/cost: \$0\.\d{4} at list prices/);
  });

  it('shows the dashboard while it runs, and passes everything in observe mode, which it says', async () => {
    const { env } = await surroundings();
    const look = `
const [origin] = /^http:..127.0.0.1:\\d+/.exec(process.env.ANTHROPIC_BASE_URL);
const headers = { 'x-api-key': 'k', 'anthropic-version': '2023-06-01' };
const body = JSON.stringify({ model: 'claude-sonnet-4-5', max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }] });
await (await fetch(process.env.ANTHROPIC_BASE_URL + '/v1/messages', { method: 'POST', headers, body })).text();
console.log((await (await fetch(origin + '/roundfold/api/health')).json()).requests);`;
    const args = ['run', '--mode', 'observe', '--', process.execPath, '--input-type=module', '-e', look];
    const { code, stdout, stderr } = await runCli(args, { env });
    expect([code, stdout]).toEqual([0, '1\n']);
    expect(stderr).toContain('passed 1: the proxy only observes');
  });

  it('says how often and with which status the provider refused, and blames no missing price for it', async () => {
    const { env } = await surroundings();
    const keyless = client.replaceAll(
      /'x-api-key': 'k',|authorization: 'Bearer k'|'x-goog-api-key': 'k'/g,
      '',
    );
    const args = ['run', process.execPath, '--input-type=module', '-e', keyless];
    const { stdout, stderr } = await runCli(args, { env });
    expect(stdout).toBe('[401,401,403]\n\n');
    expect(stderr).toContain(
      'roundfold 3 requests, 0 folds, 0 sent folded, 2 refused (401), 1 refused (403)\n',
    );
    expect(stderr).toContain('  cost: not known, no answer said how many tokens it took\n');
  });

  it('leaves no file behind, and says when nothing came through', async () => {
    const { env } = await surroundings();
    const { code, stderr } = await runCli(['run', process.execPath, '-e', '0'], { env });
    expect(code).toBe(0);
    expect(stderr).toContain('no request came through');
    expect(readdirSync(folder).filter((name) => name.startsWith('roundfold-run-'))).toEqual([]);
  });

  it.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)(
    'gives %s to the program, which decides',
    async (signal) => {
      const { env } = await surroundings();
      const patient = `process.on('${signal}', () => { console.log('told'); process.exit(5); }); setInterval(() => {}, 1000); console.log('up');`;
      const child = spawn(process.execPath, [main, 'run', process.execPath, '-e', patient], {
        env: { PATH: process.env['PATH'] ?? '', ...env },
        stdio: ['ignore', 'pipe', 'ignore'],
      });
      let said = '';
      child.stdout.on('data', (chunk: Buffer) => {
        said += chunk.toString('utf8');
        if (said === 'up\n') child.kill(signal);
      });
      const [code] = (await once(child, 'close')) as [number | null];
      expect([said, code]).toEqual(['up\ntold\n', 5]);
    },
  );

  it('lets Ctrl-C in a terminal reach the program once, with the terminal as its own', async () => {
    const { env } = await surroundings();
    const counting = `
let count = 0;
process.on('SIGINT', () => { count++; console.log('told', count, process.stdin.isTTY); });
process.stdin.on('data', (text) => process.exit(text.toString().trim() === 'bye' ? 40 + count : 1));
console.log('up');`;
    const session = openTerminal(['run', process.execPath, '-e', counting], { cwd: folder, env });
    await session.until('the program', (text) => text.includes('\nup'));
    session.type('\u0003');
    await session.until('the signal', (text) => text.includes('told 1 true'));
    session.type('bye\r');
    expect(await session.ended).toBe(41);
    expect(session.text()).not.toContain('told 2');
    expect(session.text()).toContain('no request came through');
  });

  it('ends as shells count when a signal has killed the program', async () => {
    const { env } = await surroundings();
    const { code } = await runCli(['run', process.execPath, '-e', 'process.kill(process.pid, "SIGKILL")'], {
      env,
    });
    expect(code).toBe(137);
  });

  it.each([
    {
      args: ['no-such-agent-anywhere'],
      words: 'cannot start no-such-agent-anywhere: there is no such program',
    },
    { args: ['--window', 'x', process.execPath], words: '--window takes a whole number' },
    { args: ['--mode', 'dream', process.execPath], words: 'Allowed choices are fold, observe' },
    { args: [], words: "missing required argument 'command'" },
  ])('refuses $args', async ({ args, words }) => {
    const { env } = await surroundings();
    const { code, stderr } = await runCli(['run', ...args], { env });
    expect([code, stderr]).toEqual([2, expect.stringContaining(words)]);
  });

  it('starts nothing with a store that cannot be opened, and says why', async () => {
    const { env, simulator } = await surroundings();
    const given = { ...env, ROUNDFOLD_STORE: join(folder, 'nowhere', 'x'.repeat(300), 'store.sqlite') };
    const args = ['run', process.execPath, '--input-type=module', '-e', client];
    const { code, stdout, stderr } = await runCli(args, { env: given });
    expect([code, stdout]).toEqual([1, '']);
    expect(simulator.requests).toHaveLength(0);
    expect(stderr).toContain('store.sqlite');
  });

  it('lets a client work whose store does not answer, and says so', async () => {
    const { env, simulator } = await surroundings();
    const given = { ...env, ROUNDFOLD_STORE: 'postgres://somebody@127.0.0.1:1/x' };
    const args = ['run', process.execPath, '--input-type=module', '-e', client];
    const { code, stdout, stderr } = await runCli(args, { env: given });
    expect([code, stdout]).toEqual([7, '[200,200,200]\n\n']);
    expect(simulator.requests).toHaveLength(3);
    expect(stderr).toMatch(/^roundfold the store at \S+ cannot be reached; requests go on without it/);
    expect(stderr).toMatch(/the store did not answer \d times: memories may be lost with this run/);
  });

  it('refuses an address that is none, and starts nothing', async () => {
    const { env } = await surroundings();
    const given = { ...env, ANTHROPIC_BASE_URL: 'somewhere' };
    const { code, stdout, stderr } = await runCli(['run', process.execPath, '-p', '1'], { env: given });
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain('is no URL');
  });
});
