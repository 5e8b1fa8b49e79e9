import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startProxy } from '../../src/proxy/server.ts';
import { createScript } from '../../src/simulator/scripted.ts';
import { type Simulator, startSimulator } from '../../src/simulator/simulator.ts';
import { openStore } from '../../src/stores/registry.ts';
import { runCli } from '../support/cli.ts';

// A conversation that has grown behind a proxy, and is to go on without it.

const WINDOW = 20_000;
const ROUNDS = 50;
const folder = mkdtempSync(join(tmpdir(), 'roundfold-handoff-'));
const storeFile = join(folder, 'store.sqlite');
const requestFile = join(folder, 'request.json');
const headers = { authorization: 'Bearer sk-none', 'content-type': 'application/json' };
const question = 'Read every log and tell me which lamp failed first.';

let simulator: Simulator;
let conversation = '';

interface Answer {
  readonly choices: readonly {
    readonly message: { readonly tool_calls?: readonly { readonly id: string }[] };
  }[];
}

function ask(url: string, body: unknown): Promise<Response> {
  return fetch(`${url}/v1/chat/completions`, { method: 'POST', headers, body: JSON.stringify(body) });
}

/** What a conversation is made of, and where it is kept. */
interface Growth {
  readonly said: string;
  readonly result: (round: number) => string;
  readonly rounds: number;
  readonly storeFile: string;
  readonly requestFile: string;
}

/** Lets a conversation grow behind a proxy. Gives the provider and the id of the conversation. */
async function grow({ said, result, rounds, ...files }: Growth) {
  const provider = await startSimulator({
    windowTokens: WINDOW,
    script: createScript({
      rounds: 1000,
      steps: [{ text: said, calls: [{ tool: 'read', input: { path: 'log-{round}.txt' } }] }],
    }),
  });
  const store = openStore(files.storeFile);
  const proxy = await startProxy({ store, windowTokens: WINDOW, upstreams: [{ url: provider.url }] });
  const tools = [
    { type: 'function', function: { name: 'read', parameters: { type: 'object', properties: {} } } },
  ];
  const messages: object[] = [{ role: 'user', content: question }];
  const body = { model: 'gpt-4.1', tools, messages };
  for (let round = 1; round <= rounds; round++) {
    const response = await ask(proxy.url, body);
    expect(response.status).toBe(200);
    const { message } = ((await response.json()) as Answer).choices[0] ?? { message: {} };
    messages.push(message);
    for (const { id } of message.tool_calls ?? [])
      messages.push({ role: 'tool', tool_call_id: id, content: result(round) });
    await proxy.settle();
  }
  writeFileSync(files.requestFile, JSON.stringify(body));
  await proxy.close();
  const id = (await store.list())[0]?.conversation ?? '';
  await store.close();
  return { provider, id };
}

beforeAll(async () => {
  const grown = await grow({
    said: 'Log {round}: the lamp was out by night and lit by day. '.repeat(40),
    result: (round) => `lamp ${round} failed. `.repeat(40),
    rounds: ROUNDS,
    ...{ storeFile, requestFile },
  });
  simulator = grown.provider;
  conversation = grown.id;
}, 120_000);

afterAll(async () => {
  await simulator.close();
  rmSync(folder, { recursive: true });
});

function handoff(...args: readonly string[]) {
  return runCli(['handoff', conversation.slice(0, 10), '--store', storeFile, ...args]);
}

describe('roundfold handoff', () => {
  it('writes a request that fits and is accepted, where the whole one is not', async () => {
    const whole = JSON.parse(readFileSync(requestFile, 'utf8')) as { readonly messages: readonly unknown[] };
    expect((await ask(simulator.url, whole)).status).toBe(400);
    const out = join(folder, 'smaller.json');
    const { code, stderr } = await handoff('--from', requestFile, '--out', out);
    expect([code, stderr]).toEqual([0, expect.stringMatching(/^101 messages, about [\d,]+ tokens → /)]);
    const smaller = JSON.parse(readFileSync(out, 'utf8')) as typeof whole;
    expect((await ask(simulator.url, smaller)).status).toBe(200);
    expect(smaller).toMatchObject({ model: 'gpt-4.1', tools: [{ type: 'function' }] });
    // The end is as it was, word for word.
    expect(smaller.messages.slice(-3)).toEqual(whole.messages.slice(-3));
    expect(JSON.stringify(smaller.messages)).toContain(question);
    expect(statSync(out).mode & 0o777).toBe(0o600);
    expect((await handoff('--from', requestFile, '--out', out)).code).toBe(2);
  });

  it('writes the memory alone from the store, as a message and as text', async () => {
    const asMessages = await handoff();
    const [message, ...others] = JSON.parse(asMessages.stdout) as readonly Record<string, unknown>[];
    expect([asMessages.code, others, message?.['role']]).toEqual([0, [], 'user']);
    expect(asMessages.stderr).toMatch(
      /the memory of the first \d+ messages; what came after is with the client/,
    );
    const asText = await handoff('--text');
    expect(asText.code).toBe(0);
    expect(asText.stdout).toContain('log-1.txt');
    const body = { model: 'gpt-4.1', messages: [message, { role: 'user', content: 'Go on.' }] };
    expect((await ask(simulator.url, body)).status).toBe(200);
  });

  it('says that no memory is true of another conversation', async () => {
    const other = join(folder, 'other.json');
    writeFileSync(other, JSON.stringify({ model: 'gpt-4.1', messages: [{ role: 'user', content: 'Hi' }] }));
    const { code, stdout, stderr } = await handoff('--from', other);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain('no memory of this conversation is true of what the file holds');
  });

  it('has no memory of a conversation whose results were only shortened, and hands it over whole', async () => {
    const files = { storeFile: join(folder, 'short.sqlite'), requestFile: join(folder, 'short.json') };
    const result = (round: number) => `lamp ${round} failed. `.repeat(400);
    const { provider, id } = await grow({ said: 'Next.', result, rounds: 14, ...files });
    const handed = (...args: readonly string[]) =>
      runCli(['handoff', id, '--store', files.storeFile, ...args]);
    for (const args of [[], ['--text']]) {
      const { code, stdout, stderr } = await handed(...args);
      expect([code, stdout]).toEqual([1, '']);
      expect(stderr).toContain('no memory of this conversation: only results were shortened');
      expect(stderr).toContain('--from');
    }
    const { code, stdout } = await handed('--from', files.requestFile);
    expect(code).toBe(0);
    expect((await ask(provider.url, JSON.parse(stdout))).status).toBe(200);
    await provider.close();
  });

  it.each([
    { args: ['nothing-like-it', '--store', storeFile], code: 1, words: 'no stored conversation has an id' },
    { args: ['', '--store', storeFile], code: 2, words: 'the id of the conversation is empty' },
    { args: ['abc', '--store', join(folder, 'none.sqlite')], code: 1, words: 'no stored conversation' },
    { args: ['abc', '--store', storeFile, '--out', folder], code: 2, words: folder },
  ])('ends with $code for $words', async ({ args, code, words }) => {
    const result = await runCli(['handoff', ...args]);
    expect([result.code, result.stdout]).toEqual([code, '']);
    expect(result.stderr).toContain(words);
  });
});
