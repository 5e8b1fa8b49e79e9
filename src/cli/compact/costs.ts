import { adviceFor, type CompactionAdvice, explainAdvice } from '../../compaction/economics/advice.ts';
import { priceSetOf } from '../../compaction/economics/costs.ts';
import { changeOf } from '../../compaction/plan/strategy.ts';
import { printable } from '../../conversation/printable.ts';
import { findModel } from '../../tokens/catalog.ts';
import { thresholdsFor } from '../../tokens/thresholds.ts';
import { wrapText } from '../terminal.ts';
import type { Run } from './run.ts';

/** What a compaction costs, in words and in numbers. */
export interface Explanation {
  readonly model: string | undefined;
  readonly idleSeconds: number;
  readonly explanation: string;
  /** Undefined when nobody knows the prices, or when nothing was made smaller. */
  readonly advice: CompactionAdvice | undefined;
}

/** What the compaction costs with the next request, when it has paid, and whether this is the moment. */
export function explainCosts(run: Run): Explanation {
  const { idleSeconds, model } = run;
  const advice = adviseOn(run);
  if (advice !== undefined) return { model, idleSeconds, advice, explanation: explainAdvice(advice) };
  return { model, idleSeconds, advice, explanation: whyUnknown(run) };
}

/** The words for a terminal. */
export function drawExplanation(
  { model, advice, idleSeconds, explanation }: Explanation,
  columns: number,
): string {
  const pause = idleSeconds === 0 ? 'without a pause' : `after a pause of ${idleSeconds} s`;
  const heading = advice === undefined ? 'costs' : `costs with ${printable(model ?? '')}, ${pause}`;
  return `${heading}:\n${INDENT}${wrapText(explanation, columns, INDENT)}\n`;
}

const INDENT = '  ';

function adviseOn({
  given,
  conversation,
  engine,
  outcome,
  model,
  idleSeconds,
}: Run): CompactionAdvice | undefined {
  const info = model === undefined ? undefined : findModel(model);
  const prices = priceSetOf(info ?? {});
  const change = changeOf(outcome);
  if (info === undefined || prices === undefined || change === undefined) return undefined;
  const summaryModel = given.text('summarizerModel');
  const summaryPrices = summaryModel === undefined ? undefined : priceSetOf(findModel(summaryModel) ?? {});
  const { usage } = outcome;
  return adviceFor(conversation, change.conversation, {
    estimator: engine.estimator,
    prices,
    thresholds: thresholdsFor(info.maxInputTokens ?? info.windowTokens, {
      maxOutputTokens: info.maxOutputTokens,
    }),
    idleSeconds,
    summaryCall: usage === undefined ? undefined : { ...usage, cachedTokens: 0, prices: summaryPrices },
  });
}

function whyUnknown({ outcome, model }: Run): string {
  if (changeOf(outcome) === undefined)
    return 'Nothing was made smaller, so nothing costs more or less than before.';
  return model === undefined
    ? 'The file names no model, so nobody knows the prices. Name one with --model.'
    : `No prices are known for ${JSON.stringify(model)}. Name another model with --model to reckon with its prices.`;
}
