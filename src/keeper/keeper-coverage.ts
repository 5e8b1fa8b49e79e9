import type { Edit } from '../compaction/plan/plan.ts';
import { changeOf, notCompacted, type Outcome } from '../compaction/plan/strategy.ts';

/** The outcome, unless it says that messages were summarised which no summarizer has read. */
export function refuseUncovered(outcome: Outcome, hasSummary: boolean): Outcome {
  const edits = changeOf(outcome)?.plan.steps.flat() ?? [];
  if (hasSummary || !edits.some(claimsSummary)) return outcome;
  const message = 'messages would count as summarised that nobody has read';
  return notCompacted('insufficient', 'not-covered', message, outcome.usage);
}

function claimsSummary(edit: Edit): boolean {
  return edit.type === 'summarize' || (edit.type === 'drop' && edit.isSummarised === true);
}
