/**
 * What the proxy adds to a plain pipe of node:http and undici: time to the first byte, as ratios within one run. Every
 * server has a process of its own. The slowest hundredth is a goal where somebody else's work could hold a request up; for the
 * rest it is shown, because on a small machine it is the garbage collectors' of all processes.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, Agent as HttpAgent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent } from 'undici';
import { startProxy } from '../src/proxy/server.ts';
import { sqliteStore } from '../src/stores/sqlite.ts';
import { median, printGoals } from './timing.ts';

const [role = 'run', upstreamUrl = '', folder = ''] = process.argv.slice(2);

const EVENTS = Array.from(
  { length: 20 },
  (_, index) =>
    `event: content_block_delta\ndata: {"type":"content_block_delta","delta":{"text":"word ${index}"}}\n\n`,
);

/** Reads a request and answers with twenty events. */
function serveEvents() {
  return createServer((incoming, response) => {
    incoming.resume();
    incoming.on('end', () => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const event of EVENTS) response.write(event);
      response.end();
    });
  });
}

/** The least that a proxy does. */
function servePipe() {
  const agent = new Agent();
  return createServer((incoming, response) => {
    const { url = '/', rawHeaders } = incoming;
    const headers = rawHeaders.filter(
      (_, index) => !/^(?:host|connection)$/i.test(rawHeaders[index - (index % 2)] ?? ''),
    );
    agent
      .stream(
        { origin: upstreamUrl, path: url, method: 'POST', headers, body: incoming },
        ({ statusCode, headers: answered }) => response.writeHead(statusCode, answered),
      )
      .catch(() => response.destroy());
  });
}

async function play(): Promise<void> {
  if (role === 'proxy' || role === 'threads') {
    const path = join(folder, `${role}.sqlite`);
    const proxy = await startProxy({
      store: sqliteStore({ path }),
      upstreams: [{ url: upstreamUrl }],
      windows: { 'small-*': 400_000 },
      ...(role === 'threads' ? { threads: { address: path } } : {}),
    });
    process.send?.(proxy.url);
    return;
  }
  const server = role === 'pipe' ? servePipe() : serveEvents();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address !== null && typeof address !== 'string') process.send?.(`http://127.0.0.1:${address.port}`);
}

const children: ChildProcess[] = [];

async function start(...args: readonly string[]): Promise<string> {
  const child = fork(import.meta.filename, [...args]);
  children.push(child);
  const [url] = (await once(child, 'message')) as [string];
  return url;
}

const agent = new HttpAgent({ keepAlive: true, maxSockets: 1000 });

/** Milliseconds until the first byte of an answer has come. */
function firstByteMs(url: string, path: string, body: Buffer): Promise<number> {
  return new Promise((resolve, reject) => {
    const begin = performance.now();
    let first = 0;
    const headers = { 'x-api-key': 'k', 'content-type': 'application/json', 'content-length': body.length };
    const sent = request(`${url}${path}`, { method: 'POST', agent, headers }, (response) => {
      response.on('data', () => {
        first ||= performance.now() - begin;
      });
      response.on('end', () =>
        response.statusCode === 200 ? resolve(first) : reject(new Error(`status ${response.statusCode}`)),
      );
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

const WORDS =
  'the quick brown fox jumps over lazy dogs const value = compute(index); /src/main.ts line 42'.split(' ');

function textOf(length: number, seed: number): string {
  let text = '';
  for (let index = seed; text.length < length; index++)
    text += `${WORDS[(index * 7 + seed * 13 + (index % 17)) % WORDS.length]}${index % 11 === 0 ? '\n' : ' '}`;
  return text;
}

/** A conversation of about so many bytes. */
function conversation(bytes: number, model: string): Buffer {
  const rounds = Math.max(1, Math.round(bytes / 7500));
  const messages = Array.from({ length: rounds }, (_, index) => [
    {
      role: 'assistant',
      content: [
        { type: 'text', text: textOf(300, index) },
        { type: 'tool_use', id: `t${index}`, name: 'read', input: { path: `file-${index}.ts` } },
      ],
    },
    {
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: `t${index}`, content: textOf(7000, index) }],
    },
  ]).flat();
  const all = [{ role: 'user', content: `Start ${model}.` }, ...messages];
  return Buffer.from(JSON.stringify({ model, max_tokens: 1000, stream: true, messages: all }));
}

interface Case {
  readonly name: string;
  readonly path: string;
  readonly body: Buffer;
  readonly streams: number;
  readonly requests: number;
}

/** Times in milliseconds, sorted. */
type Times = readonly number[];

const late = (times: Times): number => times[Math.floor(times.length * 0.99)] ?? 0;

/** Median of a server's times to that of the pipe's. They take turns, so that what else the machine does meets both. */
async function compare(pipe: string, server: Server, { name, path, body, streams, requests }: Case) {
  const batch = (url: string) =>
    Promise.all(Array.from({ length: streams }, () => firstByteMs(url, path, body)));
  const piped: number[] = [];
  const served: number[] = [];
  for (let index = 0; index < requests * 1.5; index += streams) {
    const times = [await batch(pipe), await batch(server.url)] as const;
    // The first ones warm up.
    if (index < requests / 2) continue;
    piped.push(...times[0]);
    served.push(...times[1]);
  }
  const shown = [piped, served].map((times) => {
    const sorted = times.toSorted((left, right) => left - right);
    return `${median(sorted).toFixed(2)} / ${late(sorted).toFixed(2)}`;
  });
  const what = `${name}, ${streams} at once`;
  console.log(`${what}: pipe ${shown[0]}, ${server.name} ${shown[1]} ms (median / slowest hundredth)`);
  return median(served) / median(piped);
}

interface Server {
  readonly name: string;
  readonly url: string;
}

/** The slowest hundredth of small requests while conversations of a million tokens are compacted, to that of a quiet time. */
async function whileCompacting({ name, url }: Server): Promise<number> {
  const small = conversation(20_000, 'claude-sonnet-4-6');
  const quiet: number[] = [];
  const busy: number[] = [];
  for (let index = 0; index < 600; index++) {
    const ms = await firstByteMs(url, '/v1/messages', small);
    if (index >= 200) quiet.push(ms);
  }
  for (let index = 0; index < COMPACTIONS; index++) {
    let isOver = false;
    const large = firstByteMs(url, '/v1/messages', conversation(4_500_000, `small-${index}`)).then(() => {
      isOver = true;
    });
    while (!isOver) busy.push(await firstByteMs(url, '/v1/messages', small));
    await large;
  }
  const [before, meanwhile] = [quiet, busy].map((times) => late(times.toSorted((a, b) => a - b)));
  const count = `${busy.length} requests during ${COMPACTIONS} compactions`;
  console.log(
    `${name}: ${count}, slowest hundredth ${before?.toFixed(2)} ms, then ${meanwhile?.toFixed(2)} ms`,
  );
  return (meanwhile ?? 0) / (before ?? 0);
}

const COMPACTIONS = 5;

async function run(): Promise<void> {
  const place = mkdtempSync(join(tmpdir(), 'roundfold-bench-'));
  try {
    const upstream = await start('upstream');
    const pipe = await start('pipe', upstream);
    const server = async (name: string) => ({ name, url: await start(name, upstream, place) });
    const proxy = await server('proxy');
    const threads = await server('threads');
    const medium = conversation(200_000, 'claude-sonnet-4-6');
    const large = conversation(2_000_000, 'small-model');
    const streamed = { name: 'passed unread, 200 kB', path: '/v1/files', body: medium };
    const fits = { name: 'fits its window, 200 kB', path: '/v1/messages', body: medium };
    const folded = { name: 'folded, 2 MB', path: '/v1/messages', body: large, streams: 1, requests: 200 };
    const many = {
      ...{ name: 'fits its window, 20 kB', path: '/v1/messages', streams: 1000, requests: 3000 },
      body: conversation(20_000, 'claude-sonnet-4-6'),
    };
    const passedOne = await compare(pipe, proxy, { ...streamed, streams: 1, requests: 1000 });
    const passedMany = await compare(pipe, proxy, { ...streamed, streams: 100, requests: 3000 });
    const fitting = await compare(pipe, proxy, { ...fits, streams: 1, requests: 1000 });
    const foldedHere = await compare(pipe, proxy, folded);
    const foldedThere = await compare(pipe, threads, folded);
    const thousand = await compare(pipe, proxy, many);
    const disturbed = await whileCompacting(threads);
    const holds = printGoals([
      { name: 'passed unread, one stream, to the pipe', measured: passedOne, atMost: 1.25 },
      { name: 'passed unread, 100 streams, to the pipe', measured: passedMany, atMost: 1.25 },
      { name: 'fits its window, to the pipe', measured: fitting, atMost: 2 },
      { name: 'folded, to the pipe', measured: foldedHere, atMost: 1.6 },
      { name: 'folded in a thread, to the pipe', measured: foldedThere, atMost: 2 },
      { name: '1,000 streams, to the pipe', measured: thousand, atMost: 3 },
      { name: 'others while a million tokens are compacted, to quiet', measured: disturbed, atMost: 2 },
    ]);
    process.exitCode = holds ? 0 : 1;
  } finally {
    for (const child of children) child.kill();
    rmSync(place, { recursive: true, force: true });
    agent.destroy();
  }
}

await (role === 'run' ? run() : play());
