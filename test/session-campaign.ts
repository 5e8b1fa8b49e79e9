/**
 * Breaks many generated session files in up to four ways each, mends them, and prints how many needed it, how many could not be
 * read at all, and the first that went wrong. Ends with 1 when one did.
 *
 *     npm run test:sessions -- [--files 10000] [--seed N]
 */
import { parseArgs } from 'node:util';
import fc from 'fast-check';
import { mendSession } from '../src/transcripts/mend-session.ts';
import { faultOfMending, mangledSessions, mangledText, readText } from './support/mangled-sessions.ts';

const { values } = parseArgs({
  options: { files: { type: 'string', default: '10000' }, seed: { type: 'string', default: '1' } },
});
const totals = { files: 0, unreadable: 0, mended: 0, faults: 0 };
let shown = false;
for (const session of fc.sample(mangledSessions, {
  numRuns: Number(values.files),
  seed: Number(values.seed),
})) {
  totals.files++;
  const broken = await readText(mangledText(session)).catch(() => undefined);
  const live = broken?.conversations.at(-1);
  if (live === undefined) totals.unreadable++;
  else if (mendSession(live, { scope: 'messages' }).repairs.length > 0) totals.mended++;
  const fault = await faultOfMending(session);
  if (fault === undefined) continue;
  totals.faults++;
  if (!shown) console.log(`${fault}\n${JSON.stringify(session)}`);
  shown = true;
}
console.log(
  `${totals.faults === 0 ? 'PASS' : 'FAIL'}  ${totals.files} files, ${totals.mended} mended, ${totals.unreadable} without any conversation left, ${totals.faults} faults`,
);
process.exitCode = totals.faults === 0 ? 0 : 1;
