import { changeOf } from '../compaction/plan/strategy.ts';
import type { LabCase } from './lab-case.ts';
import type { Figures } from './measures.ts';
import type { Row } from './row.ts';
import { type CountMessages, type Missed, type RowOutput, scoreOutput } from './score.ts';

/** What one row made of one cut. Plain data, so that it can go between threads. */
export interface Measurement {
  readonly row: string;
  /** What budget was asked for, as it is called in results: `30 %`, `size of pi's own summary`. */
  readonly level: string;
  readonly session: string;
  readonly figures: Figures;
  readonly brokenRules: readonly string[];
  /** Whether more is left than was asked for. */
  readonly isOverBudget: boolean;
}

/** A measurement, and what it found missing. */
export interface Measured {
  readonly measurement: Measurement;
  readonly labCase: LabCase;
  readonly budgetTokens: number;
  readonly output: RowOutput;
  readonly missed: Missed;
}

/** A budget, and how its tokens are counted. */
export interface MeasureOptions {
  readonly level: string;
  readonly budgetTokens: number;
  readonly countMessages: CountMessages;
}

/** Lets a row compact the prefix of a case, and scores the output. */
export async function measureRow(row: Row, labCase: LabCase, options: MeasureOptions): Promise<Measured> {
  const output = await runRow(row, labCase, options.budgetTokens);
  return measureOutput(output, labCase, { ...options, row: row.name });
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
  output: RowOutput,
  labCase: LabCase,
  { row, level, budgetTokens, countMessages }: MeasureOptions & { readonly row: string },
): Measured {
  const { figures, missed } = scoreOutput(labCase, output, countMessages);
  const measurement = {
    row,
    level,
    session: labCase.cut.session,
    figures,
    brokenRules: missed.brokenRules,
    isOverBudget: countMessages(output.messages) > budgetTokens * TOLERANCE,
  };
  return { measurement, labCase, budgetTokens, output, missed };
}
