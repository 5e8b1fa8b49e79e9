/**
 * How much of what recorded agents needed later is left after a compaction: every row at every budget, with intervals
 * over sessions.
 *
 *   npm run bench:retention -- [--rows ladder,oracle] [--budgets 30,20,10,3] [--sessions claude-code/]
 *                              [--cuts 5] [--chains 20] [--panel agents|service|others] [--peers] [--json FILE]
 *
 * `--peers` adds other libraries as rows, those that `npm run bench:peers` has installed, and compares the first row with each
 * of them at the very tokens that it keeps.
 */
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { aggregate, pairedDifference, panelFigures } from '../src/lab/aggregate.ts';
import { levelName } from '../src/lab/measure-case.ts';
import { corpusFolder, corpusIsMissing } from '../test/support/corpus.ts';
import { genericNames, panelFiles, panels } from './retention/cases.ts';
import type { JobOptions } from './retention/job.ts';
import { formatMatched, isMatched } from './retention/matched.ts';
import { installedPeers, missingPeers } from './retention/peers.ts';
import { measureFiles } from './retention/pool.ts';
import { defaultRows } from './retention/rows.ts';
import { formatMissed, formatResults } from './retention/table.ts';

const { values } = parseArgs({
  options: {
    panel: { type: 'string', default: 'agents' },
    rows: { type: 'string', default: defaultRows.join(',') },
    budgets: { type: 'string' },
    sessions: { type: 'string', default: '' },
    cuts: { type: 'string', default: '5' },
    chains: { type: 'string', default: '' },
    peers: { type: 'boolean', default: false },
    json: { type: 'string' },
  },
});

function numbers(text: string): readonly number[] {
  return words(text).map(Number);
}

function words(text: string): readonly string[] {
  return text
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '');
}

if (corpusFolder === undefined) {
  console.log(corpusIsMissing);
  process.exit(0);
}
const start = performance.now();
const wanted = words(values.sessions);
const panel = panels.find((name) => name === values.panel);
if (panel === undefined) {
  console.error(`--panel takes one of: ${panels.join(', ')}`);
  process.exit(2);
}
const files = panelFiles(panel).filter(
  ({ file }) => wanted.length === 0 || wanted.some((part) => file.includes(part)),
);
const options: JobOptions = {
  panel,
  rows: [...words(values.rows), ...(values.peers ? installedPeers : [])],
  budgets: numbers(values.budgets ?? (panel === 'service' ? '40,20' : '30,20,10,3')),
  cuts: Number(values.cuts),
  chains: numbers(values.chains),
};
if (values.peers)
  for (const name of missingPeers) console.log(`not installed: ${name} (npm run bench:peers)`);
const generic = await genericNames();
let done = 0;
const measured = await measureFiles(files, options, generic, (file) => {
  done++;
  process.stderr.write(`\r${done}/${files.length} ${file}`.padEnd(90));
});
process.stderr.write('\r'.padEnd(92));
process.stderr.write('\r');

const results = aggregate(measured.filter((measurement) => !isMatched(measurement)));
console.log(formatResults(results));
const [first] = options.rows;
if (first !== undefined) console.log(`\n${formatMissed(results, first)}`);

const differences = options.budgets.flatMap((budget) =>
  panelFigures.slice(0, 3).map((figure) => ({
    level: levelName(budget),
    ...pairedDifference(measured, [first ?? '', 'recency only'], levelName(budget), figure),
  })),
);
if (options.rows.includes('recency only')) {
  console.log(`\n${first} minus recency only, paired by session (points)`);
  for (const { level, figure, mean, low, high } of differences) {
    console.log(
      `  ${level} ${figure}: ${[mean, low, high].map((value) => (value * 100).toFixed(1)).join(' / ')}`,
    );
  }
}
const matched = measured.filter(isMatched);
if (matched.length > 0) console.log(`\n${formatMatched(matched, first ?? '')}`);
console.log(`\n${((performance.now() - start) / 1000).toFixed(1)} s`);
if (values.json !== undefined) {
  writeFileSync(values.json, `${JSON.stringify({ options, results, differences }, undefined, 1)}\n`);
}
