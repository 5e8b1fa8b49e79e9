/**
 * One message with many parallel results, through the keeper: what all of the work costs against JSON.parse of the same
 * body in the same run, whether it grows with the number of results and no faster, and how long nobody else has a turn.
 */
import { createKeeper } from '../src/keeper/keeper.ts';
import { memoryStore } from '../src/stores/memory.ts';
import { collectGarbage, median, printGoals } from './timing.ts';

const RESULT_BYTES = 20_000;
const RESULTS = 1000;
const ROUNDS = 5;
const LINE = 'const value = compute(37); // a line of some file\n';

function bodyOf(results: number): string {
  const ids = Array.from({ length: results }, (_, index) => `toolu_${index}`);
  const output = LINE.repeat(RESULT_BYTES / LINE.length);
  const calls = ids.map((id, index) => ({
    type: 'tool_use',
    id,
    name: 'read',
    input: { file_path: `f${index}` },
  }));
  const answers = ids.map((id) => ({ type: 'tool_result', tool_use_id: id, content: `${id} ${output}` }));
  const later = Array.from({ length: 4 }, (_, index) => ({
    role: index % 2 ? 'user' : 'assistant',
    content: 'on',
  }));
  const messages = [
    { role: 'user', content: 'Read all files.' },
    { role: 'assistant', content: calls },
    { role: 'user', content: answers },
    ...later,
  ];
  return JSON.stringify({ model: 'claude-opus-5', max_tokens: 9, messages });
}

interface Costs {
  readonly parseMs: number;
  readonly totalMs: number;
  /** The longest time in which nobody else had a turn. */
  readonly blockedMs: number;
}

async function measureOnce(text: string): Promise<Costs> {
  collectGarbage();
  const start = performance.now();
  const body: unknown = JSON.parse(text);
  const parseMs = performance.now() - start;
  const keeper = createKeeper({
    store: memoryStore(),
    tenant: 'a',
    windowTokens: 1e9,
    trigger: 10_000,
  });
  const probe = watchTurns();
  const begin = performance.now();
  await keeper.prepare(body);
  await keeper.settle();
  const totalMs = performance.now() - begin;
  const blockedMs = await probe.end();
  const { status } = await keeper.prepare(body);
  if (status !== 'folded') throw new Error(`the request is ${status}`);
  await keeper.close();
  return { parseMs, totalMs, blockedMs };
}

/** Asks for a turn again and again, and notes how long each took to come. */
function watchTurns(): { end(): Promise<number> } {
  let longest = 0;
  let last = performance.now();
  let isOver = false;
  const turn = () => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);
  return {
    async end() {
      isOver = true;
      await new Promise((resolve) => setImmediate(resolve));
      return longest;
    },
  };
}

async function measure(results: number): Promise<Costs> {
  const text = bodyOf(results);
  await measureOnce(text);
  const all: Costs[] = [];
  for (let round = 0; round < ROUNDS; round++) all.push(await measureOnce(text));
  const middle = (key: keyof Costs) => median(all.map((costs) => costs[key]));
  return { parseMs: middle('parseMs'), totalMs: middle('totalMs'), blockedMs: middle('blockedMs') };
}

const few = await measure(RESULTS / 4);
const many = await measure(RESULTS);
for (const [results, { parseMs, totalMs, blockedMs }] of [
  [RESULTS / 4, few],
  [RESULTS, many],
] as const)
  console.log(
    `${results} results: JSON.parse ${parseMs.toFixed(1)} ms, all work ${totalMs.toFixed(1)} ms, longest stretch ${blockedMs.toFixed(1)} ms`,
  );
const isFine = printGoals([
  { name: 'P1 longest stretch ÷ JSON.parse', measured: many.blockedMs / many.parseMs, atMost: 10 },
  { name: 'P2 all work ÷ JSON.parse', measured: many.totalMs / many.parseMs, atMost: 40 },
  { name: 'P3 four times the results', measured: many.totalMs / few.totalMs, atMost: 5.2 },
]);
process.exitCode = isFine ? 0 : 1;
