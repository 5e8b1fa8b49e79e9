/**
 * What recorded agent sessions would have cost: request by request through a prompt cache, without any compaction and
 * with each strategy, under three price sets and two windows; and how well the break-even of a compaction was foretold.
 *
 *   npm run bench:cost -- [--sessions claude-code/] [--share 30] [--json FILE]
 *
 * Ends with exit code 1 when the advice cost more than no compaction where that would have fitted the window, or when a
 * break-even was off by more than a tenth.
 */
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { corpusFolder, corpusIsMissing } from '../test/support/corpus.ts';
import { ADVISED, type CostRun, costPolicies, readCostSessions, replayAll } from './cost/replay-all.ts';
import { formatBreakEvens, formatRuns, isWorseThanNone, worstBreakEven } from './cost/table.ts';

const { values } = parseArgs({
  options: {
    sessions: { type: 'string', default: '' },
    share: { type: 'string', default: '30' },
    json: { type: 'string' },
  },
});

const MODELS = ['claude-opus-5-5', 'claude-sonnet-5-5', 'gpt-6.1-sol'];
const WINDOWS = [60_000, 200_000];
/** How far the cost at a foretold break-even may be off. */
const TOLERANCE = 0.1;

if (corpusFolder === undefined) {
  console.log(corpusIsMissing);
  process.exit(0);
}
const start = performance.now();
const targetShare = Number(values.share) / 100;
const sessions = await readCostSessions(values.sessions);
const turns = sessions.reduce((sum, { session }) => sum + session.turns.length, 0);
console.log(
  `${sessions.length} stretches of recorded sessions, ${turns} requests; compacted to ${values.share} % of their messages`,
);

const runs: CostRun[] = [];
let isBroken = false;
for (const model of MODELS) {
  for (const windowTokens of WINDOWS) {
    const run = await replayAll(sessions, { model, windowTokens, targetShare });
    runs.push(run);
    console.log(`\n${formatRuns(run)}`);
    const worse = isWorseThanNone(run, ADVISED);
    for (const name of worse) console.log(`  ABOVE NONE: ${name}`);
    isBroken ||= worse.length > 0;
  }
}
console.log(`\n${formatBreakEvens(runs)}`);
isBroken ||= worstBreakEven(runs) > TOLERANCE;
console.log(`\n${costPolicies.length + 1} rows, ${((performance.now() - start) / 1000).toFixed(1)} s`);
if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(runs, undefined, 1)}\n`);
process.exitCode = isBroken ? 1 : 0;
