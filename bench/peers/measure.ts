/** Measures one peer in a process of its own, which can be ended when it takes too long. Prints one line of JSON. */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { findContract } from '../../src/contracts/registry.ts';
import { createRandom } from '../estimator/seeded.ts';
import { abortedCalls, bodyOf, createSessions, messagesOf, withoutResults } from '../random-conversations.ts';
import { sessionBody } from '../session-body.ts';
import { median } from '../timing.ts';
import type { ChatMessage } from './chat.ts';
import type { Cutter, LoadModule, Measure } from './peer.ts';
import { peers } from './registry.ts';
import { ABORTED_CONVERSATIONS, CONVERSATIONS, LOADER, type Speed, type Validity } from './results.ts';

const MESSAGES = 10_000;
const WARM_UPS = 3;
const ROUNDS = 9;
/** No further round begins after that. */
const ENOUGH_MS = 10_000;

function makeSession<Native>({ toNative }: Cutter<Native>, messages: number): Native {
  return toNative(sessionBody('openai-chat', messages, 400).messages as readonly ChatMessage[]); // as the name says
}

async function measureSpeed<Native>(cutter: Cutter<Native>): Promise<Speed> {
  for (let round = 0; round < WARM_UPS; round++) await cutter.cut(makeSession(cutter, 500), 0.5);
  const firsts: number[] = [];
  const laters: number[] = [];
  const start = performance.now();
  while (firsts.length === 0 || (firsts.length < ROUNDS && performance.now() - start < ENOUGH_MS)) {
    // Messages that nobody has seen, and then the same ones again.
    const native = makeSession(cutter, MESSAGES);
    for (const times of [firsts, laters]) {
      const before = performance.now();
      await cutter.cut(native, 0.5);
      times.push(performance.now() - before);
    }
  }
  return { firstMs: median(firsts), laterMs: median(laters) };
}

function isRejected(messages: readonly ChatMessage[]): boolean {
  const violations = findContract('openai-chat')?.check(bodyOf('openai-chat', messages)) ?? [];
  return violations.some(({ severity }) => severity === 'error') || messages.length === 0;
}

/** What a peer leaves; undefined when it throws, or leaves something that is no list of messages. */
async function cutOnce<Native>(
  { toNative, cut, fromNative, repair = (native) => native }: Cutter<Native>,
  messages: readonly unknown[],
  share: number,
): Promise<readonly ChatMessage[] | undefined> {
  try {
    return fromNative(await cut(repair(toNative(messages as readonly ChatMessage[])), share)); // written by the generator
  } catch {
    return undefined;
  }
}

async function measureValidity<Native>(cutter: Cutter<Native>): Promise<Validity> {
  const random = createRandom(43);
  const nextSession = createSessions(random);
  const counts = { rejected: 0, notUserFirst: 0, broken: 0 };
  for (let index = 0; index < CONVERSATIONS; index++) {
    const left = await cutOnce(cutter, messagesOf('openai-chat', nextSession()), 0.02 + random() * 0.93);
    if (left === undefined || isRejected(left)) counts.rejected++;
    else if (left.find(({ role }) => role !== 'system')?.role !== 'user') counts.notUserFirst++;
  }
  for (let index = 0; index < ABORTED_CONVERSATIONS; index++) {
    const steps = nextSession();
    const messages = withoutResults(messagesOf('openai-chat', steps), abortedCalls(random, steps));
    const left = await cutOnce(cutter, messages, 0.02 + random() * 0.93);
    if (left === undefined || isRejected(left)) counts.broken++;
  }
  return counts;
}

const [, , name, kind, folder = '.'] = process.argv;
const peer = peers.find((one) => one.name === name);
if (peer === undefined) throw new Error(`no peer ${JSON.stringify(name)}`);
// A package can only be imported from where it is installed.
const { load } = (await import(pathToFileURL(join(folder, LOADER)).href)) as { load: LoadModule };
const measure: Measure<unknown> = kind === 'speed' ? measureSpeed : measureValidity;
console.log(`\n${JSON.stringify(await peer.use(load, measure))}`);
// Some packages keep a timer or a socket open.
process.exit(0);
