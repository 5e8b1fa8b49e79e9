/** What a keeper needs for each model, made from its options and remembered. */

import { type CompactionEvent, createEngine, type Engine } from '../compaction/options.ts';
import { later } from '../compaction/watch.ts';
import type { Format } from '../conversation/format.ts';
import { type Chains, createChains } from '../conversation/identity.ts';
import { type Hash, sha256 } from '../conversation/sha256.ts';
import type { Store } from '../stores/store.ts';
import { tokensWithin } from '../tokens/thresholds.ts';
import type { KeeperEvent, KeeperOptions, Schedule } from './options.ts';
import { Recent } from './recent.ts';

/** What a keeper needs to serve the requests for one model: compactor, store, clock, thresholds. */
export interface KeeperContext {
  /** That of the model: its window, its way of counting, its rules. */
  readonly engine: Engine;
  /** From which size on a compaction takes the place of what it covers. */
  readonly foldTokens: number;
  readonly store: Store;
  readonly hash: Hash;
  readonly chains: Chains;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly schedule: Schedule;
  /** Who asks for leases: a random id of this keeper. */
  readonly owner: string;
  /** Whether what leaves is kept. */
  readonly archive: boolean;
  readonly leaseMilliseconds: number;
  /** How long a request that does not fit waits for a compaction. */
  readonly patienceMilliseconds: number;
  /** Fingerprint of what shapes a checkpoint: with anything else it would be another one. */
  configurationFor(format: Format): string;
  emit(event: KeeperEvent): void;
}

const LEASE_MILLISECONDS = 30_000;
const PATIENCE_MILLISECONDS = 120_000;
/** Models whose contexts are kept at once. Names come with requests: there may be any number of them. */
const REMEMBERED_MODELS = 20;
/** Larger than any: what cannot be meant there cannot be meant anywhere. */
const ANY_WINDOW = 1e9;
/** Key for requests whose model is unknown: no model has this name. */
const NO_MODEL = '';

/**
 * The contexts of models, made when they are asked for and remembered.
 * @throws RoundfoldError `usage` for options that cannot be meant, at once and not with the first request
 */
export function createContexts(
  options: KeeperOptions,
): (model?: string, windowTokens?: number) => KeeperContext {
  const { hash = sha256, volatile } = options;
  const shared = {
    store: options.store,
    hash,
    chains: createChains({ hash, volatile }),
    now: options.now ?? Date.now,
    schedule: options.schedule ?? later,
    owner: crypto.randomUUID(),
    archive: options.archive !== false,
    leaseMilliseconds: options.leaseMilliseconds ?? LEASE_MILLISECONDS,
    patienceMilliseconds: options.patienceMilliseconds ?? PATIENCE_MILLISECONDS,
    emit: (event: KeeperEvent) => tell(options, event),
  };
  const contexts = new Recent<string, KeeperContext>(REMEMBERED_MODELS);
  const contextFor = (model = options.model ?? NO_MODEL, windowTokens = options.windowTokens) =>
    contexts.take(`${windowTokens ?? ''} ${model}`, () => {
      const engine = engineFor({ ...options, windowTokens }, model);
      return {
        ...shared,
        engine,
        foldTokens: foldTokensOf(options, engine),
        configurationFor: fingerprint(options, engine, hash),
      };
    });
  // The window may come with the first request: thresholds in tokens and in shares have to make sense in some window.
  if (options.model === undefined)
    foldTokensOf(options, engineFor({ windowTokens: ANY_WINDOW, ...options }, NO_MODEL));
  else contextFor();
  return contextFor;
}

function engineFor(options: KeeperOptions, model: string): Engine {
  return createEngine({
    ...options,
    model: model === NO_MODEL ? undefined : model,
    economy: false,
    onEvent: (event) => tell(options, event),
  });
}

function foldTokensOf({ foldAt }: KeeperOptions, { thresholds }: Engine): number {
  return foldAt === undefined ? 0 : tokensWithin('foldAt', foldAt, thresholds.windowTokens);
}

/** Names everything that shapes a checkpoint. How large the window is does not count. */
function fingerprint(
  { options = {}, configuration }: KeeperOptions,
  { strategy, summarizer, pins, bindsReasoning }: Engine,
  hash: Hash,
): (format: Format) => string {
  const shape = {
    strategy: strategy.name,
    options: Object.entries(options).toSorted(([left], [right]) => (left < right ? -1 : 1)),
    summarizer: summarizer.name,
    pins: (pins.patterns ?? []).map(String),
    bindsReasoning,
    configuration,
  };
  return ({ name }) => hash(JSON.stringify({ format: name, ...shape }));
}

/** Tells an event. A listener that throws breaks no request. */
export function tell({ onEvent }: KeeperOptions, event: KeeperEvent | CompactionEvent): void {
  try {
    onEvent?.(event);
  } catch {
    // There is no other place to report it to.
  }
}
