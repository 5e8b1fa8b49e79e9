/**
 * Lets clients do as they please with keepers for many steps, and prints the seed, the progress and the counts. A failure
 * prints the smallest case that shows it and exits with 1.
 *
 *     node test/keeper-campaign.ts [--steps 5000000] [--seed N]
 */
import { parseArgs } from 'node:util';
import fc from 'fast-check';
import { noCounts, worldProperty } from './support/keeper-commands.ts';

/** Worlds between two looks at the clock. A failure is searched for within its batch. */
const BATCH = 100;
const PROGRESS_MS = 30_000;
const REUSE = 0.999;

const { values } = parseArgs({
  options: { steps: { type: 'string', default: '5000000' }, seed: { type: 'string', default: '1' } },
});
const steps = Number(values.steps);
const firstSeed = Number(values.seed);
if (!Number.isInteger(steps) || steps < 1 || !Number.isInteger(firstSeed)) {
  console.error('--steps and --seed take whole numbers');
  process.exit(2);
}

const counts = noCounts();
const start = performance.now();
let reported = start;
let isFine = true;
console.log(`${count(steps)} steps from seed ${firstSeed}`);

for (let seed = firstSeed; counts.steps < steps && isFine; seed++) {
  const details = await fc.check(worldProperty(counts), { numRuns: BATCH, seed });
  isFine = !details.failed;
  if (details.failed) {
    console.log(`FAIL in the batch of seed ${seed}`);
    console.log(String(details.errorInstance));
    console.log(fc.defaultReportMessage(details));
  }
  if (performance.now() - reported > PROGRESS_MS) report();
}
report();
const reuse = counts.reused / Math.max(1, counts.noisy);
isFine &&= reuse >= REUSE;
console.log(
  `${isFine ? 'PASS' : 'FAIL'}  ${count(counts.steps)} steps, ${(reuse * 100).toFixed(3)} % reused under noise`,
);
process.exitCode = isFine ? 0 : 1;

function report(): void {
  reported = performance.now();
  const seconds = (reported - start) / 1000;
  console.log(
    `${count(counts.steps)} of ${count(steps)} in ${seconds.toFixed(0)} s, ${(counts.steps / seconds).toFixed(0)} a second: ${JSON.stringify(counts)}`,
  );
}

function count(value: number): string {
  return value.toLocaleString('en');
}
