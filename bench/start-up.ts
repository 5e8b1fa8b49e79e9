/** What it costs to start the command, against a Node that does nothing, in the same run. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { median, printGoals, timeMs } from './timing.ts';

const ROUNDS = 15;
const command = join(import.meta.dirname, '../dist/cli/main.js');
const run = (...args: readonly string[]) => execFileSync(process.execPath, args, { stdio: 'ignore' });

const bare: number[] = [];
const version: number[] = [];
const help: number[] = [];
for (let round = 0; round < ROUNDS; round++) {
  bare.push(timeMs(() => run('-e', '0')));
  version.push(timeMs(() => run(command, '--version')));
  help.push(timeMs(() => run(command, '--help')));
}
console.log(
  `node -e 0: ${median(bare).toFixed(0)} ms, --version ${median(version).toFixed(0)} ms, --help ${median(help).toFixed(0)} ms`,
);
const isFine = printGoals([
  { name: 'S1 roundfold --version ÷ node -e 0', measured: median(version) / median(bare), atMost: 2.5 },
]);
process.exitCode = isFine ? 0 : 1;
