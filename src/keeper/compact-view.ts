/** Compacts a view for a checkpoint, or makes one request fit in an emergency. */

import { rescue } from '../compaction/emergency.ts';
import { createContext, runCompaction } from '../compaction/engine.ts';
import type { Engine, RunTurn } from '../compaction/options.ts';
import type { Edit } from '../compaction/plan/plan.ts';
import type { Receipt } from '../compaction/plan/receipt.ts';
import { changeOf, notCompacted, type Outcome } from '../compaction/plan/strategy.ts';
import type { Conversation } from '../conversation/format.ts';
import { requestTokens } from '../tokens/measure.ts';

/** What came of a compaction. */
export interface CompactionReport {
  readonly outcome: Outcome;
  /** Why the configured summarizer wrote nothing, where it was asked and did not. */
  readonly summarizerFailure: string | undefined;
}

/** One automatic compaction of a view, of which a record can be made. */
export async function compactView(
  engine: Engine,
  view: Omit<RunTurn, 'idleSeconds'>,
  isSummarizerPaused: boolean,
): Promise<CompactionReport> {
  const turn = { ...view, idleSeconds: undefined };
  // An emergency is good for one request and for no record.
  const order = { trigger: 'auto', isSummarizerPaused, mayDrop: false } as const;
  const { judged, summarizerFailure, hasSummary = false } = await runCompaction(engine, turn, order);
  return { outcome: hasSummary ? judged : refuseUncovered(judged), summarizerFailure };
}

/** The outcome, unless it says that messages were summarised: no summarizer has read them. */
function refuseUncovered(outcome: Outcome): Outcome {
  const edits = changeOf(outcome)?.plan.steps.flat() ?? [];
  if (!edits.some(claimsSummary)) return outcome;
  const message = 'messages would count as summarised that nobody has read';
  return notCompacted('insufficient', 'not-covered', message, outcome.usage);
}

function claimsSummary(edit: Edit): boolean {
  return edit.type === 'summarize' || (edit.type === 'drop' && edit.isSummarised === true);
}

/** A request that is made smaller this once, without a checkpoint. */
export interface Reduced {
  readonly conversation: Conversation;
  readonly tokens: number;
  /** One for each step; empty when nothing was left out. */
  readonly receipts: readonly Receipt[];
}

/** A request that fits, for this once: what an emergency makes of it. Nothing of it is stored. No model is asked. */
export async function reduceView(engine: Engine, view: Conversation, tokens: number): Promise<Reduced> {
  const turn = { conversation: view, tokens, idleSeconds: undefined, signal: undefined };
  const context = createContext(engine, turn, { trigger: 'overflow', isSummarizerPaused: true });
  // Off means off, also in an emergency.
  const reason = engine.strategy.name === 'none' ? 'off' : 'not-tried';
  const outcome = await rescue(engine, turn, { outcome: notCompacted('skipped', reason, ''), context });
  const change = changeOf(outcome);
  if (change === undefined) return { conversation: view, tokens, receipts: [] };
  const scale = tokens / Math.max(1, requestTokens(view, engine.estimator));
  const { conversation, receipt } = change;
  return {
    conversation,
    tokens: Math.round(requestTokens(conversation, engine.estimator) * scale),
    receipts: [receipt],
  };
}
