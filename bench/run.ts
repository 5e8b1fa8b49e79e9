/** Runs every bench, one after the other, and fails when one of them misses a goal. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const benches = [
  'import.ts',
  'start-up.ts',
  'pipeline.ts',
  'compaction.ts',
  'validity.ts',
  'reading.ts',
  'sessions.ts',
  'memory-speed.ts',
  'checkpoint.ts',
  'parallel-results.ts',
  'estimator/bench.ts',
  'calibration.ts',
];

let failed = 0;
for (const bench of benches) {
  console.log(`\n── bench/${bench}`);
  const { status } = spawnSync(process.execPath, [join(import.meta.dirname, bench)], { stdio: 'inherit' });
  if (status !== 0) failed++;
}
console.log(`\n${benches.length - failed} of ${benches.length} benches met their goals`);
process.exitCode = failed === 0 ? 0 : 1;
