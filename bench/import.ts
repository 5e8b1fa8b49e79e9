/** What importing the library costs a process, against an empty module: milliseconds and memory. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { median, printGoals } from './timing.ts';

const folder = mkdtempSync(join(tmpdir(), 'roundfold-bench-'));
const empty = join(folder, 'empty.mjs');
writeFileSync(empty, 'export {};\n');
const library = resolve(import.meta.dirname, '../dist/index.js');

interface Cost {
  readonly milliseconds: number;
  readonly megabytes: number;
}

function costOf(module: string): Cost {
  const script = `const rss = process.memoryUsage().rss; const start = performance.now();
    await import(${JSON.stringify(pathToFileURL(module).href)});
    console.log(performance.now() - start, (process.memoryUsage().rss - rss) / 1e6);`;
  const [milliseconds = Number.NaN, megabytes = Number.NaN] = execFileSync(process.execPath, [
    '--input-type=module',
    '--eval',
    script,
  ])
    .toString()
    .split(' ')
    .map(Number);
  return { milliseconds, megabytes };
}

const rounds = Array.from({ length: 15 }, () => ({ base: costOf(empty), ours: costOf(library) }));
rmSync(folder, { recursive: true });
const difference = (key: keyof Cost) => median(rounds.map(({ base, ours }) => ours[key] - base[key]));

const isFine = printGoals([
  {
    name: 'import, milliseconds more than an empty module',
    measured: difference('milliseconds'),
    atMost: 30,
  },
  { name: 'import, megabytes more than an empty module', measured: difference('megabytes'), atMost: 10 },
]);
process.exitCode = isFine ? 0 : 1;
