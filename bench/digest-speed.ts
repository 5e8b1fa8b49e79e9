/** What a digest costs, against JSON.parse of the same history in the same run, and how it grows with the history. */
import type { SummaryRequest } from '../src/core/summarizer.ts';
import { createTokenEstimator } from '../src/core/token-estimator.ts';
import { findFormat } from '../src/formats/registry.ts';
import { composeDigest } from '../src/summarizers/digest/compose.ts';
import { fittedModels } from '../src/summarizers/digest/models.ts';
import { collectGarbage, median, printGoals, timeMs } from './timing.ts';

const MILLION = 1_000_000;
/** Of the history, which is what a window of 200,000 tokens leaves for it. */
const DIGEST_SHARE = 0.1;
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
  readonly digestMs: number;
}

/** What the digest is asked for. The history is counted before, as it is when it has to be compacted. */
function requestFor(body: unknown): SummaryRequest & { readonly historyTokens: number } {
  const estimator = createTokenEstimator();
  const conversation = findFormat('anthropic-messages')!.read(body);
  const historyTokens = estimator.countMessages(conversation.messages);
  return {
    messages: conversation.messages,
    conversation,
    previousSummary: undefined,
    instructions: undefined,
    maximumTokens: Math.floor(historyTokens * DIGEST_SHARE),
    estimator,
    signal: undefined,
    historyTokens,
  };
}

function measure(millions: number, rounds: number): Costs {
  const text = sessionText(millions * MILLION);
  const models = fittedModels();
  const parse: number[] = [];
  const digest: number[] = [];
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
    digest.push(timeMs(() => composeDigest(request, models)));
  }
  return { tokens: request.historyTokens, parseMs: median(parse), digestMs: median(digest) };
}

// The warm state counts; JSON.parse is compiled from the beginning.
measure(1, 20);
const small = measure(1, 25);
const perToken = ({ tokens, digestMs }: Costs) => (digestMs / tokens) * MILLION;
const goals = [
  { name: 'D1 digest of 1M tokens ÷ JSON.parse', measured: small.digestMs / small.parseMs, atMost: 10 },
];
console.log(
  `${Math.round(small.tokens / 1000)}k tokens: JSON.parse ${small.parseMs.toFixed(1)} ms, digest ${small.digestMs.toFixed(1)} ms`,
);
for (const millions of GROWN_MILLIONS) {
  const grown = measure(millions, 3);
  console.log(
    `${Math.round(grown.tokens / 1000)}k tokens: JSON.parse ${grown.parseMs.toFixed(1)} ms, digest ${grown.digestMs.toFixed(1)} ms`,
  );
  goals.push({
    name: `D2 time per token at ${millions}M tokens ÷ at 1M`,
    measured: perToken(grown) / perToken(small),
    atMost: 1.5,
  });
}
process.exitCode = printGoals(goals) ? 0 : 1;
