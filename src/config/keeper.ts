import type { Thresholds } from '../core/budget.ts';
import { createChains, type Hash } from '../core/chain.ts';
import type { Checkpoint } from '../core/checkpoint.ts';
import type { Schedule } from '../core/engine/held-lease.ts';
import type { KeeperEvent } from '../core/engine/keeper-event.ts';
import type { RunnerPorts } from '../core/engine/ports.ts';
import { createRunner } from '../core/engine/runner.ts';
import type { CompactionEvent } from '../core/events.ts';
import { type Conversation, writeConversation } from '../core/format.ts';
import type { Usage } from '../core/message.ts';
import type { Receipt } from '../core/receipt.ts';
import type { Store } from '../core/store.ts';
import type { VolatileParts } from '../core/volatile.ts';
import { foldView } from '../formats/folded/fold-view.ts';
import { unfoldView } from '../formats/folded/unfold-view.ts';
import { readConversation } from '../formats/registry.ts';
import { compactNow, type Engine } from './compaction-run.ts';
import { type CompactorOptions, createEngine } from './compactor.ts';
import { watch } from './keeper-coverage.ts';
import { fingerprint } from './keeper-fingerprint.ts';
import { measureView } from './keeper-measure.ts';
import { reduceView } from './keeper-reduce.ts';
import { keeperStrategy } from './keeper-strategy.ts';

export interface KeeperOptions
  extends Pick<
    CompactorOptions,
    | 'model'
    | 'windowTokens'
    | 'format'
    | 'strategy'
    | 'options'
    | 'summarizer'
    | 'pins'
    | 'triggerTokens'
    | 'targetTokens'
  > {
  readonly store: Store;
  /** SHA-256 as hexadecimal digits: `sha256` of `roundfold/keeper`. */
  readonly hash: Hash;
  /** Whose conversations they are, where a call does not say. Without a tenant nothing is looked up and nothing kept. */
  readonly tenant?: string | undefined;
  /** Milliseconds since 1970. Default: the clock. */
  readonly now?: (() => number) | undefined;
  /** Runs a task later; the answer calls it off. Default: a timer that keeps no process alive. */
  readonly schedule?: Schedule | undefined;
  /** How long a lease lasts without being renewed. Default 30 seconds. */
  readonly leaseMilliseconds?: number | undefined;
  /** How long a request that does not fit its window waits for a compaction. Default two minutes. */
  readonly patienceMilliseconds?: number | undefined;
  /** Conversations that are remembered in this process. Default 1000. */
  readonly rememberedConversations?: number | undefined;
  /** What clients change in messages that stay the same, on top of cache markers. */
  readonly volatile?: Partial<VolatileParts> | undefined;
  /** Whether what leaves a view is kept and can be read again. Default true. */
  readonly archive?: boolean | undefined;
  /** Tells checkpoints apart that were made with a strategy or summarizer of your own under the same name. */
  readonly configuration?: string | undefined;
  readonly onEvent?: ((event: KeeperEvent | CompactionEvent) => void) | undefined;
}

export interface PrepareOptions {
  /** What the provider reported with the newest response. */
  readonly usage?: Usage | undefined;
  /** Ends the wait of a request that does not fit. Work in the background goes on. */
  readonly signal?: AbortSignal | undefined;
  /** Instead of the keeper's own. */
  readonly tenant?: string | undefined;
}

/**
 * - `unchanged`: the very value that was given
 * - `folded`: what a checkpoint covers is replaced by what was made of it
 * - `reduced`: it would not have fitted its window, and goes out with less for this once
 * - `passed`: nobody may touch it: there is no tenant, the provider holds or manages the history itself, calls are folded
 *   into texts in a way that cannot be undone exactly, or something went wrong that nobody thought of
 */
export type PreparedStatus = 'unchanged' | 'folded' | 'reduced' | 'passed';

/** What to send. */
export interface Prepared<Value> {
  readonly value: Value;
  readonly status: PreparedStatus;
  /** What it is the view of. */
  readonly checkpoint?: Checkpoint | undefined;
  /** Accounts of what was left out for this once, step by step; missing when it fitted. */
  readonly reductions?: readonly Receipt[] | undefined;
}

/**
 * Keeps any number of conversations inside their window for clients that send all of the history with every request.
 * Conversations are known by their content alone. Nothing that goes wrong with the store or with a summary fails a
 * request.
 */
export interface Keeper {
  /** What to send instead of a request: call it once before each. Compactions run in the background. */
  prepare<Value>(value: Value, options?: PrepareOptions): Promise<Prepared<Value>>;
  /** Waits for all work in the background. */
  settle(): Promise<void>;
  /** Gives all work up and waits for its end. The store stays open. */
  close(): Promise<void>;
  readonly thresholds: Thresholds;
}

const LEASE_MILLISECONDS = 30_000;
const PATIENCE_MILLISECONDS = 120_000;
const REMEMBERED_CONVERSATIONS = 1000;

/** Makes a keeper. */
export function createKeeper(options: KeeperOptions): Keeper {
  const engine = createEngine({
    ...options,
    strategy: keeperStrategy(options),
    economy: false,
    onEvent: (event) => tell(options, event),
  });
  const runner = createRunner(portsOf(options, engine));
  return {
    thresholds: engine.thresholds,
    async prepare(value, { usage, signal, tenant = options.tenant } = {}) {
      const conversation = readConversation(value, options.format);
      if (tenant === undefined || isNotOurs(conversation)) return { value, status: 'passed' };
      // One conversation may come in two serialisations, which have no coordinates in common.
      const view = unfoldView(conversation);
      if (view.status === 'refused') {
        tell(options, { type: 'view-refused', index: view.index, reason: view.reason });
        return { value, status: 'passed' };
      }
      const prepared = await runner
        .prepare(view.conversation, { tenant, usage, signal })
        .catch((error: unknown) => {
          tell(options, { type: 'prepare-failed', error });
          return undefined;
        });
      if (prepared === undefined) return { value, status: 'passed' };
      const { checkpoint, reductions } = prepared;
      if (reductions.length === 0 && checkpoint === undefined) return { value, status: 'unchanged' };
      const folded = view.status === 'plain' ? prepared : foldView(prepared.conversation, view.foldings);
      const written = writeConversation(folded.conversation) as typeof value; // written in the shape it was read in
      return reductions.length === 0
        ? { value: written, status: 'folded', checkpoint }
        : { value: written, status: 'reduced', checkpoint, reductions };
    },
    settle: () => runner.settle(),
    close: () => runner.close(),
  };
}

/** There can be only one owner of the context. */
function isNotOurs({ frame }: Conversation): boolean {
  return frame.continues !== undefined || frame.managedBy !== undefined;
}

function portsOf(options: KeeperOptions, engine: Engine): RunnerPorts {
  const { store, hash, volatile } = options;
  return {
    store,
    hash,
    chains: createChains({ hash, volatile }),
    now: options.now ?? Date.now,
    schedule: options.schedule ?? later,
    owner: crypto.randomUUID(),
    estimator: engine.estimator,
    thresholds: engine.thresholds,
    bindsReasoning: engine.bindsReasoning,
    archive: options.archive !== false,
    leaseMilliseconds: options.leaseMilliseconds ?? LEASE_MILLISECONDS,
    patienceMilliseconds: options.patienceMilliseconds ?? PATIENCE_MILLISECONDS,
    rememberedConversations: options.rememberedConversations ?? REMEMBERED_CONVERSATIONS,
    configurationFor: fingerprint(options, engine),
    measure: (view, usage) => measureView(view, usage, engine.estimator),
    async compact({ conversation, tokens, signal, handleFor }) {
      const turn = { conversation, tokens, signal, handleFor, idleSeconds: undefined };
      const watched = watch(engine.summarizer);
      // An emergency is good for one request and for no record: with no limit there is none.
      const thresholds = { ...engine.thresholds, windowTokens: 0 };
      const { judged } = await compactNow(
        { ...engine, thresholds, summarizer: watched.summarizer },
        turn,
        'auto',
      );
      return watched.judge(judged);
    },
    reduce: (view, tokens) => reduceView(engine, view, tokens),
    emit: (event) => tell(options, event),
  };
}

/** Whoever listens cannot break a request either. */
function tell({ onEvent }: KeeperOptions, event: KeeperEvent | CompactionEvent): void {
  try {
    onEvent?.(event);
  } catch {
    // There is nobody left to tell.
  }
}

function later(task: () => void, milliseconds: number): () => void {
  const timer = setTimeout(task, milliseconds);
  // Browsers have a number here, which keeps nothing alive.
  if (typeof timer === 'object') timer.unref();
  return () => clearTimeout(timer);
}
