/**
 * What a memory costs, against JSON.parse of the same history in the same run, how it grows with the history, and for how long
 * nobody else can run.
 */

import { findFormat } from '../src/formats/registry.ts';
import { remember } from '../src/memory/remember.ts';
import type { SummaryRequest } from '../src/memory/summary-request.ts';
import { createTokenEstimator } from '../src/tokens/estimator.ts';
import { collectGarbage, median, printGoals, timeMs } from './timing.ts';

const MILLION = 1_000_000;
/** Of the history, which is what a window of 200,000 tokens leaves for it. */
const MEMORY_SHARE = 0.1;
const GROWN_MILLIONS = [2, 5, 10];

const WORDS =
  'account batch cache digest entry filter group header index journal key ledger message node offset packet query range session table update value window worker zone archive buffer cursor driver event frame'.split(
    ' ',
  );
const SHARED_LINES = [
  '}',
  '  }',
  '    }',
  '  });',
  '',
  '  return result;',
  '    continue;',
  '  } else {',
  '      break;',
  '  try {',
];
const SENTENCES = [
  'Let me look at how this is called before I change it.',
  'The test still fails, so the offset must be counted elsewhere.',
  'Now the same for the other callers.',
  'That matches what the journal expects.',
];

/** The same sessions in every run. */
class Dice {
  private state: number;

  constructor(seed: number) {
    this.state = seed;
  }

  below(limit: number): number {
    this.state = (Math.imul(this.state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((this.state / 2 ** 32) * limit);
  }

  pick(list: readonly string[]): string {
    return list[this.below(list.length)] ?? '';
  }
}

function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

/** The lines of a source file: some of its own, some that most files have. */
function fileLines(dice: Dice, names: readonly string[]): readonly string[] {
  return Array.from({ length: 40 + dice.below(160) }, () => {
    const name = dice.pick(names);
    const other = dice.pick(names);
    const word = dice.pick(WORDS);
    switch (dice.below(8)) {
      case 0:
        return `export function ${name}(${word}: ${capital(other)}, limit = ${dice.below(64)}): number {`;
      case 1:
        return `  const ${word} = await this.${name}.read(${other}, { deep: true });`;
      case 2:
        return `  if (${word}.length > ${name} && !${other}.isDone) {`;
      case 3:
        return `    ${name}.set(${word}, ${other}(${word}) ?? ${dice.below(9)});`;
      case 4:
        return `  // The ${word} of a ${dice.pick(WORDS)} is kept until the ${dice.pick(WORDS)} has been written.`;
      default:
        return dice.pick(SHARED_LINES);
    }
  });
}

interface File {
  readonly path: string;
  readonly names: readonly string[];
  readonly lines: readonly string[];
}

function newFile(dice: Dice, number: number): File {
  const names = Array.from(
    { length: 24 },
    () => `${dice.pick(WORDS)}${capital(dice.pick(WORDS))}${capital(dice.pick(WORDS))}`,
  );
  const path = `/home/dev/app/src/${dice.pick(WORDS)}/${dice.pick(WORDS)}-${number}.ts`;
  return { path, names, lines: fileLines(dice, names) };
}

/** A call, and what it gives. */
interface Step {
  readonly name: string;
  readonly input: unknown;
  readonly output: string;
}

function readStep({ path, lines }: File): Step {
  const output = lines.map((line, number) => `${String(number + 1).padStart(6)}\t${line}`).join('\n');
  return { name: 'Read', input: { file_path: path }, output };
}

function editStep(dice: Dice, { path, names, lines }: File): Step {
  const start = dice.below(lines.length);
  const removed = lines.slice(start, start + 4);
  const written = removed.map((line) => line.replace(/\w+$/, dice.pick(names)));
  const input = {
    file_path: path,
    old_string: removed.join('\n'),
    new_string: [...written, `  ${dice.pick(names)}();`].join('\n'),
  };
  return { name: 'Edit', input, output: `The file ${path} has been updated.` };
}

function testStep(dice: Dice, { path, names }: File): Step {
  const output = Array.from({ length: 20 + dice.below(60) }, () => {
    const name = dice.pick(names);
    return dice.below(5) === 0
      ? `    at ${name} (${path}:${dice.below(200)}:${dice.below(40)})`
      : ` ✓ ${name} keeps its ${dice.pick(WORDS)} (${dice.below(900)} ms)`;
  });
  return { name: 'Bash', input: { command: `npm test -- ${path}` }, output: output.join('\n') };
}

function searchStep(dice: Dice, files: readonly File[], { names }: File): Step {
  const pattern = dice.pick(names);
  const output = Array.from({ length: 10 + dice.below(30) }, () => {
    const { path, lines } = files[dice.below(files.length)]!;
    const number = dice.below(lines.length);
    return `${path}:${number}:${lines[number]}`;
  });
  return { name: 'Grep', input: { pattern, path: '/home/dev/app/src' }, output: output.join('\n') };
}

/** An agent session of about so many tokens that reads, edits, tests and searches the files of a growing project. */
function sessionText(tokens: number): string {
  const dice = new Dice(7);
  const files: File[] = [];
  const messages: unknown[] = [
    { role: 'user', content: 'Make the importer faster. Never change the public names.' },
  ];
  // About 3.4 characters of such code are a token.
  for (let left = tokens * 3.4, round = 0; left > 0; round++) {
    if (round % 4 === 0) files.push(newFile(dice, files.length));
    const file = files[Math.max(0, files.length - 1 - dice.below(12))]!;
    const kind = round % 4 === 0 ? 0 : dice.below(4);
    const step = [
      () => readStep(file),
      () => editStep(dice, file),
      () => testStep(dice, file),
      () => searchStep(dice, files, file),
    ][kind]!();
    const id = `toolu_${round}`;
    const { name, input, output } = step;
    const said = `${dice.pick(SENTENCES)} It is about ${dice.pick(file.names)}.`;
    const content = [
      { type: 'text', text: said },
      { type: 'tool_use', id, name, input },
    ];
    messages.push(
      { role: 'assistant', content },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: output }] },
    );
    left -= said.length + JSON.stringify(input).length + output.length;
  }
  return JSON.stringify({ model: 'model', max_tokens: 1000, messages });
}

interface Costs {
  readonly tokens: number;
  readonly parseMs: number;
  readonly memoryMs: number;
  /** The longest time in which nobody else could run. */
  readonly blockedMs: number;
}

type Request = SummaryRequest & { readonly historyTokens: number };

/** What the memory is asked for. The history is counted before, as it is when it has to be compacted. */
function requestFor(body: unknown): Request {
  const estimator = createTokenEstimator();
  const conversation = findFormat('anthropic-messages')!.read(body);
  const historyTokens = estimator.countMessages(conversation.messages);
  return {
    messages: conversation.messages,
    conversation,
    previousSummary: undefined,
    instructions: undefined,
    maximumTokens: Math.floor(historyTokens * MEMORY_SHARE),
    estimator,
    signal: undefined,
    historyTokens,
  };
}

/** How long a memory takes, and its longest stretch between two pauses. */
async function timeMemory(request: Request): Promise<{ readonly whole: number; readonly longest: number }> {
  const start = performance.now();
  let last = start;
  let longest = 0;
  const pause = async () => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
  };
  await remember({ ...request, pause });
  await pause();
  return { whole: performance.now() - start, longest };
}

async function measure(millions: number, rounds: number): Promise<Costs> {
  const text = sessionText(millions * MILLION);
  const parse: number[] = [];
  const whole: number[] = [];
  const blocked: number[] = [];
  // One conversation is always alive, as it is while an agent works.
  let request = requestFor(JSON.parse(text));
  for (let round = 0; round < rounds; round++) {
    let body: unknown;
    collectGarbage();
    parse.push(
      timeMs(() => {
        body = JSON.parse(text);
      }),
    );
    request = requestFor(body);
    collectGarbage();
    const time = await timeMemory(request);
    whole.push(time.whole);
    blocked.push(time.longest);
  }
  const { historyTokens: tokens } = request;
  return { tokens, parseMs: median(parse), memoryMs: median(whole), blockedMs: median(blocked) };
}

function print({ tokens, parseMs, memoryMs, blockedMs }: Costs): void {
  const [parse, whole, blocked] = [parseMs, memoryMs, blockedMs].map((time) => time.toFixed(1));
  console.log(
    `${Math.round(tokens / 1000)}k tokens: JSON.parse ${parse} ms, memory ${whole} ms, ${blocked} ms of it at a stretch`,
  );
}

// A process that has never written one: the first memory of an agent's life.
const cold = await timeMemory(requestFor(JSON.parse(sessionText(0.2 * MILLION))));
console.log(
  `200k tokens, the first one: ${cold.whole.toFixed(1)} ms, ${cold.longest.toFixed(1)} ms of it at a stretch`,
);
await measure(1, 8);
print(await measure(0.2, 10));
const small = await measure(1, 10);
print(small);
const perToken = ({ tokens, memoryMs }: Costs) => (memoryMs / tokens) * MILLION;
const goals = [
  { name: 'D1 memory of 1M tokens ÷ JSON.parse', measured: small.memoryMs / small.parseMs, atMost: 10 },
];
for (const millions of GROWN_MILLIONS) {
  const grown = await measure(millions, 3);
  print(grown);
  goals.push({
    name: `D2 time per token at ${millions}M tokens ÷ at 1M`,
    measured: perToken(grown) / perToken(small),
    atMost: 1.5,
  });
}
process.exitCode = printGoals(goals) ? 0 : 1;
