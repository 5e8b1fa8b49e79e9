/**
 * Kills instances of the proxy at random moments while clients are at work, restarts their database, and looks at every
 * body that reaches the provider and at every checkpoint that was said to be saved or named in an answer. Prints what was
 * counted, and exits with 1 when anything is wrong. Needs a build.
 *
 *     node test/proxy-kill-campaign.ts [--kills 200] [--restarts 20] [--seed 1] [--minutes 20]
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { createNumbers } from '../src/simulator/seeded.ts';
import { startSimulator } from '../src/simulator/simulator.ts';
import { openStore } from '../src/stores/registry.ts';
import { startPostgres } from './support/postgres.ts';
import { untilResults } from './support/proxied.ts';
import { ProxyLoad } from './support/proxy-load.ts';
import { acknowledgedIn, checkpointsIn, ProxyProcess } from './support/proxy-processes.ts';

const INSTANCES = 3;
const CLIENTS = 6;
const WINDOW = 10_000;
/** Between two kills, at most. */
const LONGEST_CALM_MS = 900;
const LONGEST_OUTAGE_MS = 1500;

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '200' },
    restarts: { type: 'string', default: '20' },
    seed: { type: 'string', default: '1' },
    minutes: { type: 'string', default: '20' },
  },
});
const kills = Number(values.kills);
const restarts = Number(values.restarts);
const random = createNumbers(Number(values.seed));
const start = performance.now();
const deadline = start + Number(values.minutes) * 60_000;

const folder = mkdtempSync(join(tmpdir(), 'roundfold-kills-'));
const database = await startPostgres({ isDurable: true });
const address = await database.createDatabase();
const instances: ProxyProcess[] = [];
const load = new ProxyLoad(() => instances.flatMap((each) => each.address ?? []));
const simulator = await startSimulator({
  windowTokens: WINDOW,
  script: untilResults(Number.POSITIVE_INFINITY),
  onRequest: (request) => load.judge(request),
});
let done = { kills: 0, restarts: 0 };
try {
  // Opened once, so that its tables are there before anybody is killed.
  await openStore(address).close();
  for (let index = 0; index < INSTANCES; index++)
    instances.push(
      new ProxyProcess(folder, index, [
        '--upstream',
        simulator.url,
        '--store',
        address,
        '--window',
        `${WINDOW}`,
      ]),
    );
  await Promise.all(instances.map((each) => each.start()));
  const work = load.start(CLIENTS);
  done = await disturb();
  // Once nothing is disturbed any more, everybody is served.
  const brokenBefore = load.report.broken;
  await delay(3000);
  if (load.report.broken > brokenBefore + CLIENTS)
    load.report.wrong.push('requests fail although nothing is disturbed');
  load.stop();
  await work;
  await conclude();
} finally {
  load.stop();
  for (const each of instances) await each.kill();
  await simulator.close();
  await database.stop();
  rmSync(folder, { recursive: true, force: true });
}

async function disturb(): Promise<{ readonly kills: number; readonly restarts: number }> {
  const every = Math.max(1, Math.floor(kills / Math.max(1, restarts)));
  let restarted = 0;
  let outage = Promise.resolve();
  let killed = 0;
  for (; killed < kills && performance.now() < deadline; killed++) {
    await delay(random(LONGEST_CALM_MS));
    if (killed % every === every - 1 && restarted < restarts) {
      await outage;
      restarted++;
      outage = restartDatabase();
    }
    const victim = instances[random(INSTANCES)];
    await victim?.kill();
    await victim?.start();
    if (killed % 20 === 19) console.log(`${killed + 1} of ${kills} kills, ${load.report.requests} requests`);
  }
  await outage;
  return { kills: killed, restarts: restarted };
}

async function restartDatabase(): Promise<void> {
  await database.pause();
  await delay(random(LONGEST_OUTAGE_MS));
  await database.resume();
}

async function conclude(): Promise<void> {
  const { wrong, named, ...counts } = load.report;
  const store = openStore(address);
  const { keys, chains } = await checkpointsIn(store);
  const damaged = await store.verify();
  await store.close();
  const acknowledged = acknowledgedIn(instances.map(({ log }) => log));
  const lost = [...acknowledged].filter((key) => !keys.has(key));
  const unstored = [...named].filter((chain) => !chains.has(chain));
  const seconds = ((performance.now() - start) / 1000).toFixed(0);
  console.log(
    `${done.kills} kills, ${done.restarts} restarts of the database, ${seconds} s: ${JSON.stringify(counts)}`,
  );
  console.log(
    `${chains.size} checkpoints stored; ${acknowledged.size} acknowledged in logs, ${lost.length} of them lost`,
  );
  console.log(`${named.size} named in answers, ${unstored.length} of them never stored`);
  for (const line of wrong.slice(0, 20)) console.log(`      ${line}`);
  const isAllDone = done.kills === kills && done.restarts === restarts;
  const isFine =
    wrong.length + lost.length + unstored.length + damaged.length === 0 && isAllDone && counts.folded > 0;
  console.log(`${isFine ? 'PASS' : 'FAIL'}  ${wrong.length} wrong bodies, ${damaged.length} damaged records`);
  process.exitCode = isFine ? 0 : 1;
}
