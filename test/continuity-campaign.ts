/**
 * Compacts every recorded session at every cut of the lab to 10, 20, 30 and 50 % of its size, and prints how many of the
 * results end with the current turn, how many break a rule that the recording kept, and how many are the same bytes by
 * hand and by itself. Ends with 1 unless all are as they should be; does nothing where there are no recordings.
 *
 *     npm run test:continuity -- [--sessions part,of,a,name] [--strategy ladder] [--cuts 5]
 */
import { parseArgs } from 'node:util';
import { fileSource } from '../src/transcripts/input/source.ts';
import { readRecordings } from '../src/transcripts/recordings.ts';
import { type ContinuityRow, continuityOf, continuityShares } from './support/continuity.ts';
import { corpusFiles, corpusFolder, corpusIsMissing, corpusPath } from './support/corpus.ts';

/** Failures that are named; the rest is counted. */
const NAMED = 20;

const { values } = parseArgs({
  options: {
    sessions: { type: 'string', default: '' },
    strategy: { type: 'string', default: 'ladder' },
    cuts: { type: 'string', default: '5' },
  },
});
if (corpusFolder === undefined) {
  console.log(corpusIsMissing);
  process.exit(0);
}
const wanted = values.sessions.split(',');
const files = corpusFiles().filter(
  ({ file }) => !file.startsWith('api-cassettes/') && wanted.some((part) => file.includes(part)),
);
const rows: ContinuityRow[] = [];
for (const [index, { file }] of files.entries()) {
  for await (const recording of readRecordings(await fileSource(corpusPath(file)))) {
    const options = { session: file, cuts: Number(values.cuts), strategy: values.strategy };
    for await (const row of continuityOf(recording, options)) rows.push(row);
  }
  process.stderr.write(`\r${index + 1}/${files.length} files, ${rows.length} results`);
}
process.stderr.write('\n');

const failed = rows.filter(
  ({ endsWithTurn, broken, isOnePath }) => !endsWithTurn || broken.length > 0 || !isOnePath,
);
for (const { place, share, endsWithTurn, broken, isOnePath } of failed.slice(0, NAMED)) {
  const faults = [endsWithTurn ? '' : 'other end', broken.join(), isOnePath ? '' : 'other bytes by itself'];
  console.log(`${place} at ${share * 100} %: ${faults.filter((fault) => fault !== '').join(', ')}`);
}
if (failed.length > NAMED) console.log(`and ${failed.length - NAMED} more`);
for (const share of continuityShares) {
  const some = rows.filter((row) => row.share === share);
  const count = (holds: (row: ContinuityRow) => boolean) => `${some.filter(holds).length} of ${some.length}`;
  console.log(
    `${share * 100} %: ${count((row) => row.endsWithTurn)} end with the current turn, ${count((row) => row.broken.length > 0)} are illegal, ${count((row) => row.isOnePath)} are the same by itself`,
  );
}
console.log(`${failed.length === 0 ? 'PASS' : 'FAIL'}  ${rows.length} results of ${files.length} files`);
process.exitCode = failed.length === 0 ? 0 : 1;
