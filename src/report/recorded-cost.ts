import { findModel } from '../tokens/catalog.ts';
import type { RecordedCharge } from '../transcripts/charges.ts';

/** What recorded responses cost at list prices, in dollars. */
export interface RecordedCost {
  readonly dollars: number;
  /** Responses whose model has no known price, and of which the agent does not say what they cost. */
  readonly unpriced: number;
  readonly responses: number;
  readonly inputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
  readonly outputTokens: number;
}

/** The sum over all responses, each at the prices of its day. */
export function recordedCost(charges: readonly RecordedCharge[]): RecordedCost {
  let dollars = 0;
  let unpriced = 0;
  for (const charge of charges) {
    const cost = chargeDollars(charge) ?? charge.recordedCost;
    if (cost === undefined) unpriced++;
    else dollars += cost;
  }
  const sum = (count: (charge: RecordedCharge) => number): number =>
    charges.reduce((total, charge) => total + count(charge), 0);
  return {
    dollars,
    unpriced,
    responses: charges.length,
    inputTokens: sum(({ inputTokens }) => inputTokens),
    cacheReadTokens: sum(({ cacheReadTokens }) => cacheReadTokens),
    cacheWriteTokens: sum((charge) => charge.cacheWriteTokens + charge.cacheWriteHourTokens),
    outputTokens: sum(({ outputTokens }) => outputTokens),
  };
}

const PER_MILLION = 1e-6;

/** What one response cost at the catalog's prices; undefined where the model or its prices are not known. */
function chargeDollars(charge: RecordedCharge): number | undefined {
  const { inputTokens, cacheReadTokens, cacheWriteTokens, cacheWriteHourTokens, outputTokens } = charge;
  const prices = charge.model === undefined ? undefined : findModel(charge.model, dayOf(charge))?.prices;
  if (prices === undefined) return undefined;
  const promptTokens = inputTokens + cacheReadTokens + cacheWriteTokens + cacheWriteHourTokens;
  const { longContext } = prices;
  const isLong = longContext !== undefined && promptTokens > longContext.abovePromptTokens;
  const {
    input,
    output,
    cacheRead = input,
    cacheWrite = input,
    cacheWriteLong = cacheWrite,
  } = isLong ? longContext : prices;
  return (
    PER_MILLION *
    (inputTokens * input +
      cacheReadTokens * cacheRead +
      cacheWriteTokens * cacheWrite +
      cacheWriteHourTokens * cacheWriteLong +
      outputTokens * output)
  );
}

function dayOf({ timestamp = '' }: RecordedCharge): { readonly on?: string } {
  const day = timestamp.slice(0, 10);
  return /^\d{4}-\d\d-\d\d$/.test(day) && !Number.isNaN(Date.parse(day)) ? { on: day } : {};
}
