/**
 * How well somebody could carry on from a compacted context: sessions compacted by the automatic path with our own summarizer
 * to shares of their tokens (o200k).
 *
 *   node bench/memory.ts [--corpus | --service] [--budgets 30,20,10,3] [--sessions c01,c12] [--by session|harness]
 *                        [--chains 5,10] [--peers] [--cuts 5] [--strict] [--within] [--intervals] [--dump FOLDER] [--json FILE]
 *
 * Without a word of what to take, the sessions with probes; `--corpus`: all agent sessions of the corpus, at several cuts, and
 * where a harness compacted by itself also beside its own summary, at the size of that; `--service`: dialogues of a service, by
 * the whole values that later calls use.
 *
 * `--chains` compacts each session so many times while it grows to the same cut, each time to the budget, and tells the
 * difference to one compaction of the whole. `--peers` measures other libraries, where they are installed, at the tokens that
 * each keeps. `--strict` searches for the budget even where the first result is far above it. `--within` leaves out cuts whose current turn, which stays, takes most of the budget. `--dump` writes every
 * context, the memory first, and beside it what it misses.
 */
import { statSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { probeFilesIn } from '../src/cli/compare/probe-folder.ts';
import { corpusFolder, corpusIsMissing, corpusPath } from '../test/support/corpus.ts';
import { probeHarnesses, probesAreMissing, probesFolder } from '../test/support/probes.ts';
import type { MemoryTask } from './memory/cases.ts';
import { chainedName } from './memory/chain.ts';
import { agentFiles, otherFiles, type SessionFile, serviceFiles } from './memory/corpus.ts';
import { formatDifferences, type Pair } from './memory/differences.ts';
import type { MemoryResult } from './memory/job.ts';
import { isMatchedLevel } from './memory/matched.ts';
import { knownPeers } from './memory/peers.ts';
import { measureTasks } from './memory/pool.ts';
import { OWN_ROW } from './memory/rows.ts';
import { formatResults } from './memory/table.ts';

const { values } = parseArgs({
  options: {
    corpus: { type: 'boolean', default: false },
    service: { type: 'boolean', default: false },
    budgets: { type: 'string' },
    sessions: { type: 'string', default: '' },
    by: { type: 'string' },
    chains: { type: 'string', default: '' },
    peers: { type: 'boolean', default: false },
    cuts: { type: 'string', default: '5' },
    strict: { type: 'boolean', default: false },
    within: { type: 'boolean', default: false },
    intervals: { type: 'boolean', default: false },
    dump: { type: 'string' },
    json: { type: 'string' },
  },
});

function words(text: string): readonly string[] {
  return text
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '');
}

const wanted = words(values.sessions);

function probeTasks(folder: string): readonly MemoryTask[] {
  const harnesses = probeHarnesses(folder);
  return probeFilesIn(folder)
    .filter(({ name }) => wanted.length === 0 || wanted.includes(name))
    .map((files) => ({ kind: 'probes', files, harness: harnesses.get(files.name) ?? 'unknown' }));
}

/** The largest files first, so that no thread is left alone with one at the end. */
function fileTasks(kind: 'agents' | 'service', files: readonly SessionFile[]): readonly MemoryTask[] {
  const sizeOf = ({ file }: SessionFile) => statSync(corpusPath(file)).size;
  return files
    .filter(({ file }) => wanted.length === 0 || wanted.some((part) => file.includes(part)))
    .toSorted((left, right) => sizeOf(right) - sizeOf(left))
    .map((file) => ({ kind, file, harness: file.harness, cuts: Number(values.cuts) }));
}

function chosenTasks(): readonly MemoryTask[] | undefined {
  if (!values.corpus && !values.service)
    return probesFolder === undefined ? undefined : probeTasks(probesFolder);
  if (corpusFolder === undefined) return undefined;
  return values.service
    ? fileTasks('service', serviceFiles())
    : fileTasks('agents', [...agentFiles(), ...otherFiles()]);
}

async function chosenPeers(): Promise<readonly string[]> {
  if (!values.peers) return [];
  const { installed, missing } = await knownPeers();
  for (const name of missing) console.log(`not installed: ${name} (npm run bench:peers)`);
  return installed;
}

/** Whether the current turn alone, which has to stay, leaves next to nothing of the budget. */
function isCrowded({ turnShare, budget }: MemoryResult): boolean {
  return turnShare > (MOST_OF_BUDGET * budget) / 100;
}

const MOST_OF_BUDGET = 0.8;

/** Chains against one compaction, and our own row against each peer at its tokens. */
function pairsOf(results: readonly MemoryResult[], chains: readonly number[]): readonly Pair[] {
  const levels = [...Map.groupBy(results, ({ level }) => level)];
  return levels.flatMap(([level, ofLevel]) => {
    const rows = new Set(ofLevel.map(({ row }) => row));
    if (isMatchedLevel(level))
      return [...rows]
        .filter((row) => row !== OWN_ROW)
        .map((other) => ({
          name: `${OWN_ROW} minus ${other} at ${level.replace(` (${other})`, '')}`,
          level,
          row: OWN_ROW,
          other,
        }));
    return chains
      .map((times) => chainedName({ name: OWN_ROW }, times))
      .filter((row) => rows.has(row))
      .map((row) => ({ name: `${row} minus one at ${level}`, level, row, other: OWN_ROW }));
  });
}

/** What is larger than its budget, and how much of it is the current turn. */
function overText(results: readonly MemoryResult[]): string | undefined {
  const percent = (share: number) => `${(share * 100).toFixed(1)} %`;
  const over = results
    .filter(({ row, isOverBudget }) => row === OWN_ROW && isOverBudget)
    .map(
      ({ session, level, figures, turnShare }) =>
        `${session} at ${level}: ${percent(figures.kept ?? 0)} (${percent(turnShare)})`,
    );
  return over.length === 0
    ? undefined
    : `over budget (share of the current turn, which stays): ${over.join(', ')}`;
}

const tasks = chosenTasks();
if (tasks === undefined) {
  console.log(values.corpus || values.service ? corpusIsMissing : probesAreMissing);
  process.exit(0);
}
/** A service needs its records, however short the dialogue was. */
const LEAST_SERVICE_TOKENS = 400;
const start = performance.now();
const chains = words(values.chains).map(Number);
const budgets = words(values.budgets ?? (values.service ? '40,20' : '30,20,10,3')).map(Number);
const measured = await measureTasks(tasks, {
  budgets,
  leastTokens: values.service ? LEAST_SERVICE_TOKENS : 0,
  chains,
  peers: await chosenPeers(),
  isStrict: values.strict,
  dump: values.dump,
});
const results = values.within ? measured.filter((result) => !isCrowded(result)) : measured;

const groups: Readonly<Record<string, (result: MemoryResult) => string>> = {
  session: ({ session }) => session,
  harness: ({ harness }) => harness,
};
const groupOf = values.by === undefined ? undefined : groups[values.by];
const hasIntervals = values.intervals || values.corpus || values.service;
const plain = results.filter(({ level }) => !isMatchedLevel(level));
console.log(formatResults(plain, { groupOf, hasIntervals }));
const pairs = pairsOf(results, chains);
if (pairs.length > 0) console.log(`\n${formatDifferences(results, pairs)}`);
const over = values.corpus || values.service ? undefined : overText(plain);
if (over !== undefined) console.log(over);
console.log(`${((performance.now() - start) / 1000).toFixed(1)} s`);
if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(results, undefined, 1)}\n`);
