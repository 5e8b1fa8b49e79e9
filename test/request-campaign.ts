/**
 * Puts many generated requests of every format, broken ones included, through compaction, and prints the seed, the
 * progress, how often each property failed and the smallest case that shows it. Ends with 1 when one failed.
 *
 *     npm run test:requests -- [--bodies 1000000] [--seed N] [--formats a,b] [--strategies a,b] [--properties a,b]
 */
import { parseArgs } from 'node:util';
import { strategyNames } from './support/compaction-under-test.ts';
import { bodyFormats } from './support/random-bodies.ts';
import type { PropertyName } from './support/request-judge.ts';
import { propertyNames, type RequestTotals, runRequests } from './support/request-pool.ts';

const PROGRESS_MS = 10_000;

const { values } = parseArgs({
  options: {
    bodies: { type: 'string', default: '1000000' },
    seed: { type: 'string', default: '1' },
    formats: { type: 'string' },
    strategies: { type: 'string' },
    properties: { type: 'string' },
  },
});
const bodies = readNumber('bodies', values.bodies);
const seed = readNumber('seed', values.seed);
const strategies = values.strategies === undefined ? undefined : chosen('strategies', strategyNames);
const filter = { formats: chosen('formats', bodyFormats), strategies };
const start = performance.now();
let reported = start;

console.log(`${count(bodies)} bodies from seed ${seed}`);
const totals = await runRequests({
  bodies,
  seed,
  filter,
  properties: chosen<PropertyName>('properties', propertyNames),
  onProgress: (sofar) => {
    if (performance.now() - reported > PROGRESS_MS) report(sofar);
  },
});
report(totals);
for (const { counterexample } of totals.failures.values()) console.log(`\n${counterexample}`);
console.log();
for (const property of propertyNames) {
  const failed = [...totals.failures.values()].filter((failure) => failure.property === property);
  const places = failed.map(({ format, count: times }) => `${format} ${count(times)}`).join(', ');
  console.log(`${failed.length === 0 ? 'holds ' : 'FAILS '} ${property.padEnd(20)} ${places}`);
}
const isFine = totals.failures.size === 0;
console.log(
  `${isFine ? 'PASS' : 'FAIL'}  ${count(totals.bodies)} bodies, ${count(totals.broken)} of them broken`,
);
process.exitCode = isFine ? 0 : 1;

function report({ bodies: done, failures }: RequestTotals): void {
  reported = performance.now();
  const seconds = (reported - start) / 1000;
  const failed = [...failures.values()].reduce((sum, failure) => sum + failure.count, 0);
  console.log(
    `${count(done)} of ${count(bodies)} in ${seconds.toFixed(0)} s, ${(done / seconds).toFixed(0)} a second, ${count(failed)} failures`,
  );
}

function chosen<Name extends string>(
  option: 'formats' | 'strategies' | 'properties',
  known: readonly Name[],
): readonly Name[] {
  const words = values[option]?.split(',');
  const unknown = words?.filter((word) => !known.some((name) => name === word)) ?? [];
  if (unknown.length > 0) stop(`--${option} takes: ${known.join(', ')}`);
  return known.filter((name) => words?.includes(name) ?? true);
}

function readNumber(option: string, text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 1) stop(`--${option} takes a whole number from 1 on`);
  return value;
}

function stop(message: string): never {
  console.error(message);
  process.exit(2);
}

function count(value: number): string {
  return value.toLocaleString('en');
}
