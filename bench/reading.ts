/**
 * What reading value by value costs: time against `JSON.parse` on text that is in memory already, and memory while a file
 * larger than it streams by. Run with `node bench/reading.ts [megabytes]`; the default is 500.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readJsonValues } from '../src/transcripts/input/json-values.ts';
import { type ByteSource, fileSource } from '../src/transcripts/input/source.ts';

const rounds = 5;
const chunkBytes = 256 * 1024;

const prose = 'The quick brown fox "jumps" over the lazy dog.\n\tAnd then it reads the file again. ';

function record(index: number, textCharacters: number): unknown {
  return {
    type: index % 2 === 0 ? 'user' : 'assistant',
    id: `message-${index}`,
    parent: index === 0 ? null : `message-${index - 1}`,
    usage: { input: index * 17, output: index % 4096, cost: index / 7 },
    content: [
      { type: 'text', text: prose.repeat(Math.ceil(textCharacters / prose.length)).slice(0, textCharacters) },
    ],
  };
}

const shapes = [
  { name: 'small values (200 B of text)', textCharacters: 200, count: 80_000 },
  { name: 'transcript lines (3 kB of text)', textCharacters: 3_000, count: 10_000 },
  { name: 'large values (1 MB of text)', textCharacters: 1_000_000, count: 32 },
];

function inMemory(bytes: Uint8Array): ByteSource {
  return {
    name: 'memory',
    sizeBytes: bytes.length,
    async *open() {
      for (let start = 0; start < bytes.length; start += chunkBytes)
        yield bytes.subarray(start, start + chunkBytes);
    },
  };
}

async function bestOf(work: () => unknown): Promise<number> {
  let best = Infinity;
  for (let round = 0; round < rounds; round += 1) {
    const start = performance.now();
    await work();
    best = Math.min(best, performance.now() - start);
  }
  return best;
}

async function drain(source: ByteSource): Promise<number> {
  let count = 0;
  for await (const _entry of readJsonValues(source)) count += 1;
  return count;
}

async function compareTime(): Promise<void> {
  for (const { name, textCharacters, count } of shapes) {
    const lines = Array.from({ length: count }, (_, index) => JSON.stringify(record(index, textCharacters)));
    const buffers = lines.map((line) => Buffer.from(line));
    const bytes = Buffer.from(`${lines.join('\n')}\n`);
    const parsing = await bestOf(() => {
      for (const line of lines) JSON.parse(line);
    });
    const decoding = await bestOf(() => {
      for (const line of buffers) JSON.parse(line.toString());
    });
    const reading = await bestOf(() => drain(inMemory(bytes)));
    const rate = bytes.length / 1e3 / reading;
    console.log(
      `${name}: reading ${reading.toFixed(0)} ms (${rate.toFixed(0)} MB/s), JSON.parse alone ${parsing.toFixed(0)} ms, ` +
        `ratio ${(reading / parsing).toFixed(2)}; with decoding ${decoding.toFixed(0)} ms, ratio ${(reading / decoding).toFixed(2)}`,
    );
  }
}

async function writeLines(path: string, sizeBytes: number): Promise<void> {
  const file = createWriteStream(path);
  for (let written = 0, index = 0; written < sizeBytes; ) {
    const lines: string[] = [];
    for (let line = 0; line < 1000; line += 1, index += 1) lines.push(JSON.stringify(record(index, 200)));
    const block = `${lines.join('\n')}\n`;
    written += Buffer.byteLength(block);
    if (!file.write(block)) await once(file, 'drain');
  }
  file.end();
  await once(file, 'finish');
}

async function measureMemory(path: string): Promise<void> {
  const source = await fileSource(path);
  const before = process.memoryUsage.rss();
  let peak = before;
  let count = 0;
  const start = performance.now();
  const onProgress = () => {
    peak = Math.max(peak, process.memoryUsage.rss());
  };
  for await (const _entry of readJsonValues(source, { onProgress })) count += 1;
  const seconds = (performance.now() - start) / 1000;
  console.log(
    `streaming ${((source.sizeBytes ?? 0) / 1e6).toFixed(0)} MB from disk: ${count} values in ${seconds.toFixed(1)} s, ` +
      `peak memory ${((peak - before) / 1e6).toFixed(0)} MB above the ${(before / 1e6).toFixed(0)} MB at the start`,
  );
}

/** Reads in a process of its own, so that what writing the file has taken does not hide what reading it takes. */
async function compareMemory(megabytes: number): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'roundfold-reading-'));
  try {
    const path = join(directory, 'lines.jsonl');
    await writeLines(path, megabytes * 1e6);
    const child = spawn(process.execPath, [fileURLToPath(import.meta.url), '--stream', path], {
      stdio: 'inherit',
    });
    await once(child, 'exit');
  } finally {
    await rm(directory, { recursive: true });
  }
}

const [first = '500', path] = process.argv.slice(2);
if (first === '--stream' && path !== undefined) {
  await measureMemory(path);
} else {
  await compareMemory(Number(first));
  await compareTime();
}
