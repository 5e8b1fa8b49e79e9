import type { LabCase } from './lab-case.ts';
import { type Measured, measureOutput, measureRow } from './measure.ts';
import type { Row } from './row.ts';
import type { CountMessages } from './score.ts';
import { budgetFor, type Cut } from './trajectory.ts';

export interface CaseOptions {
  /** Percent of the prefix's tokens. */
  readonly budgets: readonly number[];
  /** No budget is smaller than so many tokens: short dialogues have no use for a fraction of little. Default 0. */
  readonly leastTokens?: number | undefined;
  readonly countMessages: CountMessages;
}

/** How a budget is called in results. */
export function levelName(percent: number): string {
  return `${percent} %`;
}

const RECORDED_LEVEL = 'size of ';
const RECORDED_ROW = 'recorded by ';

/** How the budget is called that a harness's own summary had. */
function recordedLevelName(harness: string): string {
  return `${RECORDED_LEVEL}${harness}'s own summary`;
}

/** Whether a level is called so. */
export function isRecordedLevel(level: string): boolean {
  return level.startsWith(RECORDED_LEVEL);
}

/** How the row of a harness's own summaries is called. */
function recordedRowName(harness: string): string {
  return `${RECORDED_ROW}${harness}`;
}

/** The harness whose summaries such a row is about; undefined for all other rows. */
export function harnessOfRow(row: string): string | undefined {
  return row.startsWith(RECORDED_ROW) ? row.slice(RECORDED_ROW.length) : undefined;
}

/** The row that does nothing. It is the same at every budget. */
export const NONE = 'none';

/**
 * Every row at every budget on one case. Where the harness itself compacted, its summary is a row more, and the budget of
 * all is the size of that.
 */
export async function measureCase(
  labCase: LabCase,
  rows: readonly Row[],
  options: CaseOptions,
): Promise<readonly Measured[]> {
  const { countMessages } = options;
  const measured: Measured[] = measureRecorded(labCase, countMessages);
  for (const row of rows) {
    for (const asked of levelsOf(row, labCase, options))
      measured.push(await measureRow(row, labCase, { ...asked, countMessages }));
  }
  return measured;
}

function measureRecorded(labCase: LabCase, countMessages: CountMessages): Measured[] {
  const { recorded } = labCase;
  if (recorded === undefined) return [];
  const options = {
    row: recordedRowName(recorded.harness),
    level: recordedLevelName(recorded.harness),
    budgetTokens: countMessages(recorded.recorded),
    countMessages,
  };
  return [measureOutput({ messages: recorded.recorded }, labCase, options)];
}

interface AskedLevel {
  readonly level: string;
  readonly budgetTokens: number;
}

function levelsOf(
  { name }: Row,
  { cut, recorded }: LabCase,
  { budgets, countMessages, leastTokens = 0 }: CaseOptions,
): readonly AskedLevel[] {
  if (recorded !== undefined) {
    const budgetTokens = countMessages(recorded.recorded);
    return [{ level: recordedLevelName(recorded.harness), budgetTokens }];
  }
  return (name === NONE ? [100] : budgets).map((percent) => askedLevel(cut, percent, leastTokens));
}

function askedLevel(cut: Cut, percent: number, leastTokens: number): AskedLevel {
  const budgetTokens = Math.max(cut.instructionTokens + leastTokens, budgetFor(cut, percent / 100));
  return { level: levelName(percent), budgetTokens };
}
