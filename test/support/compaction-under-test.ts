/**
 * The one place where the property suites meet the public API of compaction and the command behind `roundfold compact`.
 */
import { rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { threadId } from 'node:worker_threads';
import { compact as compactCommand } from '../../src/cli/commands/compact.ts';
import { exitCodeOf } from '../../src/cli/exit-codes.ts';
import type { Terminal } from '../../src/cli/terminal.ts';
import { requestTokens, strategies } from '../../src/compaction/strategies/index.ts';
import {
  type CompactionEvent,
  createCompactor,
  createTokenEstimator,
  RoundfoldError,
  readConversation,
  type Summarizer,
} from '../../src/index.ts';
import { tokenProfileForModel } from '../../src/tokens/index.ts';

/** Every strategy of the registry, by name. */
export const strategyNames: readonly string[] = strategies.map(({ name }) => name);

/** Options that make each strategy act on small conversations. */
export const eagerOptions: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  'sliding-window': { keepLast: 2 },
  snip: { keepRounds: 1 },
  'collapse-reads': { keepRounds: 0, minTokens: 0 },
  'clear-tool-results': { protectTokens: 1, minBatchTokens: 1 },
  'strip-media': { maxImages: 0, maxDocuments: 0 },
  summarize: { keepRounds: 1, minGain: 0 },
};

/** How a conversation is to be compacted. */
export interface CompactionSettings {
  readonly format: string;
  readonly strategy: string;
  /** Whether the strategy gets options with which it acts on small conversations. */
  readonly isEager?: boolean | undefined;
  readonly windowTokens: number;
  /** Undefined: what the compactor chooses itself. */
  readonly targetTokens?: number | undefined;
  /** Undefined: what the compactor chooses itself. */
  readonly triggerTokens?: number | undefined;
  readonly summarizer?: Summarizer | undefined;
}

/** What came of one call. */
export interface CompactionRun {
  readonly value: unknown;
  readonly status: string;
  readonly reason: string;
}

/** A compactor with what it tells. */
export interface CompactorUnderTest {
  manually(value: unknown, signal?: AbortSignal): Promise<CompactionRun>;
  automatically(value: unknown): Promise<CompactionRun>;
  readonly targetTokens: number;
  /** Everything it has told so far; whoever wants to count anew empties it. */
  readonly events: CompactionEvent[];
}

/** Makes a compactor of the public API. */
export function compactorUnderTest(settings: CompactionSettings): CompactorUnderTest {
  const { format, strategy, isEager, windowTokens, targetTokens, triggerTokens, summarizer } = settings;
  const events: CompactionEvent[] = [];
  const compactor = createCompactor({
    format,
    strategy,
    windowTokens,
    target: targetTokens,
    trigger: triggerTokens,
    summarizer,
    ...(isEager === true ? { options: eagerOptions[strategy] ?? {} } : {}),
    onEvent: (event) => void events.push(event),
  });
  const toRun = ({ value, outcome }: Awaited<ReturnType<typeof compactor.compact>>): CompactionRun => ({
    value,
    status: outcome.status,
    reason: outcome.reason,
  });
  return {
    manually: async (value, signal) => toRun(await compactor.compact(value, { signal })),
    automatically: async (value) => toRun(await compactor.maybeCompact(value)),
    targetTokens: compactor.thresholds.targetTokens,
    events,
  };
}

/** Counts as a compactor does that was told no model. */
const estimator = createTokenEstimator({ profile: tokenProfileForModel(undefined) });

/** Estimated tokens of a request. */
export function tokensOf(format: string, value: unknown): number {
  return Math.ceil(requestTokens(readConversation(value, format), estimator));
}

/** What `roundfold compact` wrote, and what it ended with. */
export interface CommandRun {
  readonly code: number;
  readonly value: unknown;
  readonly talk: string;
}

/** Runs the function behind `roundfold compact` on a file that holds the value. */
export async function runCompactCommand(
  value: unknown,
  {
    format,
    strategy,
    budget,
  }: { readonly format: string; readonly strategy: string; readonly budget: string },
): Promise<CommandRun> {
  const file = join(tmpdir(), `roundfold-any-request-${process.pid}-${threadId}.json`);
  writeFileSync(file, JSON.stringify(value));
  const written: string[] = [];
  const talk: string[] = [];
  const options: Readonly<Record<string, string>> = { format, strategy, budget };
  const given = {
    positional: [file],
    text: (name: string) => options[name],
    list: () => undefined,
    flag: () => false,
  };
  try {
    const report = { terminal: listeningTerminal(written, talk), json: false };
    const code = await compactCommand.run(given, report).catch((error: unknown) => {
      if (!RoundfoldError.is(error)) throw error;
      talk.push(error.message);
      return exitCodeOf(error);
    });
    const text = written.join('');
    return { code, value: text === '' ? undefined : JSON.parse(text), talk: talk.join('') };
  } finally {
    rmSync(file, { force: true });
  }
}

function listeningTerminal(written: string[], talk: string[]): Terminal {
  return {
    out: (text) => void written.push(text),
    data: (content) => void written.push(String(content)),
    talk: (text) => void talk.push(text),
    redraw: (text) => void talk.push(text),
    drive: () => undefined,
    style: (_style, text) => text,
    styleTalk: (_style, text) => text,
    columns: 80,
    isWatched: false,
    isScreen: false,
    isPlain: true,
  };
}
