/** Options and events of a compactor, and how options are checked. */

import { RoundfoldError } from '../conversation/errors.ts';
import { findFormat, formats } from '../formats/registry.ts';
import { memory } from '../memory/summarizer.ts';
import type { Summarizer, SummaryFailure } from '../memory/summary-request.ts';
import { findModel, knownWindow } from '../tokens/catalog.ts';
import { createTokenEstimator, type TokenEstimator } from '../tokens/estimator.ts';
import type { ModelInfo } from '../tokens/model-info.ts';
import { tokenProfileForModel } from '../tokens/profiles.ts';
import { type Thresholds, type TokenWarningState, thresholdsFor } from '../tokens/thresholds.ts';
import type { AutoCompactState } from './breaker.ts';
import type { CompactionAdvice } from './economics/advice.ts';
import { type PriceSet, priceSetOf, type RewriteQuote } from './economics/costs.ts';
import { Economy, type Turn } from './economics/economy.ts';
import type { CostLedger } from './economics/ledger.ts';
import type { PinOptions } from './plan/pins.ts';
import type { HandleFor } from './plan/receipt.ts';
import type { CompactTrigger, Outcome, Strategy } from './plan/strategy.ts';
import { createStrategy } from './strategies/registry.ts';
import { LONGEST_TIMEOUT_MS } from './watch.ts';

/** What shapes every run. One of `model` and `windowTokens` is needed. */
export interface EngineOptions {
  /** The model that the conversation is for: its window, its way of counting, its rules, its prices. */
  readonly model?: string | undefined;
  /** Size of the window, instead of the model's. 0 has no limit. */
  readonly windowTokens?: number | undefined;
  /** What the model may answer with, at most, instead of the model's own limit. */
  readonly maxOutputTokens?: number | undefined;
  /** When an automatic run is due: tokens, or a share of the window (up to 1). Default: what leaves room for the answer. */
  readonly trigger?: number | undefined;
  /** How small a run tries to get: tokens, or a share of the window. Default: what is cheapest, a third of the trigger or more. */
  readonly target?: number | undefined;
  /** Counts the tokens of a text, instead of the built-in estimate for the model. */
  readonly countTokens?: ((text: string) => number) | undefined;
  /** Name of a strategy, or one of your own. Default `ladder`. */
  readonly strategy?: string | Strategy | undefined;
  /** Options of a strategy that is given by name. */
  readonly options?: Readonly<Record<string, unknown>> | undefined;
  /** Writes the summaries. Default: the digest, which needs no model and takes over from any other that fails. */
  readonly summarizer?: Summarizer | undefined;
  /** Milliseconds that a summarizer may take. Default two minutes. */
  readonly summarizerTimeout?: number | undefined;
  readonly pins?: PinOptions | undefined;
  readonly onEvent?: ((event: CompactionEvent) => void) | undefined;
}

export interface CompactorOptions extends EngineOptions {
  /** Wire format, when it shall not be recognised. */
  readonly format?: string | undefined;
  /** What is remembered between turns, from a store. */
  readonly state?: AutoCompactState | undefined;
  /**
   * Whether to ask what a compaction costs. Below the trigger it then runs already when it is free or pays: after a pause
   * in which the prompt cache has expired, above a price step for long prompts, or when what was saved covers it. A
   * strategy may be run for a plan that is not applied. Does nothing without prices. Default true.
   */
  readonly economy?: boolean | undefined;
  /** What tokens cost and how they are cached. Default: the list prices of the model, where they are known. */
  readonly prices?: PriceSet | undefined;
  /** What was paid and saved so far, from a store. */
  readonly ledger?: CostLedger | undefined;
  /** Milliseconds since some moment, by which pauses are known. Default: the clock. */
  readonly now?: (() => number) | undefined;
}

/** Options that compactors and keepers share. */
export const engineOptionNames: Readonly<Record<keyof EngineOptions, true>> = {
  model: true,
  windowTokens: true,
  maxOutputTokens: true,
  trigger: true,
  target: true,
  countTokens: true,
  strategy: true,
  options: true,
  summarizer: true,
  summarizerTimeout: true,
  pins: true,
  onEvent: true,
};

const OPTION_NAMES: Readonly<Record<keyof CompactorOptions, true>> = {
  ...engineOptionNames,
  format: true,
  state: true,
  economy: true,
  prices: true,
  ledger: true,
  now: true,
};

const SUMMARIZER_TIMEOUT = 120_000;

/**
 * Refuses unknown options: they would do nothing, without a word.
 * @throws RoundfoldError `usage`
 */
export function checkOptionNames(
  options: object,
  names: Readonly<Record<string, true>> = OPTION_NAMES,
): void {
  const unknown = Object.keys(options).find((name) => !Object.hasOwn(names, name));
  if (unknown === undefined) return;
  throw new RoundfoldError('usage', `unknown option ${JSON.stringify(unknown)}`, {
    remedy: `Known: ${Object.keys(names).join(', ')}.`,
  });
}

/**
 * What all runs with these options have in common.
 * @throws RoundfoldError `usage` for numbers, names and times that cannot be meant
 */
export function createEngine(
  options: EngineOptions & Pick<CompactorOptions, 'economy' | 'prices' | 'ledger'>,
): Engine {
  const info = options.model === undefined ? undefined : findModel(options.model);
  const { strategy: chosen = 'ladder', summarizerTimeout = SUMMARIZER_TIMEOUT } = options;
  const thresholds = readThresholds(options, info);
  if (!(summarizerTimeout > 0 && summarizerTimeout <= LONGEST_TIMEOUT_MS)) {
    throw new RoundfoldError('usage', `summarizerTimeout is ${summarizerTimeout}`, {
      remedy: `Give milliseconds from 1 to ${LONGEST_TIMEOUT_MS}.`,
    });
  }
  const estimator = createTokenEstimator({
    profile: tokenProfileForModel(options.model),
    ...(options.countTokens === undefined ? {} : { countText: options.countTokens }),
  });
  const prices = options.prices ?? priceSetOf(info ?? {});
  const isAsked = options.economy !== false && prices !== undefined;
  return {
    thresholds,
    estimator,
    strategy: typeof chosen === 'string' ? createStrategy(chosen, options.options) : chosen,
    summarizer: options.summarizer ?? defaultSummarizer,
    summarizerTimeout,
    pins: options.pins ?? {},
    bindsReasoning: info?.bindsReasoning === true,
    economy: isAsked ? new Economy({ prices, thresholds, estimator, ledger: options.ledger }) : undefined,
    emit: (event) => options.onEvent?.(event),
  };
}

function readThresholds(options: EngineOptions, info: ModelInfo | undefined): Thresholds {
  const { trigger, target } = options;
  const maxOutputTokens = options.maxOutputTokens ?? info?.maxOutputTokens;
  return thresholdsFor(windowOf(options, info), { maxOutputTokens, trigger, target });
}

function windowOf({ windowTokens, model }: EngineOptions, info: ModelInfo | undefined): number {
  const known =
    windowTokens ?? info?.maxInputTokens ?? (model === undefined ? undefined : knownWindow(model));
  if (known !== undefined) return known;
  const what =
    model === undefined
      ? 'neither model nor windowTokens is given'
      : `nobody knows the window of ${JSON.stringify(model)}`;
  throw new RoundfoldError('usage', what, {
    remedy: 'Give windowTokens, the tokens that the context window has (0 for no limit).',
  });
}

/**
 * Refuses a wire format that does not exist, before a conversation comes.
 * @throws RoundfoldError `usage`
 */
export function checkFormat(format: string | undefined): void {
  if (format === undefined || findFormat(format) !== undefined) return;
  throw new RoundfoldError('usage', `unknown format ${JSON.stringify(format)}`, {
    remedy: `Known: ${formats.map(({ name }) => name).join(', ')}.`,
  });
}

/** What all runs with the same options have in common. */
export interface Engine {
  readonly thresholds: Thresholds;
  readonly estimator: TokenEstimator;
  readonly strategy: Strategy;
  readonly summarizer: Summarizer;
  /** Milliseconds that a summarizer may take. */
  readonly summarizerTimeout: number;
  readonly pins: PinOptions;
  readonly bindsReasoning: boolean;
  /** Undefined when costs are not asked for, or prices are not known. */
  readonly economy: Economy | undefined;
  readonly emit: (event: CompactionEvent) => void;
}

/** A turn with the means to stop it. */
export interface RunTurn extends Turn {
  readonly signal: AbortSignal | undefined;
  /** Names what leaves, where it is kept. */
  readonly handleFor?: HandleFor | undefined;
}

/** Writes the summaries unless another summarizer is configured. Needs no model. */
export const defaultSummarizer: Summarizer = memory;

/** What a compactor tells those who listen. Only the outcome of a compaction holds messages; the rest is safe to log. */
export type CompactionEvent =
  | { readonly type: 'compaction-start'; readonly trigger: CompactTrigger; readonly tokens: number }
  | { readonly type: 'compaction-end'; readonly trigger: CompactTrigger; readonly outcome: Outcome }
  | ({
      /** Whether a planned compaction pays. Costs are in USD, `tokens` those of the request as it is and as it would be. */
      readonly type: 'compaction-advice';
      readonly tokens: number;
      readonly tokensAfter: number;
    } & Pick<CompactionAdvice, 'verdict' | 'reason' | 'spendable'> &
      Pick<RewriteQuote, 'keepCost' | 'rewriteCost' | 'breakEvenTurns'>)
  | {
      readonly type: 'token-warning';
      readonly level: TokenWarningState;
      readonly tokens: number;
      readonly windowTokens: number;
    }
  | {
      readonly type: 'compaction-paused';
      readonly reason: string;
      readonly turns: number;
      /** Which one it is, where several are kept. */
      readonly conversation?: string | undefined;
    }
  | {
      /** The configured summarizer wrote nothing, and our own did in the same run. */
      readonly type: 'summarizer-failed';
      readonly summarizer: string;
      readonly reason: SummaryFailure;
      /** For people. */
      readonly message: string;
    }
  | { readonly type: 'summarizer-paused'; readonly reason: string; readonly turns: number };
