import { asString, type JsonObject } from '../../conversation/json.ts';
import { createNumbers, type NumberSource } from '../../simulator/seeded.ts';

/** A module of the made-up project: a file with one mistake in it, and the invoice that shows it. */
export interface DemoModule {
  readonly path: string;
  readonly testPath: string;
  /** The function that makes the mistake. */
  readonly functionName: string;
  readonly invoice: string;
  readonly expected: string;
  readonly received: string;
  /** The line with the mistake, and the one that mends it. */
  readonly before: string;
  readonly after: string;
}

/** A small shop that writes invoices, each of them a cent off. */
export interface DemoProject {
  readonly modules: readonly DemoModule[];
  readonly files: ReadonlyMap<string, string>;
}

const AREAS = ['pricing', 'tax', 'shipping', 'discounts', 'refunds', 'deposits', 'fees', 'credit'];
const SUBJECTS = ['books', 'food', 'travel', 'tools', 'rentals', 'tickets', 'energy', 'repairs'];

/** The most modules that a project can have. */
export const MOST_MODULES: number = AREAS.length * SUBJECTS.length;

/** The project: the same for the same seed. */
export function makeProject(seed: number, moduleCount: number): DemoProject {
  const numbers = createNumbers(seed);
  const names = shuffled(
    AREAS.flatMap((area) => SUBJECTS.map((subject) => ({ area, subject }))),
    numbers,
  );
  const modules = names.slice(0, moduleCount).map((name) => makeModule(name, numbers));
  const files = modules.flatMap((module): readonly (readonly [string, string])[] => [
    [module.path, sourceOf(module, numbers)],
    [module.testPath, testOf(module)],
  ]);
  return { modules, files: new Map(files) };
}

function makeModule(
  { area, subject }: { readonly area: string; readonly subject: string },
  numbers: NumberSource,
): DemoModule {
  const rate = `0.${String(41 + numbers(900)).padStart(3, '0')}`;
  const cents = 1000 + numbers(90_000);
  return {
    path: `src/${area}/${subject}.ts`,
    testPath: `test/${area}/${subject}.test.ts`,
    functionName: `${subject}${area[0]?.toUpperCase()}${area.slice(1)}`,
    invoice: `INV-${10_000 + numbers(89_999)}`,
    expected: (cents / 100).toFixed(2),
    received: ((cents - 1) / 100).toFixed(2),
    before: `  const share = Number((netCents * ${rate} / 100).toFixed(2));`,
    after: `  const share = Math.round(netCents * ${rate});`,
  };
}

const HELPERS = ['surcharge', 'allowance', 'rebate', 'minimum', 'handling', 'seasonal', 'weekend'];

function sourceOf({ path, functionName, before }: DemoModule, numbers: NumberSource): string {
  const helpers = HELPERS.map((helper) => {
    const from = 2020 + numbers(7);
    const limit = 500 + numbers(9000);
    return [
      `/** The ${helper} of a line, in cents; none below ${limit} cents or before ${from}. */`,
      `function ${helper}Of(line: InvoiceLine, rates: RateTable): number {`,
      `  if (line.netCents < ${limit} || line.date.getUTCFullYear() < ${from}) return 0;`,
      `  const step = rates.find('${helper}', line.country) ?? rates.standard('${helper}');`,
      `  return Math.min(step.cents * line.quantity, ${limit * (2 + numbers(5))});`,
      '}',
      '',
    ].join('\n');
  });
  return [
    `// ${path}: what a line of this kind adds to an invoice.`,
    "import type { InvoiceLine } from '../invoice.ts';",
    "import type { RateTable } from '../rates.ts';",
    '',
    ...helpers,
    `export function ${functionName}(line: InvoiceLine, rates: RateTable): number {`,
    '  const { netCents } = line;',
    before,
    `  return share + ${HELPERS.map((helper) => `${helper}Of(line, rates)`).join(' + ')};`,
    '}',
    '',
  ].join('\n');
}

function testOf({ functionName, invoice, expected }: DemoModule): string {
  return [
    `import { ${functionName} } from '../../src/index.ts';`,
    '',
    `it('adds up ${invoice} to the cent', () => {`,
    `  expect(totalOf(fixture('${invoice}'), ${functionName})).toBe('${expected}');`,
    '});',
    '',
  ].join('\n');
}

function shuffled<Value>(values: readonly Value[], numbers: NumberSource): readonly Value[] {
  return values
    .map((value) => ({ value, at: numbers(1_000_000) }))
    .toSorted((left, right) => left.at - right.at)
    .map(({ value }) => value);
}

/** What a tool answers with. */
interface ToolResult {
  readonly text: string;
  readonly isError?: boolean;
}

/** Tools as the request offers them. */
export const demoTools = [
  toolOf('Read', 'Reads a file with numbered lines.', ['path']),
  toolOf('Grep', 'Finds lines that hold a text.', ['text']),
  toolOf('Edit', 'Replaces a text that occurs once in a file.', ['path', 'before', 'after']),
  toolOf('Bash', 'Runs a command in the root of the project.', ['command']),
] as const;

function toolOf(name: string, description: string, inputs: readonly string[]) {
  const properties = Object.fromEntries(inputs.map((input) => [input, { type: 'string' }]));
  return { name, description, input_schema: { type: 'object', properties, required: inputs } };
}

/** A working copy of the project in memory. Tools read and change it; nothing touches a disk. */
export interface Workspace {
  run(tool: string, input: JsonObject): ToolResult;
  /** Modules whose mistake is gone. */
  changed(): readonly DemoModule[];
}

/** A fresh working copy. */
export function openWorkspace({ modules, files: original }: DemoProject): Workspace {
  const files = new Map(original);
  const isMended = ({ path, before }: DemoModule) => files.get(path)?.includes(before) === false;
  const tools = new Map<string, (text: (name: string) => string) => ToolResult>([
    ['Read', (text) => ({ text: numbered(files.get(text('path')) ?? '') })],
    ['Grep', (text) => ({ text: grep(files, text('text')) })],
    [
      'Edit',
      (text) => {
        const path = text('path');
        const edited = (files.get(path) ?? '').replace(text('before'), () => text('after'));
        files.set(path, edited);
        return { text: `${path} has been changed.` };
      },
    ],
    [
      'Bash',
      (text) => {
        const [, path] = /^npm test -- (\S+)$/.exec(text('command')) ?? [];
        if (text('command') === 'git ls-files') return { text: [...files.keys()].join('\n') };
        return path === undefined
          ? runTests(modules, isMended)
          : runTests(
              modules.filter(({ testPath }) => testPath === path),
              isMended,
              routineCases,
            );
      },
    ],
  ]);
  return {
    changed: () => modules.filter(isMended),
    run: (tool, input) =>
      tools.get(tool)?.((name) => asString(input[name]) ?? '') ?? { text: `no tool ${tool}`, isError: true },
  };
}

function numbered(text: string): string {
  return text
    .split('\n')
    .map((line, index) => `${String(index + 1).padStart(4)} ${line}`)
    .join('\n');
}

const MOST_HITS = 25;

function grep(files: ReadonlyMap<string, string>, wanted: string): string {
  const hits = [...files].flatMap(([path, text]) =>
    text
      .split('\n')
      .flatMap((line, index) => (line.includes(wanted) ? [`${path}:${index + 1}:${line.trim()}`] : [])),
  );
  const rest = hits.length > MOST_HITS ? [`… and ${hits.length - MOST_HITS} more`] : [];
  return [...hits.slice(0, MOST_HITS), ...rest].join('\n');
}

/** @param further what else is said about a module that passes; nothing is said about it without */
function runTests(
  modules: readonly DemoModule[],
  isMended: (module: DemoModule) => boolean,
  further?: (module: DemoModule) => readonly string[],
): ToolResult {
  const lines = modules.flatMap((module) => {
    const { invoice, testPath, expected, received } = module;
    const test = `${testPath} adds up ${invoice} to the cent`;
    if (!isMended(module)) return [`✗ ${test}: expected ${expected}, received ${received}`];
    return further === undefined ? [] : [`✓ ${test}`, ...further(module)];
  });
  const passed = modules.filter(isMended).length;
  const sum = `${passed} passed, ${modules.length - passed} failed`;
  return { text: [...lines, sum].join('\n'), isError: passed < modules.length };
}

const COUNTRIES = ['AT', 'BE', 'CH', 'DE', 'DK', 'ES', 'FI', 'FR', 'IT', 'NL', 'NO', 'PL', 'PT', 'SE'];

function routineCases({ functionName }: DemoModule): readonly string[] {
  return COUNTRIES.map(
    (country, index) =>
      `✓ ${functionName} in ${country}: table of ${12 + index} quantities (${(index % 4) + 1} ms)`,
  );
}
