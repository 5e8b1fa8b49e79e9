/** What one worker does: every row at every budget on every cut of one session or file. */
import { currentTurnStart } from '../../src/conversation/cuts.ts';
import { type LabCase, type Measured, type Measurement, measureCase } from '../../src/lab/measure.ts';
import type { CountMessages } from '../../src/lab/score.ts';
import { casesOf, type MemoryTask } from './cases.ts';
import { writeDump } from './dump.ts';
import { measureMatched } from './matched.ts';
import { chatCase, peerRows } from './peers.ts';
import { ownRows } from './rows.ts';
import { createExactCounter } from './tokens.ts';

/** What to measure. Plain data: it goes to the worker as a message. */
export interface MemoryJob {
  /** Percent of the tokens. */
  readonly budgets: readonly number[];
  /** No budget is smaller than so many tokens. */
  readonly leastTokens: number;
  /** Lengths of chains of compactions, beside the one compaction. */
  readonly chains: readonly number[];
  /** Names of other libraries to measure. */
  readonly peers: readonly string[];
  /** Whether budgets are kept to wherever that is possible. */
  readonly isStrict: boolean;
  /** Where contexts are written for reading; undefined: nowhere. */
  readonly dump: string | undefined;
}

/** A measurement with what tables group by and explain. Plain data. */
export interface MemoryResult extends Measurement {
  readonly harness: string;
  /** Percent of the tokens that was asked for. */
  readonly budget: number;
  readonly tokensBefore: number;
  /** Share of the current turn, which always stays. */
  readonly turnShare: number;
  readonly missedProbes: readonly string[];
}

let counter: Promise<CountMessages> | undefined;

/** Measures a piece of work. */
export async function measureTask(task: MemoryTask, job: MemoryJob): Promise<readonly MemoryResult[]> {
  counter ??= createExactCounter();
  const countMessages = await counter;
  const results: MemoryResult[] = [];
  for (const labCase of await casesOf(task, countMessages)) {
    const measured = [
      ...(await measureOwn(labCase, job, countMessages)),
      ...(await measurePeers(labCase, job, countMessages)),
    ];
    results.push(...measured.map((found) => toResult(found, task, countMessages)));
  }
  return results;
}

async function measureOwn(
  labCase: LabCase,
  { budgets, leastTokens, chains, isStrict, dump }: MemoryJob,
  countMessages: CountMessages,
): Promise<readonly Measured[]> {
  // Where the harness compacted, its summary is to be compared with, and nothing else.
  const rows = ownRows(labCase.recorded === undefined ? chains : [], { countMessages, isStrict });
  const measured = await measureCase(labCase, rows, { budgets, leastTokens, countMessages });
  if (dump !== undefined) for (const found of measured) writeDump(dump, found);
  return measured;
}

/** Each peer at every budget, and our own row at the very tokens that it kept. */
async function measurePeers(
  labCase: LabCase,
  { budgets, peers, isStrict }: MemoryJob,
  countMessages: CountMessages,
): Promise<readonly Measured[]> {
  const [own] = ownRows([], { countMessages, isStrict });
  if (peers.length === 0 || labCase.recorded !== undefined || own === undefined) return [];
  const rows = await peerRows(peers, countMessages);
  const found = await measureCase(chatCase(labCase, countMessages), rows, { budgets, countMessages });
  return [...found, ...(await measureMatched(labCase, own, found, countMessages))];
}

function toResult(
  { measurement, labCase, budgetTokens, missed }: Measured,
  { harness }: MemoryTask,
  countMessages: CountMessages,
): MemoryResult {
  const { prefix, prefixTokens, instructionTokens } = labCase.cut;
  const shareOf = (tokens: number) => tokens / (prefixTokens - instructionTokens);
  const turn = prefix.messages.slice(currentTurnStart(prefix.messages));
  return {
    ...measurement,
    harness,
    budget: Math.round(1000 * 100 * shareOf(budgetTokens - instructionTokens)) / 1000,
    tokensBefore: prefixTokens,
    turnShare: shareOf(countMessages(turn)),
    missedProbes: missed.probes.map(({ id }) => id),
  };
}
