import type { Message } from '../core/message.ts';
import type { TokenEstimator } from '../core/token-estimator.ts';
import type { LabCase } from './lab-case.ts';
import { brokenRules, stableShare } from './legality.ts';
import { type PanelScore, scoreMessages } from './panel.ts';
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
  readonly score: Omit<PanelScore, 'missedEntities'>;
  readonly brokenRules: readonly string[];
  /** Share of the output that stands in front, unchanged. */
  readonly stableShare: number;
  readonly milliseconds: number;
}

export interface MeasureOptions {
  readonly level: string;
  readonly budgetTokens: number;
  readonly estimator: TokenEstimator;
  /** A clock in milliseconds. */
  readonly now: () => number;
}

/** Lets a row compact the prefix of a case, and scores the output. */
export async function measureRow(row: Row, labCase: LabCase, options: MeasureOptions): Promise<Measurement> {
  const start = options.now();
  const output = await row.compact(labCase.cut, options.budgetTokens);
  return measureOutput(output, labCase, { ...options, row: row.name, milliseconds: options.now() - start });
}

/** A budget may be missed by so much before it counts: estimates of parts do not add up exactly. */
const TOLERANCE = 1.02;

/** Scores an output that is there already. */
export function measureOutput(
  output: readonly Message[],
  { cut, needs }: LabCase,
  options: Omit<MeasureOptions, 'now'> & { readonly row: string; readonly milliseconds: number },
): Measurement {
  const { row, level, budgetTokens, estimator, milliseconds } = options;
  const { missedEntities: _, ...score } = scoreMessages(needs, output);
  const tokens = estimator.countMessages(output);
  return {
    row,
    level,
    session: cut.session,
    tokensKept: (tokens - cut.instructionTokens) / (cut.prefixTokens - cut.instructionTokens),
    isOverBudget: tokens > budgetTokens * TOLERANCE,
    score,
    brokenRules: brokenRules(cut.prefix, output),
    stableShare: stableShare(cut.prefix.messages, output, estimator.countMessage),
    milliseconds,
  };
}
