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

/** So many modules have a name of their own. */
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
