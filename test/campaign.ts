/**
 * Puts many generated conversations, broken ones included, through every strategy, and prints the seed, the progress
 * and the count. A failure prints the smallest case that shows it and exits with 1.
 *
 *     npm run test:campaign -- [--runs 1000000] [--seed N]
 */
import { parseArgs } from 'node:util';
import fc from 'fast-check';
import { casesOf, checkCase, compactions } from './support/conversations-cases.ts';

/** Conversations between two looks at the clock. A failure is searched for within its batch. */
const BATCH = 1000;
const PROGRESS_MS = 30_000;

const { values } = parseArgs({
  options: { runs: { type: 'string', default: '1000000' }, seed: { type: 'string', default: '1' } },
});
const runs = Number(values.runs);
const firstSeed = Number(values.seed);
if (!Number.isInteger(runs) || runs < 1 || !Number.isInteger(firstSeed)) {
  console.error('--runs and --seed take whole numbers');
  process.exit(2);
}

let broken = 0;
const property = fc.asyncProperty(casesOf(), async (one) => {
  if (one.damages.length > 0) broken++;
  await checkCase(one);
});
const start = performance.now();
let reported = start;
console.log(`${count(runs)} conversations from seed ${firstSeed}`);

let done = 0;
let isFine = true;
while (done < runs && isFine) {
  const numRuns = Math.min(BATCH, runs - done);
  const seed = firstSeed + done / BATCH;
  const details = await fc.check(property, { numRuns, seed });
  isFine = !details.failed;
  if (details.failed) {
    console.log(`FAIL in the batch of seed ${seed}, after ${count(done + details.numRuns)} conversations`);
    console.log(String(details.errorInstance));
    console.log(fc.defaultReportMessage(details));
  } else done += numRuns;
  if (performance.now() - reported > PROGRESS_MS) report();
}
report();
for (const [strategy, times] of compactions) console.log(`  ${strategy}: ${count(times)} compactions`);
console.log(`${isFine ? 'PASS' : 'FAIL'}  ${count(done)} conversations, ${count(broken)} of them damaged`);
process.exitCode = isFine ? 0 : 1;

function report(): void {
  reported = performance.now();
  const seconds = (reported - start) / 1000;
  console.log(
    `${count(done)} of ${count(runs)} in ${seconds.toFixed(0)} s, ${(done / seconds).toFixed(0)} a second`,
  );
}

function count(value: number): string {
  return value.toLocaleString('en');
}
