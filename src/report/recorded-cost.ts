import { findModel } from '../tokens/catalog.ts';
import type { RecordedCharge } from '../transcripts/charges.ts';
import { promptTokensOf } from '../transcripts/requests.ts';

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
    const cost = chargeDollars(charge);
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

/** What several sums come to. */
export function sumCosts(costs: readonly RecordedCost[]): RecordedCost {
  const sum = (key: keyof RecordedCost): number => costs.reduce((total, cost) => total + cost[key], 0);
  return {
    dollars: sum('dollars'),
    unpriced: sum('unpriced'),
    responses: sum('responses'),
    inputTokens: sum('inputTokens'),
    cacheReadTokens: sum('cacheReadTokens'),
    cacheWriteTokens: sum('cacheWriteTokens'),
    outputTokens: sum('outputTokens'),
  };
}

const PER_MILLION = 1e-6;

/** What the tokens of one response cost, in dollars per token. */
export interface ChargeRates {
  readonly input: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly cacheWriteHour: number;
  readonly output: number;
}

/**
 * The catalog's prices for a response on its day. Where there are none and the agent says what the response cost, every token
 * of it cost the same; undefined where nobody knows.
 */
export function ratesOf(charge: RecordedCharge): ChargeRates | undefined {
  const prices = charge.model === undefined ? undefined : findModel(charge.model, dayOf(charge))?.prices;
  const promptTokens = promptTokensOf(charge);
  if (prices === undefined) {
    const { recordedCost: cost, outputTokens } = charge;
    if (cost === undefined) return undefined;
    const each = cost / Math.max(1, promptTokens + outputTokens);
    return { input: each, cacheRead: each, cacheWrite: each, cacheWriteHour: each, output: each };
  }
  const { longContext } = prices;
  const isLong = longContext !== undefined && promptTokens > longContext.abovePromptTokens;
  const {
    input,
    output,
    cacheRead = input,
    cacheWrite = input,
    cacheWriteLong = cacheWrite,
  } = isLong ? longContext : prices;
  return {
    input: input * PER_MILLION,
    cacheRead: cacheRead * PER_MILLION,
    cacheWrite: cacheWrite * PER_MILLION,
    cacheWriteHour: cacheWriteLong * PER_MILLION,
    output: output * PER_MILLION,
  };
}

/** What one response cost; undefined where nobody knows. */
function chargeDollars(charge: RecordedCharge): number | undefined {
  const rates = ratesOf(charge);
  if (rates === undefined) return undefined;
  if (promptTokensOf(charge) + charge.outputTokens === 0) return charge.recordedCost;
  return (
    charge.inputTokens * rates.input +
    charge.cacheReadTokens * rates.cacheRead +
    charge.cacheWriteTokens * rates.cacheWrite +
    charge.cacheWriteHourTokens * rates.cacheWriteHour +
    charge.outputTokens * rates.output
  );
}

function dayOf({ timestamp = '' }: RecordedCharge): { readonly on?: string } {
  const day = timestamp.slice(0, 10);
  return /^\d{4}-\d\d-\d\d$/.test(day) && !Number.isNaN(Date.parse(day)) ? { on: day } : {};
}
