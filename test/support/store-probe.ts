/**
 * Uses a store in circumstances that a process cannot make for itself, and prints how each call went. Waits for a line on
 * its input before it calls again.
 *
 *     store-probe.ts PATH FIRST
 */
import { createInterface } from 'node:readline';
import { RoundfoldError } from '../../src/conversation/errors.ts';
import { openStore } from '../../src/stores/registry.ts';
import { lookupOf } from './store-records.ts';
import { recordOfWrite } from './store-tasks.ts';

const [path = '', first = '0'] = process.argv.slice(2);
const store = openStore(path);

async function outcome(call: () => Promise<unknown>): Promise<unknown> {
  try {
    return await call();
  } catch (error) {
    return RoundfoldError.is(error)
      ? { code: error.code, message: error.message, remedy: error.remedy }
      : String(error);
  }
}

/** Commits until something goes wrong, but not for ever. */
async function writeUntilFailure(start: number) {
  for (let index = start; index < start + 500; index++) {
    const { checkpoint, spans } = recordOfWrite(index);
    const records = [{ checkpoint }, ...spans.map((span) => ({ span }))];
    const result = await outcome(() => store.restore(records));
    if (result !== undefined) return { written: index, result };
  }
  return { written: start + 500, result: undefined };
}

let next = Number(first);
const report = async () => {
  const found = await outcome(
    async () => (await store.find(lookupOf(recordOfWrite(0).checkpoint)))?.boundary,
  );
  const { written, result } = await writeUntilFailure(next);
  next = written;
  console.log(JSON.stringify({ found, written, result }));
};
await report();
for await (const _line of createInterface({ input: process.stdin })) await report();
await store.close();
