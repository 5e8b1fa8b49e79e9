import type { Message } from '../core/message.ts';
import type { Receipt } from '../core/receipt.ts';
import { changeOf } from '../core/strategy.ts';
import type { TokenEstimator } from '../core/token-estimator.ts';
import type { LabCase } from './lab-case.ts';
import { brokenRules, stableShare } from './legality.ts';
import { type Missed, type PanelScore, scoreMessages } from './panel.ts';
import { retrievableFrom } from './retrieval.ts';
import type { Row } from './row.ts';

/** What one row made of one cut. Plain data, so that it can go between threads. */
export interface Measurement {
  readonly row: string;
  /** What budget was asked for, as it is called in results: `30 %`, `recorded`. */
  readonly level: string;
  readonly session: string;
  /** Share of the prefix's tokens that is left, instructions aside. */
  readonly tokensKept: number;
  /** Whether it is more than was asked for. */
  readonly isOverBudget: boolean;
  readonly score: Omit<PanelScore, 'missed'>;
  readonly brokenRules: readonly string[];
  /** Share of the output that stands in front, unchanged. */
  readonly stableShare: number;
  readonly milliseconds: number;
}

/** A measurement, and what it found missing. */
export interface Measured {
  readonly measurement: Measurement;
  readonly labCase: LabCase;
  readonly missed: Missed;
}

export interface MeasureOptions {
  readonly level: string;
  readonly budgetTokens: number;
  readonly estimator: TokenEstimator;
  /** A clock in milliseconds. */
  readonly now: () => number;
}

/** Lets a row compact the prefix of a case, and scores the output. */
export async function measureRow(row: Row, labCase: LabCase, options: MeasureOptions): Promise<Measured> {
  const start = options.now();
  const { messages, receipt } = await runRow(row, labCase, options.budgetTokens);
  const milliseconds = options.now() - start;
  return measureOutput({ messages, receipt }, labCase, { ...options, row: row.name, milliseconds });
}

/** What stands in the place of a prefix, and the account of it where there is one. */
export interface RowOutput {
  readonly messages: readonly Message[];
  readonly receipt?: Receipt | undefined;
}

async function runRow(row: Row, { cut }: LabCase, budgetTokens: number): Promise<RowOutput> {
  const outcome = await row.attempt?.(cut, budgetTokens);
  if (outcome === undefined) return { messages: await row.compact(cut, budgetTokens) };
  const change = changeOf(outcome);
  return change === undefined
    ? { messages: cut.prefix.messages }
    : { messages: change.conversation.messages, receipt: change.receipt };
}

/** A budget may be missed by so much before it counts: estimates of parts do not add up exactly. */
const TOLERANCE = 1.02;

/** Scores an output that is there already. */
export function measureOutput(
  { messages, receipt }: RowOutput,
  labCase: LabCase,
  options: Omit<MeasureOptions, 'now'> & { readonly row: string; readonly milliseconds: number },
): Measured {
  const { cut, needs } = labCase;
  const { row, level, budgetTokens, estimator, milliseconds } = options;
  const isRetrievable = retrievableFrom(cut.prefix.messages, messages, receipt);
  const { missed, ...score } = scoreMessages(needs, messages, isRetrievable);
  const tokens = estimator.countMessages(messages);
  const measurement = {
    row,
    level,
    session: cut.session,
    tokensKept: (tokens - cut.instructionTokens) / (cut.prefixTokens - cut.instructionTokens),
    isOverBudget: tokens > budgetTokens * TOLERANCE,
    score,
    brokenRules: brokenRules(cut.prefix, messages),
    stableShare: stableShare(cut.prefix.messages, messages, estimator.countMessage),
    milliseconds,
  };
  return { measurement, labCase, missed };
}
