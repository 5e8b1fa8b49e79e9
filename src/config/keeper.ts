import type { Thresholds } from '../core/budget.ts';
import { createChains, type Hash } from '../core/chain.ts';
import type { Checkpoint } from '../core/checkpoint.ts';
import type { Schedule } from '../core/engine/held-lease.ts';
import type { KeeperEvent, PassReason } from '../core/engine/keeper-event.ts';
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
import { type Pass, whyToPass } from './keeper-pass.ts';
import { reduceView } from './keeper-reduce.ts';
import { keeperStrategy } from './keeper-strategy.ts';
import { later, letOthersRun } from './keeper-timing.ts';
import { rememberRecent } from './recent.ts';
import { sha256 } from './sha256.ts';

export interface KeeperOptions
  extends Pick<
    CompactorOptions,
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
  /** The model of requests that name none. Otherwise a call says which it is, or the request itself. */
  readonly model?: string | undefined;
  /** SHA-256, for platforms with a faster one than their `node:crypto` or, where there is none, ours. */
  readonly hash?: Hash | undefined;
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
  /** The model that the request is for, instead of the one it names: its window, its way of counting, its rules. */
  readonly model?: string | undefined;
}

/**
 * - `unchanged`: the very value that was given
 * - `folded`: what a checkpoint covers is replaced by what was made of it
 * - `reduced`: it would not have fitted its window, and goes out with less for this once
 * - `passed`: nobody may touch it, for the `reason` that is told
 */
export type PreparedStatus = 'unchanged' | 'folded' | 'reduced' | 'passed';

/** What to send. */
export interface Prepared<Value> {
  readonly value: Value;
  readonly status: PreparedStatus;
  /** Why it was passed; missing when it was not. */
  readonly reason?: PassReason | undefined;
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
  /** When a conversation with this model is compacted, and how small it gets. Default: the keeper's own model. */
  thresholdsFor(model?: string): Thresholds;
}

const LEASE_MILLISECONDS = 30_000;
const PATIENCE_MILLISECONDS = 120_000;
const REMEMBERED_CONVERSATIONS = 1000;
/** Models whose ports are kept at once. Names come with requests: there may be any number of them. */
const REMEMBERED_MODELS = 20;

/** Makes a keeper. */
export function createKeeper(options: KeeperOptions): Keeper {
  const shared = sharedBy(options);
  const runner = createRunner(options.rememberedConversations ?? REMEMBERED_CONVERSATIONS);
  const models = rememberRecent(REMEMBERED_MODELS, (model) =>
    portsOf(options, engineFor(options, model), shared),
  );
  const portsFor = (model = options.model ?? NO_MODEL) => models.take(model);
  // Options that make no sense are refused at once, not with the first request.
  portsFor();

  const pass = <Value>(value: Value, { reason, detail }: Pass): Prepared<Value> => {
    tell(options, { type: 'request-passed', reason, detail });
    return { value, status: 'passed', reason };
  };

  const serve = async (
    conversation: Conversation,
    { model = conversation.frame.model, ...call }: PrepareOptions & { readonly tenant: string },
  ) => runner.prepare(conversation, { ...call, ports: portsFor(model) });

  return {
    thresholdsFor: (model) => portsFor(model).thresholds,
    async prepare(value, { usage, signal, tenant = options.tenant, model } = {}) {
      const conversation = readConversation(value, options.format);
      if (tenant === undefined) return pass(value, { reason: 'no-tenant' });
      const why = whyToPass(conversation);
      if (why !== undefined) return pass(value, why);
      // One conversation may come in two serialisations, which have no coordinates in common.
      const view = unfoldView(conversation);
      if (view.status === 'refused') {
        tell(options, { type: 'view-refused', index: view.index, reason: view.reason });
        return pass(value, { reason: 'folded-calls', detail: view.reason });
      }
      const prepared = await serve(view.conversation, { usage, signal, tenant, model }).catch(
        (error: unknown) => {
          tell(options, { type: 'prepare-failed', error });
          return undefined;
        },
      );
      if (prepared === undefined) return pass(value, { reason: 'failed' });
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

/** No model is called that. */
const NO_MODEL = '';

function engineFor(options: KeeperOptions, model: string): Engine {
  return createEngine({
    ...options,
    model: model === NO_MODEL ? undefined : model,
    strategy: keeperStrategy(options),
    economy: false,
    onEvent: (event) => tell(options, event),
  });
}

/** What the ports of all models have in common. */
type Shared = Pick<RunnerPorts, 'hash' | 'chains' | 'owner'>;

function sharedBy({ hash = sha256, volatile }: KeeperOptions): Shared {
  return { hash, chains: createChains({ hash, volatile }), owner: crypto.randomUUID() };
}

function portsOf(options: KeeperOptions, engine: Engine, shared: Shared): RunnerPorts {
  return {
    ...shared,
    store: options.store,
    now: options.now ?? Date.now,
    schedule: options.schedule ?? later,
    letOthersRun,
    estimator: engine.estimator,
    thresholds: engine.thresholds,
    bindsReasoning: engine.bindsReasoning,
    archive: options.archive !== false,
    leaseMilliseconds: options.leaseMilliseconds ?? LEASE_MILLISECONDS,
    patienceMilliseconds: options.patienceMilliseconds ?? PATIENCE_MILLISECONDS,
    configurationFor: fingerprint({ ...options, ...shared }, engine),
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
