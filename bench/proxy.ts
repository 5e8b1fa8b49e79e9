/**
 * What the proxy adds to a plain pipe of node:http and undici: time to the first byte, as ratios within one run. Every
 * server has a process of its own. Goals are for the median; the slowest hundredth is shown, and depends on the machine.
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

const agent = new HttpAgent({ keepAlive: true, maxSockets: 200 });

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
      response.on('end', () => resolve(first));
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

/** Ratios of the medians to the pipe's, in turns, so that what else the machine does meets all of them. */
async function compare(urls: ReadonlyMap<string, string>, { name, path, body, streams, requests }: Case) {
  const times = new Map([...urls.keys()].map((key) => [key, [] as number[]]));
  const batch = (url: string) =>
    Promise.all(Array.from({ length: streams }, () => firstByteMs(url, path, body)));
  for (const url of urls.values())
    for (let index = 0; index < requests / 2; index += streams) await batch(url);
  for (let index = 0; index < requests; index += streams)
    for (const [key, url] of urls) times.get(key)?.push(...(await batch(url)));
  const middle = (key: string) => median(times.get(key) ?? []);
  const late = (key: string) =>
    (times.get(key) ?? []).toSorted((a, b) => a - b)[Math.floor(requests * 0.99)] ?? 0;
  const shown = [...urls.keys()].map((key) => `${key} ${middle(key).toFixed(2)} / ${late(key).toFixed(2)}`);
  console.log(`${name}, ${streams} at once: ${shown.join(', ')} ms (median / slowest hundredth)`);
  return (key: string) => middle(key) / middle('pipe');
}

async function run(): Promise<void> {
  const place = mkdtempSync(join(tmpdir(), 'roundfold-bench-'));
  try {
    const upstream = await start('upstream');
    const roles = ['pipe', 'proxy', 'threads'];
    const urls = new Map<string, string>();
    for (const each of roles) urls.set(each, await start(each, upstream, place));
    const medium = conversation(200_000, 'claude-sonnet-4-6');
    const large = conversation(2_000_000, 'small-model');
    const streamed = { name: 'passed unread, 200 kB', path: '/v1/files', body: medium };
    const fits = { name: 'fits its window, 200 kB', path: '/v1/messages', body: medium };
    const passedOne = await compare(urls, { ...streamed, streams: 1, requests: 400 });
    const passedMany = await compare(urls, { ...streamed, streams: 100, requests: 1000 });
    const fitting = await compare(urls, { ...fits, streams: 1, requests: 400 });
    const folded = await compare(urls, {
      name: 'folded, 2 MB',
      path: '/v1/messages',
      body: large,
      streams: 1,
      requests: 200,
    });
    const holds = printGoals([
      { name: 'passed unread, one stream, to the pipe', measured: passedOne('proxy'), atMost: 1.25 },
      { name: 'passed unread, 100 streams, to the pipe', measured: passedMany('proxy'), atMost: 1.25 },
      { name: 'fits its window, to the pipe', measured: fitting('proxy'), atMost: 2 },
      { name: 'folded, to the pipe', measured: folded('proxy'), atMost: 1.6 },
      { name: 'folded in a thread, to the pipe', measured: folded('threads'), atMost: 2 },
    ]);
    process.exitCode = holds ? 0 : 1;
  } finally {
    for (const child of children) child.kill();
    rmSync(place, { recursive: true, force: true });
    agent.destroy();
  }
}

await (role === 'run' ? run() : play());
