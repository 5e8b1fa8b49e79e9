import { measureRequest } from '../compaction/compactor.ts';
import { runCompaction } from '../compaction/engine.ts';
import {
  type CompactionEvent,
  checkFormat,
  checkOptionNames,
  createEngine,
  type Engine,
} from '../compaction/options.ts';
import type { Receipt } from '../compaction/plan/receipt.ts';
import { later, letOthersRun } from '../compaction/watch.ts';
import { createChains } from '../conversation/chain.ts';
import { type Conversation, writeConversation } from '../conversation/format.ts';
import type { Usage } from '../conversation/message.ts';
import { sha256 } from '../conversation/sha256.ts';
import { foldView } from '../formats/folded/fold-view.ts';
import { unfoldView } from '../formats/folded/unfold-view.ts';
import { readConversation } from '../formats/registry.ts';
import type { Checkpoint } from '../stores/checkpoint.ts';
import { knownWindow } from '../tokens/catalog.ts';
import type { Thresholds } from '../tokens/thresholds.ts';
import { refuseUncovered } from './keeper-coverage.ts';
import type { KeeperEvent, PassReason } from './keeper-event.ts';
import { fingerprint } from './keeper-fingerprint.ts';
import { type KeeperOptions, keeperOptionNames } from './keeper-options.ts';
import { type Pass, whyToPass } from './keeper-pass.ts';
import { reduceView } from './keeper-reduce.ts';
import type { RunnerPorts } from './ports.ts';
import { rememberRecent } from './recent.ts';
import { createRunner } from './runner.ts';

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

/**
 * Makes a keeper.
 * @throws RoundfoldError `usage` for options that are unknown or cannot be meant
 */
export function createKeeper(options: KeeperOptions): Keeper {
  checkOptionNames(options, keeperOptionNames);
  checkFormat(options.format);
  const shared = sharedBy(options);
  const runner = createRunner(options.rememberedConversations ?? REMEMBERED_CONVERSATIONS);
  const models = rememberRecent(REMEMBERED_MODELS, (model) =>
    portsOf(options, engineFor(options, model), shared),
  );
  const portsFor = (model = options.model ?? NO_MODEL) => models.take(model);
  // Options that make no sense are refused at once, not with the first request; the window may come with that.
  if (options.model === undefined) engineFor({ windowTokens: 0, ...options }, NO_MODEL);
  else portsFor();

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
      const window = model ?? conversation.frame.model ?? options.model;
      if (!isWindowKnown(options, window)) return pass(value, { reason: 'unknown-model', detail: window });
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

/** Without a window nobody can say what fits: such a request is left alone rather than cut by a guess. */
function isWindowKnown({ windowTokens }: KeeperOptions, model: string | undefined): boolean {
  return windowTokens !== undefined || (model !== undefined && knownWindow(model) !== undefined);
}

/** No model is called that. */
const NO_MODEL = '';

function engineFor(options: KeeperOptions, model: string): Engine {
  return createEngine({
    ...options,
    model: model === NO_MODEL ? undefined : model,
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
    measure: (view, usage) => measureRequest(view, usage, engine.estimator),
    async compact({ conversation, tokens, signal, handleFor, isSummarizerPaused }) {
      const turn = { conversation, tokens, signal, handleFor, idleSeconds: undefined };
      // An emergency is good for one request and for no record.
      const order = { trigger: 'auto', isSummarizerPaused, mayDrop: false } as const;
      const { judged, summarizerFailure, hasSummary = false } = await runCompaction(engine, turn, order);
      return { outcome: refuseUncovered(judged, hasSummary), summarizerFailure };
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
