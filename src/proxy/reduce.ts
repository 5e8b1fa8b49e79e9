import { lowerOutput } from '../compaction/overflow/recovery.ts';
import { truncateHeadForRetry } from '../compaction/overflow/truncation.ts';
import { type Conversation, writeConversation } from '../conversation/format.ts';
import { asCount, type JsonObject } from '../conversation/json.ts';
import type { OverflowFacts } from '../formats/overflow/detect.ts';
import { readConversation } from '../formats/registry.ts';
import { findModel } from '../tokens/catalog.ts';
import type { TokenEstimator } from '../tokens/estimator.ts';
import { requestTokens } from '../tokens/measure.ts';
import type { FoldRequest } from './folder.ts';

export interface ReduceOptions extends Pick<FoldRequest, 'refusals' | 'route'> {
  readonly model: string | undefined;
  readonly estimator: TokenEstimator;
  readonly windowTokens: number | undefined;
}

/** A body for one more try. */
export interface Reduction {
  readonly value: JsonObject;
  readonly isReduced: boolean;
}

/** Share of what was refused that a first retry may have when no numbers were told. */
const ENOUGH_LESS = 0.9;

/**
 * The body with less in it, after it was refused: a lower output limit where that is the cause (once), else less history
 * with every refusal. What a view has already made smaller than what was refused, goes out as it is first.
 */
export function lessAfterRefusals(prepared: JsonObject, options: ReduceOptions): Reduction {
  const { refusals, route, estimator } = options;
  let value = prepared;
  let isReduced = false;
  let isLowered = false;
  for (const [index, { overflow, tokensSent }] of refusals.entries()) {
    const limit = isLowered ? undefined : lowered(value, overflow);
    if (limit !== undefined) {
      isLowered = true;
      isReduced = true;
      value = { ...value, [limit.field]: limit.tokens };
      continue;
    }
    const conversation = readConversation(value, route.format);
    const tokens = requestTokens(conversation, estimator);
    if (index === 0 && isEnoughLess(tokens, tokensSent, overflow)) continue;
    value = truncated(conversation, overflow, index + 1, options) ?? value;
    isReduced = true;
  }
  return { value, isReduced };
}

function isEnoughLess(tokens: number, refusedTokens: number, overflow: OverflowFacts): boolean {
  const { actualTokens, limitTokens, countIsLowerBound } = overflow;
  if (actualTokens === undefined || limitTokens === undefined || countIsLowerBound === true)
    return tokens < refusedTokens * ENOUGH_LESS;
  return (tokens * actualTokens) / Math.max(1, refusedTokens) < limitTokens;
}

function truncated(
  conversation: Conversation<JsonObject>,
  overflow: OverflowFacts,
  attempt: number,
  { estimator, windowTokens, model }: ReduceOptions,
): JsonObject | undefined {
  // The numbers led astray once already: another near miss would cost a whole request.
  const dropAtLeastTokens = attempt > 1 ? requestTokens(conversation, estimator) / 2 : 0;
  const shorter = truncateHeadForRetry(conversation, {
    ...{ estimator, overflow, attempt, windowTokens, dropAtLeastTokens },
    bindsReasoning: model !== undefined && findModel(model)?.bindsReasoning === true,
  });
  // Written in the shape it was read in.
  return shorter === null ? undefined : (writeConversation(shorter.conversation) as JsonObject);
}

/** Fields that limit the answer, in all formats that have one at the top. */
const OUTPUT_FIELDS = ['max_tokens', 'max_completion_tokens', 'max_output_tokens'];

/** The limit of the answer, and the field that says it. */
export function outputLimit(
  body: JsonObject,
): { readonly field: string; readonly tokens: number } | undefined {
  const field = OUTPUT_FIELDS.find((name) => Object.hasOwn(body, name) && asCount(body[name]) > 0);
  return field === undefined ? undefined : { field, tokens: asCount(body[field]) };
}

/** The limit that fits beside the prompt. */
function lowered(body: JsonObject, overflow: OverflowFacts): ReturnType<typeof outputLimit> {
  const limit = outputLimit(body);
  const tokens = limit === undefined ? undefined : lowerOutput(overflow, limit.tokens);
  return limit === undefined || tokens === undefined ? undefined : { field: limit.field, tokens };
}
