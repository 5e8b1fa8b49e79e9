import { spawnSync } from 'node:child_process';
import { createServer } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { createLedger } from '../../src/proxy/observe/ledger.ts';
import { createPages } from '../../src/proxy/observe/pages.ts';
import { type ProxyOptions, startProxy } from '../../src/proxy/server.ts';
import { startSimulator } from '../../src/simulator/simulator.ts';
import { memoryStore } from '../../src/stores/memory.ts';
import { runCli } from '../support/cli.ts';

interface Finding {
  readonly severity: string;
  readonly code: string;
  readonly message: string;
  readonly remedy?: string;
  readonly commands: readonly string[];
}

const open: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of open.splice(0).toReversed()) await close();
});

async function start(options: Partial<ProxyOptions> = {}, windowTokens?: number) {
  const simulator = await startSimulator({ windowTokens });
  const ledger = createLedger();
  const store = memoryStore();
  const proxy = await startProxy({
    store,
    upstreams: [{ url: simulator.url }],
    observer: ledger,
    pages: createPages(ledger, { store }),
    ...options,
  });
  open.push(() => simulator.close());
  open.push(() => proxy.close());
  return proxy.url;
}

function ask(
  url: string,
  fields: object = {},
  headers: Readonly<Record<string, string>> = { 'x-api-key': 'sk-none' },
) {
  return fetch(`${url}/v1/messages`, {
    method: 'POST',
    headers: { 'anthropic-version': '2023-06-01', ...headers },
    body: JSON.stringify({
      model: 'claude-sonnet-4-5',
      max_tokens: 100,
      messages: [{ role: 'user', content: 'Hello' }],
      ...fields,
    }),
  });
}

/** Everything that a shell has in which a client finds its proxy and loses nothing. */
function goodShell(url: string): Readonly<Record<string, string>> {
  return {
    ANTHROPIC_BASE_URL: url,
    ENABLE_TOOL_SEARCH: 'true',
    CLAUDE_CODE_ENABLE_GATEWAY_MODEL_DISCOVERY: '1',
  };
}

async function examine(url: string, env: Readonly<Record<string, string>>) {
  const { code, stdout } = await runCli(['doctor', url, '--json'], { env });
  const findings = stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Finding);
  return { code, findings, codes: findings.map(({ severity, code: name }) => `${severity} ${name}`) };
}

describe('roundfold doctor', () => {
  it('finds nothing wrong where nothing is, and tells how far a conversation is from its fold', async () => {
    const url = await start();
    await (await ask(url)).text();
    const { code, codes, findings } = await examine(url, goodShell(url));
    expect([code, codes]).toEqual([0, ['fine ready', 'hint not-due']]);
    expect(findings[1]?.message).toMatch(/has \d+ tokens of the [\d,]+ at which it is folded/);
  });

  it('says that nobody listens, and how to start', async () => {
    const { code, findings } = await examine('http://127.0.0.1:9', goodShell('http://127.0.0.1:9'));
    expect(code).toBe(1);
    expect(findings[0]).toMatchObject({ severity: 'problem', code: 'unreachable' });
    expect(findings[0]?.remedy).toContain('roundfold run');
  });

  it('knows a proxy from other servers', async () => {
    const server = createServer((_request, response) => response.end('<html>ok</html>'));
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    open.push(async () => void server.close());
    const address = server.address();
    const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
    const { code, codes } = await examine(url, goodShell(url));
    expect([code, codes]).toEqual([1, ['problem not-a-proxy']]);
  });

  it('says that no request came, and that the shell leads elsewhere or nowhere', async () => {
    const url = await start();
    const nowhere = await examine(url, {});
    expect(nowhere.codes).toEqual(['hint no-variables', 'problem no-requests']);
    expect(nowhere.findings[0]?.commands).toContain(`export ANTHROPIC_BASE_URL=${url}`);
    const elsewhere = await examine(url, { ...goodShell(url), OPENAI_BASE_URL: 'https://api.openai.com/v1' });
    expect(elsewhere.codes).toEqual(['problem points-elsewhere', 'problem no-requests']);
    expect(elsewhere.findings[0]?.commands).toEqual([`export OPENAI_BASE_URL=${url}/v1`]);
  });

  it('finds no problem in a shell from which nobody uses a proxy that others use', async () => {
    const url = await start();
    await (await ask(url)).text();
    const nowhere = await examine(url, {});
    expect([nowhere.code, nowhere.codes]).toEqual([0, ['fine ready', 'hint no-variables', 'hint not-due']]);
    const elsewhere = await examine(url, { ...goodShell(url), OPENAI_BASE_URL: 'https://api.openai.com/v1' });
    expect([elsewhere.code, elsewhere.codes[1]]).toEqual([0, 'hint points-elsewhere']);
  });

  it('writes every command in a line of its own, which a shell takes as it stands', async () => {
    const url = await start();
    const { stdout } = await runCli(['doctor', url], { env: {} });
    const exported = stdout.split('\n').filter((line) => line.includes('export '));
    const shell = spawnSync('sh', ['-eu'], { input: `${exported.join('\n')}\nenv\n`, env: {} });
    expect(shell.stdout.toString('utf8').split('\n')).toEqual(
      expect.arrayContaining([
        `ANTHROPIC_BASE_URL=${url}`,
        `OPENAI_BASE_URL=${url}/v1`,
        `GOOGLE_GEMINI_BASE_URL=${url}`,
      ]),
    );
    expect(stdout).toContain(`        codex -c 'openai_base_url="${url}/v1"'\n`);
  });

  it.each<{
    title: string;
    options: Partial<ProxyOptions>;
    fields?: object;
    headers?: Readonly<Record<string, string>>;
    found: string;
  }>([
    { title: 'observe mode', options: { mode: 'observe' }, found: 'problem observing' },
    {
      title: 'an unknown model',
      options: {},
      fields: { model: 'own-model' },
      found: 'problem unknown-model',
    },
    {
      title: 'no tenant',
      options: { tenantHeader: 'x-team' },
      found: 'problem no-tenant',
    },
    {
      title: 'a provider that compacts',
      options: {},
      fields: { context_management: { edits: [{ type: 'compact_20260112' }] } },
      headers: { 'x-api-key': 'sk-none', 'anthropic-beta': 'compact-2026-01-12' },
      found: 'problem provider-compacts',
    },
    {
      title: 'a bypass header',
      options: {},
      headers: { 'x-api-key': 'sk-none', 'x-roundfold-bypass': '1' },
      found: 'problem bypassed',
    },
    {
      title: "the client's own compaction, which is as it should be",
      options: {},
      fields: { messages: [{ role: 'user', content: 'CRITICAL: Respond with TEXT ONLY. Summarise.' }] },
      found: 'hint client-compacts',
    },
  ])('tells $title by the requests that passed', async ({ options, fields, headers, found }) => {
    const url = await start(options);
    await (await ask(url, fields, headers)).text();
    const { code, codes, findings } = await examine(url, goodShell(url));
    expect(codes).toContain(found);
    expect(code).toBe(found.startsWith('problem') ? 1 : 0);
    const finding = findings.find(({ code: name }) => found.endsWith(name));
    expect(finding?.remedy === undefined).toBe(found.startsWith('hint'));
  });

  it('tells an upstream that refuses, a network proxy in the way, and what Claude Code loses', async () => {
    const url = await start({}, 10);
    await (await ask(url)).text();
    const { codes } = await examine(url, { ANTHROPIC_BASE_URL: url, HTTP_PROXY: 'http://10.0.0.1:3128' });
    expect(codes).toEqual(
      expect.arrayContaining([
        'problem upstream',
        'hint forward-proxy',
        'hint tool-search',
        'hint window-dropped',
      ]),
    );
    const spared = await examine(url, {
      ...goodShell(url),
      HTTP_PROXY: 'x',
      NO_PROXY: 'localhost, 127.0.0.1',
    });
    expect(spared.codes).not.toContain('hint forward-proxy');
  });

  it('tells which upstream does not answer, and why', async () => {
    const url = await start({ upstreams: [{ url: 'http://127.0.0.1:1' }] });
    await (await ask(url)).text();
    const { findings } = await examine(url, goodShell(url));
    expect(findings.find(({ code }) => code === 'upstream')?.message).toMatch(
      /^1 of 1 request were refused or not answered; the last: http:\/\/127\.0\.0\.1:1: .*ECONNREFUSED/,
    );
  });

  it('asks for the token of a proxy that has one, and sends it', async () => {
    const token = 'a-token-that-is-long-enough-to-be-taken';
    const url = await start({ token });
    expect((await examine(url, goodShell(url))).codes).toEqual(['problem no-token']);
    const { codes } = await examine(url, { ...goodShell(url), ROUNDFOLD_TOKEN: token });
    expect(codes).toEqual(['problem no-requests', 'hint refused-no-token']);
  });

  it('speaks to people without --json, and repeats no secret', async () => {
    const url = await start({ mode: 'observe' });
    await (await ask(url)).text();
    const env = { ...goodShell(url), OPENAI_BASE_URL: 'https://user:hunter2@llm.example/v1' };
    const { code, stdout, stderr } = await runCli(['doctor', `${url}/v1`], { env });
    expect([code, stderr]).toEqual([1, '']);
    expect(stdout).toContain(
      'problem 1 request passed as it came: the proxy only observes\n        Start the proxy with --mode fold',
    );
    expect(stdout).not.toContain('hunter2');
  });

  it('refuses what is no address', async () => {
    const { code, stderr } = await runCli(['doctor', 'over there']);
    expect([code, stderr]).toEqual([2, expect.stringContaining('is no http or https URL')]);
  });
});
