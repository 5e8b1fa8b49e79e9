import { parseArgs } from 'node:util';
import fc from 'fast-check';

/** Worlds between two looks at the clock. A failure is searched for within its batch. */
const BATCH = 100;
const PROGRESS_MS = 30_000;

/** What a campaign runs until it has seen enough. */
export interface WorldCampaign<Counts extends { steps: number }> {
  readonly counts: Counts;
  property(counts: Counts): fc.IAsyncProperty<unknown>;
  /** What is said at the end, and whether all of it is as it should be. */
  conclude(counts: Counts): { readonly text: string; readonly isFine: boolean };
}

/**
 * Lets worlds run for as many steps as the command line asks for, and prints the seed, the progress and the counts. A failure
 * prints the smallest case that shows it, and the process exits with 1.
 */
export async function runWorlds<Counts extends { steps: number }>(
  campaign: WorldCampaign<Counts>,
): Promise<void> {
  const { values } = parseArgs({
    options: { steps: { type: 'string', default: '5000000' }, seed: { type: 'string', default: '1' } },
  });
  const steps = Number(values.steps);
  const firstSeed = Number(values.seed);
  if (!Number.isInteger(steps) || steps < 1 || !Number.isInteger(firstSeed)) {
    console.error('--steps and --seed take whole numbers');
    process.exitCode = 2;
    return;
  }
  const { counts } = campaign;
  const start = performance.now();
  let reported = start;
  let isFine = true;
  const report = () => {
    reported = performance.now();
    const seconds = (reported - start) / 1000;
    const pace = `${seconds.toFixed(0)} s, ${(counts.steps / seconds).toFixed(0)} a second`;
    console.log(`${count(counts.steps)} of ${count(steps)} in ${pace}: ${JSON.stringify(counts)}`);
  };
  console.log(`${count(steps)} steps from seed ${firstSeed}`);
  for (let seed = firstSeed; counts.steps < steps && isFine; seed++) {
    const details = await fc.check(campaign.property(counts), { numRuns: BATCH, seed });
    isFine = !details.failed;
    if (details.failed) {
      console.log(`FAIL in the batch of seed ${seed}, after ${count(counts.steps)} steps`);
      console.log(String(details.errorInstance));
      console.log(fc.defaultReportMessage(details));
    }
    if (performance.now() - reported > PROGRESS_MS) report();
  }
  report();
  const conclusion = campaign.conclude(counts);
  isFine &&= conclusion.isFine;
  console.log(`${isFine ? 'PASS' : 'FAIL'}  ${count(counts.steps)} steps, ${conclusion.text}`);
  // Runs of instances that crashed still wait for their time to be over.
  process.exit(isFine ? 0 : 1);
}

function count(value: number): string {
  return value.toLocaleString('en');
}
