/**
 * Puts stores through what a test run has no time for: processes that commit against each other, processes that are
 * killed while they write, and files cut off at every byte. Prints what was counted, and exits with 1 when anything is wrong.
 *
 *     node test/store-campaign.ts [--rounds 10000] [--kills 300] [--step 1] [--only rounds|kills|cuts]
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startPostgres } from './support/postgres.ts';
import { contendedRounds, killWriters, wrongRounds } from './support/store-processes.ts';
import { storeFiles, wrongAfterFileCut, wrongAfterLogCut } from './support/store-truncation.ts';

const PROCESSES = 3;

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '10000' },
    kills: { type: 'string', default: '300' },
    step: { type: 'string', default: '1' },
    only: { type: 'string' },
  },
});
const folder = mkdtempSync(join(tmpdir(), 'roundfold-campaign-'));
const server = await startPostgres({ isDurable: true });
let files = 0;
const addresses = {
  sqlite: async () => join(folder, `${++files}.sqlite`),
  postgres: () => server.createDatabase(),
};
let failures = 0;

const parts: Readonly<Record<string, () => Promise<void>>> = {
  rounds: runRounds,
  kills: runKills,
  cuts: runCuts,
};
try {
  for (const [name, run] of Object.entries(parts)) {
    if (values.only === undefined || values.only === name) await run();
  }
} finally {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
}
process.exitCode = failures === 0 ? 0 : 1;

async function runRounds(): Promise<void> {
  const rounds = Number(values.rounds);
  for (const [kind, address] of Object.entries(addresses)) {
    const start = performance.now();
    const reports = await contendedRounds(await address(), PROCESSES, rounds);
    const leases = new Set(reports.flat().map(({ fence }) => fence)).size;
    report(
      `${kind}: ${rounds} rounds of ${PROCESSES} processes, ${leases} leases`,
      wrongRounds(reports, rounds),
      start,
    );
  }
}

async function runKills(): Promise<void> {
  for (const [kind, address] of Object.entries(addresses)) {
    const start = performance.now();
    const { kills, acknowledged, unsaid, wrong } = await killWriters(
      await address(),
      Number(values.kills),
      Math.random,
    );
    const counts = `${kills} kills, ${acknowledged} writes acknowledged, ${unsaid} more done and not said`;
    report(`${kind}: ${counts}`, wrong, start);
  }
}

async function runCuts(): Promise<void> {
  const step = Number(values.step);
  const original = await storeFiles(folder);
  const cuts = [
    { what: 'log', from: original.lastInLog, to: original.log.length, check: wrongAfterLogCut },
    { what: 'file', from: original.lastInDatabase, to: original.database.length, check: wrongAfterFileCut },
  ];
  for (const { what, from, to, check } of cuts) {
    const start = performance.now();
    const wrong: string[] = [];
    let count = 0;
    for (let length = from; length <= to; length += step) {
      wrong.push(...(await check(folder, original, length)));
      count++;
      // SQLite answers at once, and a loop that never waits hears no signal.
      await new Promise(setImmediate);
    }
    report(`sqlite: ${count} lengths of the ${what}, ${from} to ${to} bytes`, wrong, start);
  }
}

function report(what: string, wrong: readonly string[], start: number): void {
  const seconds = ((performance.now() - start) / 1000).toFixed(0);
  console.log(`${wrong.length === 0 ? 'PASS' : 'FAIL'}  ${what}, ${seconds} s`);
  for (const line of wrong.slice(0, 20)) console.log(`      ${line}`);
  if (wrong.length > 0) failures++;
}
