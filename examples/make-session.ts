/**
 * Writes `session.jsonl`: a made-up session of a coding agent in Claude Code's file format, for `npm start`. The same
 * file every time. Run: node examples/make-session.ts
 */
import { writeFileSync } from 'node:fs';

const MODEL = 'claude-sonnet-4-5-20250929';
const START = Date.UTC(2026, 8, 14, 9, 30);

type Block = Readonly<Record<string, unknown>>;

const records: object[] = [];
let parent: string | null = null;
let seconds = 0;
let prompt = 14_200;

function record(type: 'user' | 'assistant', message: object, extra: object = {}): void {
  const uuid = `00000000-0000-4000-8000-${String(records.length).padStart(12, '0')}`;
  seconds += 7;
  records.push({
    parentUuid: parent,
    isSidechain: false,
    userType: 'external',
    cwd: '/home/mira/harbour',
    sessionId: 'b7f0c1de-5a52-4d1e-9d53-2f6f0a6f7a11',
    version: '2.1.140',
    gitBranch: 'tides',
    type,
    message,
    uuid,
    timestamp: new Date(START + seconds * 1000).toISOString(),
    ...extra,
  });
  parent = uuid;
}

function ask(text: string): void {
  record('user', { role: 'user', content: text });
  prompt += Math.round(text.length / 4);
}

let responses = 0;
let calls = 0;

/** One response: thinking, words and parallel calls on separate lines, as the real files have it; then the results. */
function respond(
  said: string,
  uses: readonly { name: string; input: Block; output: string; isError?: boolean }[],
): void {
  const id = `msg_${String(++responses).padStart(4, '0')}`;
  const made = uses.map((use) => ({ ...use, id: `toolu_${String(++calls).padStart(4, '0')}` }));
  const blocks: Block[] = [
    {
      type: 'thinking',
      thinking: `What is known so far points to the next step: ${said.toLowerCase()}`,
      signature: `c2lnbmF0dXJl${responses}`,
    },
    { type: 'text', text: said },
    ...made.map(({ id: callId, name, input }) => ({ type: 'tool_use', id: callId, name, input })),
  ];
  const output = Math.round(JSON.stringify(blocks).length / 4);
  const usage = {
    input_tokens: 6,
    cache_read_input_tokens: prompt - 406,
    cache_creation_input_tokens: 400,
    output_tokens: output,
  };
  for (const block of blocks) {
    record(
      'assistant',
      { id, type: 'message', role: 'assistant', model: MODEL, content: [block], stop_reason: null, usage },
      { requestId: `req_${id}` },
    );
  }
  for (const { id: callId, output: text, isError } of made) {
    const content = [
      { type: 'tool_result', tool_use_id: callId, content: text, ...(isError ? { is_error: true } : {}) },
    ];
    record('user', { role: 'user', content }, { toolUseResult: { stdout: text } });
    prompt += Math.round(text.length / 2.9);
  }
  prompt += output;
}

/** A source file of the made-up project: a station module with so many functions. */
function sourceFile(name: string, functions: number): string {
  const lines = [
    `// ${name}: part of harbour, which predicts tides from gauge readings.`,
    "import { Reading, type Station } from './station.ts';",
    '',
  ];
  for (let index = 0; index < functions; index++) {
    lines.push(
      `/** Level at gauge ${index + 1}, in centimetres above chart datum. */`,
      `export function level${index + 1}(station: Station, at: Date): number {`,
      `  const readings = station.readings.filter((reading) => reading.gauge === ${index + 1});`,
      "  if (readings.length === 0) throw new RangeError('no reading of ' + station.name);",
      `  const phase = (at.getTime() - readings[0].at.getTime()) / ${44_700 + index * 13}_000;`,
      `  return readings[0].level + station.range * Math.cos(2 * Math.PI * (phase + ${(index * 0.037).toFixed(3)}));`,
      '}',
      '',
    );
  }
  return lines.map((line, index) => `${String(index + 1).padStart(6)}→${line}`).join('\n');
}

function testRun(failed: number, total: number): string {
  const cases = Array.from({ length: total }, (_, index) =>
    index < failed
      ? `✗ tide at gauge ${index + 1} on 2026-03-29\n    expected 312.4, received 297.1 (off by one hour)\n    at test/tides.test.ts:${40 + index * 9}:12`
      : `✓ tide at gauge ${index + 1} on 2026-0${(index % 8) + 1}-11 (${(index % 5) + 2} ms)`,
  );
  return `${cases.join('\n')}\n\n${total - failed} passed, ${failed} failed`;
}

const read = (path: string, functions: number) => ({
  name: 'Read',
  input: { file_path: `/home/mira/harbour/${path}` },
  output: sourceFile(path, functions),
});
const bash = (command: string, output: string, isError = false) => ({
  name: 'Bash',
  input: { command },
  output,
  isError,
});
const edit = (path: string, before: string, after: string) => ({
  name: 'Edit',
  input: { file_path: `/home/mira/harbour/${path}`, old_string: before, new_string: after },
  output: `The file /home/mira/harbour/${path} has been updated.`,
});

ask(
  'The tide tables are one hour off after the clocks change on 29 March. Find out why and mend it. Never touch anything under src/vendor, and keep the public names as they are.',
);
respond('I look at the layout and the tests first.', [
  bash(
    'git ls-files | head -60',
    Array.from(
      { length: 60 },
      (_, index) => `src/${['gauges', 'tables', 'vendor', 'clock'][index % 4]}/module-${index}.ts`,
    ).join('\n'),
  ),
  bash('npm test', testRun(6, 60), true),
]);
respond('Six cases fail, all on the day of the change. I read the clock and the tables.', [
  read('src/clock.ts', 14),
  read('src/tables.ts', 46),
  read('src/gauges.ts', 30),
]);
respond('The phase is computed from local midnight. I check who else does that.', [
  {
    name: 'Grep',
    input: { pattern: 'setHours\\(0', path: 'src' },
    output: Array.from(
      { length: 34 },
      (_, index) => `src/tables.ts:${index * 11 + 3}:  midnight.setHours(0, 0, 0, 0);`,
    ).join('\n'),
  },
]);
for (let round = 0; round < 9; round++) {
  respond(`I change gauge ${round + 1} to count from UTC midnight.`, [
    read('src/tables.ts', 46),
    edit(
      'src/tables.ts',
      `midnight${round}.setHours(0, 0, 0, 0)`,
      `midnight${round}.setUTCHours(0, 0, 0, 0)`,
    ),
  ]);
  respond('I run the tests again.', [bash('npm test', testRun(Math.max(0, 5 - round), 60), round < 5)]);
  if (round === 3) ask('Good so far. Add a test for 25 October as well, the clocks go back then.');
}
respond('Now the test for October.', [
  {
    name: 'Write',
    input: {
      file_path: '/home/mira/harbour/test/october.test.ts',
      content: 'import { level1 } from "../src/tables.ts";\n'.repeat(12),
    },
    output: 'File created.',
  },
  bash('npm test', testRun(0, 72)),
]);
respond(
  'All 72 cases pass. The tables counted from local midnight, which is an hour off on the days of the change; they count from UTC midnight now. src/vendor is untouched and no public name has changed.',
  [],
);
ask('Write the changelog entry, please.');

writeFileSync(
  new URL('session.jsonl', import.meta.url),
  `${records.map((entry) => JSON.stringify(entry)).join('\n')}\n`,
);
