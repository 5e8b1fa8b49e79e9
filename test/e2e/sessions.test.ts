import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { writeAgentHome } from '../support/agent-home.ts';
import { runCli } from '../support/cli.ts';
import { pricedSession } from '../support/priced-session.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const mainFile = resolve(import.meta.dirname, '../../dist/cli/main.js');
const folder = temporaryFolder();
const { home, files, variables } = writeAgentHome(join(folder.path, 'home'));

interface Told {
  readonly type: string;
  readonly agent?: string;
  readonly prompt?: string;
  readonly cost: { readonly dollars: number; readonly unpriced: number; readonly responses: number };
  readonly [key: string]: unknown;
}

async function sessions(...args: readonly string[]) {
  const { code, stdout, stderr } = await runCli(['sessions', '--json', ...args], { env: variables });
  const told = stdout.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Told]));
  const rows = told.filter(({ type }) => type === 'session');
  return { code, stderr, rows, total: told.find(({ type }) => type === 'sessions') };
}

/** Dollars, from prices in dollars for a million tokens. */
const dollars = (...parts: readonly (readonly [tokens: number, price: number])[]) =>
  parts.reduce((sum, [tokens, price]) => sum + (tokens * price) / 1e6, 0);

describe('the sessions of a user', () => {
  it('are found where each agent keeps them, the newest first', async () => {
    const { code, rows } = await sessions();

    expect(code).toBe(0);
    expect(rows.map(({ agent, prompt, project, rounds }) => [agent, prompt, project, rounds])).toEqual([
      ['opencode', 'Mend the nets.', '/pier', 1],
      ['gemini-cli', 'Count the gulls.', undefined, 1],
      ['pi', 'Light the lamp.', '/lighthouse', 1],
      ['codex', 'Explain the tides.', '/harbour', 2],
      ['claude-code', 'Find the rounding bug.', '/shop', 2],
    ]);
  });

  it('cost what their own records say, at the prices of the models', async () => {
    const { rows, total } = await sessions();
    const costs = new Map(rows.map(({ agent, cost }) => [agent, cost.dollars]));
    // $5 and $25 a million, cache reads a tenth, writes 1.25 times the input for five minutes and twice for an hour.
    const claude = 2 * dollars([10, 5], [1000, 6.25], [2000, 10], [20_000, 0.5], [500, 25]);
    const opencode = dollars([100, 5], [2000, 6.25], [1000, 0.5], [60, 25]);
    // $5 and $30, cached input $0.50.
    const codex = dollars([6000, 5], [4000, 0.5], [300, 30], [7000, 5], [4000, 0.5], [300, 30]);
    // $1.25 and $10, cached input $0.125.
    const gemini = dollars([5000, 1.25], [3000, 0.125], [100, 10]);

    expect(costs.get('claude-code')).toBeCloseTo(claude, 9);
    expect(costs.get('opencode')).toBeCloseTo(opencode, 9);
    expect(costs.get('codex')).toBeCloseTo(codex, 9);
    expect(costs.get('gemini-cli')).toBeCloseTo(gemini, 9);
    // No price is known for its model: what the agent says itself counts.
    expect(costs.get('pi')).toBe(0.25);
    expect(total?.cost.dollars).toBeCloseTo(claude + opencode + codex + gemini + 0.25, 9);
  });

  it.each([
    { variable: 'CLAUDE_CONFIG_DIR', value: '.claude', agent: 'claude-code' },
    { variable: 'CODEX_HOME', value: '.codex', agent: 'codex' },
    { variable: 'PI_CODING_AGENT_DIR', value: '.pi/agent', agent: 'pi' },
    { variable: 'XDG_DATA_HOME', value: '.local/share', agent: 'opencode' },
    { variable: 'GEMINI_CLI_HOME', value: '', agent: 'gemini-cli' },
  ])('are found where $variable says', async ({ variable, value, agent }) => {
    const elsewhere = join(folder.path, 'elsewhere');
    mkdirSync(elsewhere, { recursive: true });
    const env = { HOME: elsewhere, XDG_CACHE_HOME: elsewhere, [variable]: join(home, value) };
    const { stdout } = await runCli(['sessions', '--json'], { env });

    expect(JSON.parse(stdout.split('\n')[0] ?? '')).toMatchObject({ agent });
  });

  it.each([
    { args: ['--agent', 'codex'], left: ['codex'] },
    { args: ['--project', 'HARB'], left: ['codex'] },
    { args: ['--since', '2026-11-04'], left: ['opencode', 'gemini-cli'] },
    { args: ['--sort', 'started', '--since', '2026-11-03'], left: ['opencode', 'gemini-cli', 'pi'] },
    { args: ['--sort', 'rounds', '--agent', 'claude-code'], left: ['claude-code'] },
  ])('can be chosen by $args', async ({ args, left }) => {
    const { rows } = await sessions(...args);
    expect(rows.map(({ agent }) => agent)).toEqual(left);
  });

  it('are none of the chosen kind, which is said', async () => {
    const run = await runCli(['sessions', '--project', 'desert'], { env: variables });
    expect(run).toMatchObject({ code: 0, stdout: 'none of 5 sessions is as asked for\n' });
  });

  it('come with totals for people', async () => {
    const { stdout } = await runCli(['sessions'], { env: variables });

    expect(stdout).toContain('Find the ');
    expect(stdout).toContain('5 sessions, $');
    expect(stdout).toContain('5 legal, 0 broken, 0 unreadable');
  });

  it.each([
    { args: ['--since', 'yesterday'], code: 2, words: '--since wants a time' },
    { args: ['--sort', 'colour'], code: 2, words: 'colour' },
    { args: [join('nowhere', 'at', 'all')], code: 3, words: 'does not exist' },
  ])('are refused for $args', async ({ args, code, words }) => {
    const run = await runCli(['sessions', ...args], { env: variables });

    expect(run.code).toBe(code);
    expect(run.stderr).toContain(words);
  });

  it('are none where there are none, which is said', async () => {
    const empty = join(folder.path, 'empty');
    mkdirSync(empty, { recursive: true });
    const { code, stderr } = await runCli(['sessions'], { env: { HOME: empty } });

    expect(code).toBe(3);
    expect(stderr).toContain('no session files found');
  });
});

describe('the money of a session', () => {
  it('is explained with the same names for people and programs, sub-agents included', async () => {
    const project = join(folder.path, 'money');
    mkdirSync(join(project, 'claude-1/subagents'), { recursive: true });
    const text = readFileSync(files['claude-code'], 'utf8');
    writeFileSync(join(project, 'claude-1.jsonl'), text);
    const side = text.replaceAll('"isSidechain":false', '"isSidechain":true,"agentId":"a1"');
    writeFileSync(join(project, 'claude-1/subagents/agent-a1.jsonl'), side);
    const json = await runCli(['sessions', project, '--money', '--json'], { env: variables });
    const told = json.stdout.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Told]));
    const session = told.find(({ type }) => type === 'session');
    const money = told.find(({ type }) => type === 'money');

    expect(json.code).toBe(0);
    expect(money?.cost).toEqual(session?.cost);
    expect(money).toMatchObject({
      agent: 'claude-code',
      models: [{ model: 'claude-opus-4-6' }],
      cacheMisses: [
        { cause: 'first-request', requests: 2 },
        { cause: 'changed-prefix', requests: 2 },
      ],
      replay: { compactions: 0 },
    });

    const { code, stdout } = await runCli(['sessions', project, '--money'], { env: variables });
    expect(code).toBe(0);
    for (const words of ['By model', 'Spent on', 'Not read from the cache', 'as it was', 'with roundfold'])
      expect(stdout).toContain(words);
  });
});

describe('a folder', () => {
  it('may hold anything: what is broken is marked, what is no session is counted', async () => {
    const mixed = join(folder.path, 'mixed');
    mkdirSync(mixed, { recursive: true });
    const text = readFileSync(files['claude-code'], 'utf8');
    const lines = text.trimEnd().split('\n');
    writeFileSync(join(mixed, 'whole.jsonl'), text);
    writeFileSync(join(mixed, 'open-call.jsonl'), `${lines.slice(0, 3).join('\n')}\n`);
    writeFileSync(join(mixed, 'prices.json'), '{"price":3}');
    const { code, rows, total } = await sessions(mixed);

    expect(code).toBe(0);
    expect(rows.map(({ fault }) => typeof fault)).toEqual(['undefined', 'string']);
    expect(total).toMatchObject({ legal: 1, broken: 1, unreadable: 1 });
  });

  it('is one line for a file, though an older beginning in it leads nowhere', async () => {
    const project = join(folder.path, 'restarted');
    mkdirSync(project, { recursive: true });
    const text = readFileSync(files['claude-code'], 'utf8');
    const older = text.split('\n')[0]?.replace('"u1"', '"u0"').replace('Find', 'Never mind') ?? '';
    writeFileSync(join(project, 'claude-1.jsonl'), `${older}\n${text}`);
    const { rows } = await sessions(project);

    expect(rows.map(({ prompt }) => prompt)).toEqual(['Find the rounding bug.']);
  });

  it('counts sub-agents that have files of their own with the session that called them', async () => {
    const project = join(folder.path, 'agents');
    mkdirSync(join(project, 'claude-1/subagents'), { recursive: true });
    const text = readFileSync(files['claude-code'], 'utf8');
    writeFileSync(join(project, 'claude-1.jsonl'), text);
    const side = text.replaceAll('"isSidechain":false', '"isSidechain":true,"agentId":"a1"');
    writeFileSync(join(project, 'claude-1/subagents/agent-a1.jsonl'), side);
    const alone = await sessions(files['claude-code']);
    const { rows } = await sessions(project);

    expect(rows).toHaveLength(1);
    expect(rows[0]).toMatchObject({ subagents: 1 });
    expect(rows[0]?.cost.dollars).toBeCloseTo(2 * (alone.rows[0]?.cost.dollars ?? 0), 9);
  });
});

describe('Ctrl-C', () => {
  /** Ends `sessions` after so many milliseconds, as Ctrl-C does. Null where it came before there was anything to end. */
  function interrupted(work: string, env: Readonly<Record<string, string>>, afterMs: number) {
    return new Promise<number | null>((done, fail) => {
      const child = spawn(process.execPath, [mainFile, 'sessions', work], {
        env: { PATH: process.env['PATH'] ?? '', ...env },
        stdio: 'ignore',
        timeout: 50_000,
      });
      const timer = setTimeout(() => child.kill('SIGINT'), afterMs);
      child.on('error', fail);
      child.on('close', (code) => {
        clearTimeout(timer);
        done(code);
      });
    });
  }

  it('ends it with 130, and what was seen until then is kept in an index that the next look can use', async () => {
    const work = join(folder.path, 'much');
    mkdirSync(work, { recursive: true });
    const requests = Array.from({ length: 200 }, (_, index) => ({
      minute: index,
      sends: 'tide '.repeat(2000),
      read: 1000,
      written: 1000,
    }));
    const text = pricedSession(requests);
    for (let index = 0; index < 30; index++)
      writeFileSync(join(work, `${index}.jsonl`), text.replaceAll('priced-1', `priced-${index}`));
    const cache = join(folder.path, 'interrupted');
    const env = { HOME: folder.path, XDG_CACHE_HOME: cache };

    // How fast this machine is decides which of them meets it at work.
    let code: number | null = null;
    for (let afterMs = 100; code !== 130 && afterMs < 10_000; afterMs *= 1.5) {
      rmSync(cache, { recursive: true, force: true });
      code = await interrupted(work, env, afterMs);
      expect([null, 0, 130]).toContain(code);
    }
    expect(code).toBe(130);
    const index = join(cache, 'roundfold/sessions.jsonl');
    const lines = existsSync(index) ? readFileSync(index, 'utf8').trimEnd().split('\n') : [];
    for (const line of lines) expect(() => JSON.parse(line)).not.toThrow();

    const again = await runCli(['sessions', '--json', work], { env });
    expect(again.code).toBe(0);
    expect(again.stdout.match(/"type":"session"/g)).toHaveLength(30);
  }, 120_000);
});
