/**
 * What a look at many session files costs: the first in MB of JSON text a second and against parsing the same lines, all in one
 * thread, and the second, which goes by the index, against the first. The tree of 2,000 files and 3 GB that this stands for takes
 * too long for a bench; it is read at the same pace, since files are read one by one.
 */
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { examineFile } from '../src/cli/examine/examine-file.ts';
import { findFiles } from '../src/cli/examine/find-files.ts';
import { openIndex } from '../src/cli/examine/index-file.ts';
import { type SessionRow, sessionsOf } from '../src/report/session-row.ts';
import { writtenSession } from '../test/support/written-session.ts';
import { median, printGoals } from './timing.ts';

const FILES = 40;
const ROUNDS = 5;

const folder = mkdtempSync(join(tmpdir(), 'roundfold-bench-'));
const text = writtenSession({ files: 200 });
for (let index = 0; index < FILES; index++) writeFileSync(join(folder, `${index}.jsonl`), text);
const environment = { home: folder, variables: { XDG_CACHE_HOME: join(folder, 'cache') } };

const timed = async (work: () => Promise<void> | void): Promise<number> => {
  const start = performance.now();
  await work();
  return performance.now() - start;
};

function parse(): void {
  for (const { path } of findFiles(folder)) {
    for (const line of readFileSync(path, 'utf8').split('\n')) if (line !== '') JSON.parse(line);
  }
}

/** As the command does it: what the index knows is not read. */
async function look(): Promise<void> {
  const task = { command: 'sessions', reading: {} } as const;
  const index = openIndex<SessionRow>(environment, { by: 'bench', task });
  for (const file of findFiles(folder).filter(({ path }) => path.endsWith('.jsonl')))
    if (index.find(file) === undefined) index.add(file, await examineFile(file.path, task, sessionsOf));
  index.save();
}

const rounds: { readonly parsed: number; readonly first: number; readonly second: number }[] = [];
for (let round = 0; round < ROUNDS; round++) {
  rmSync(join(folder, 'cache'), { recursive: true, force: true });
  rounds.push({ parsed: await timed(parse), first: await timed(look), second: await timed(look) });
}
const megabytes = (FILES * statSync(join(folder, '0.jsonl')).size) / 1e6;
const first = median(rounds.map((round) => round.first));
console.log(
  `${FILES} files, ${megabytes.toFixed(0)} MB: ${(megabytes / (first / 1000)).toFixed(0)} MB/s in one thread`,
);
rmSync(folder, { recursive: true });

const isFine = printGoals([
  {
    name: 'first look, MB of JSON text a second in one thread',
    measured: megabytes / (first / 1000),
    atLeast: 25,
  },
  {
    name: 'first look, times JSON.parse of the lines',
    measured: median(rounds.map((round) => round.first / round.parsed)),
    atMost: 8,
  },
  {
    name: 'second look, share of the first',
    measured: median(rounds.map((round) => round.second / round.first)),
    atMost: 0.1,
  },
]);
process.exitCode = isFine ? 0 : 1;
