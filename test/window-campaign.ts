/**
 * Lets an agent without a model go on for 500 turns in windows of 1,000 to 2,000,000 tokens, with rounds of 1 to 40 % of
 * the window. No request may be over the window or illegal, and what compaction itself writes may not grow with the
 * turns. Ends with 1 otherwise.
 *
 *     npm run test:windows -- [--windows 1000,4000] [--rounds 1,40] [--turns 500] [--strategy ladder]
 */
import { parseArgs } from 'node:util';
import { walkFaults, walkWindow } from './support/window-walk.ts';

const { values } = parseArgs({
  options: {
    windows: {
      type: 'string',
      default: '1000,2000,4000,8000,16000,32000,64000,128000,200000,1000000,2000000',
    },
    rounds: { type: 'string', default: '1,2,5,10,20,40' },
    turns: { type: 'string', default: '500' },
    strategy: { type: 'string', default: 'ladder' },
  },
});
const turns = Number(values.turns);
let walks = 0;
let failed = 0;
for (const windowTokens of values.windows.split(',').map(Number)) {
  for (const percent of values.rounds.split(',').map(Number)) {
    const start = performance.now();
    const walk = { windowTokens, roundShare: percent / 100, turns, strategy: values.strategy };
    const report = await walkWindow(walk);
    const faults = walkFaults(report);
    walks++;
    if (faults.length > 0) failed++;
    const seconds = ((performance.now() - start) / 1000).toFixed(0);
    const verdict = faults.length === 0 ? 'holds' : `FAILS  ${faults.join('; ')}`;
    console.log(
      `window ${windowTokens}, rounds of ${percent} %: ${report.compactions} compactions in ${seconds} s, ${verdict}`,
    );
  }
}
console.log(`${failed === 0 ? 'PASS' : 'FAIL'}  ${walks} walks of ${turns} turns, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
