/** The keeper: decides for each request whether it may be touched, and gives the view to send. */

import { checkFormat, checkOptionNames } from '../compaction/options.ts';
import type { Receipt } from '../compaction/plan/receipt.ts';
import { type Conversation, writeConversation } from '../conversation/format.ts';
import type { Usage } from '../conversation/message.ts';
import { clientCompaction } from '../formats/client-compaction.ts';
import { foldView } from '../formats/folded/fold.ts';
import { unfoldView } from '../formats/folded/unfold.ts';
import { readConversation } from '../formats/registry.ts';
import type { Checkpoint, Wishes } from '../stores/store.ts';
import { knownWindow } from '../tokens/catalog.ts';
import type { Thresholds } from '../tokens/thresholds.ts';
import { createContexts, tell } from './context.ts';
import { type KeeperOptions, keeperOptionNames, type PassReason } from './options.ts';
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
  /** What a person has asked for this conversation in the meantime. Is called with every name it can have. */
  readonly wishesFor?: ((conversation: string) => Wishes | undefined) | undefined;
  /** Size of the window for this request, instead of the keeper's own and of the model's: one that an error has told. */
  readonly windowTokens?: number | undefined;
}

/**
 * - `unchanged`: the very value that was given
 * - `folded`: what a checkpoint covers is replaced by what was made of it
 * - `reduced`: it would not have fitted its window, and goes out with less for this once
 * - `passed`: it must not be touched; `reason` says why
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
  /** Whether the store has taken that checkpoint. One that it has not may end with the process; missing without any. */
  readonly isStored?: boolean | undefined;
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
  /**
   * When a conversation with this model is compacted, and how small it gets. Default: the keeper's own model, and the
   * window that it would have.
   */
  thresholdsFor(model?: string, windowTokens?: number): Thresholds;
}

const REMEMBERED_CONVERSATIONS = 1000;

/**
 * Makes a keeper.
 * @throws RoundfoldError `usage` for options that are unknown or cannot be meant
 */
export function createKeeper(options: KeeperOptions): Keeper {
  checkOptionNames(options, keeperOptionNames);
  checkFormat(options.format);
  const contextFor = createContexts(options);
  const runner = createRunner(options.rememberedConversations ?? REMEMBERED_CONVERSATIONS);

  const pass = <Value>(value: Value, { reason, detail }: Pass): Prepared<Value> => {
    tell(options, { type: 'request-passed', reason, detail });
    return { value, status: 'passed', reason };
  };

  return {
    thresholdsFor: (model, windowTokens) => contextFor(model, windowTokens).engine.thresholds,
    async prepare(
      value,
      { usage, signal, tenant = options.tenant, model: asked, windowTokens, wishesFor } = {},
    ) {
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
      const model = asked ?? conversation.frame.model ?? options.model;
      if (!isWindowKnown(options, windowTokens, model))
        return pass(value, { reason: 'unknown-model', detail: model });
      try {
        const context = contextFor(model, windowTokens);
        const prepared = await runner.prepare(view.conversation, {
          context,
          usage,
          signal,
          tenant,
          wishesFor,
        });
        const { checkpoint, isStored, reductions } = prepared;
        if (reductions.length === 0 && checkpoint === undefined) return { value, status: 'unchanged' };
        const folded = view.status === 'plain' ? prepared : foldView(prepared.conversation, view.foldings);
        const written = writeConversation(folded.conversation) as typeof value; // written in the shape it was read in
        return reductions.length === 0
          ? { value: written, status: 'folded', checkpoint, isStored }
          : { value: written, status: 'reduced', checkpoint, isStored, reductions };
      } catch (error) {
        tell(options, { type: 'prepare-failed', error });
        return pass(value, { reason: 'failed' });
      }
    },
    settle: () => runner.settle(),
    close: () => runner.close(),
  };
}

/** Why a request goes out as it came, and what of it tells so. */
interface Pass {
  readonly reason: PassReason;
  readonly detail?: string | undefined;
}

/** Why a request must not be touched: somebody else manages its context. Undefined when nobody else does. */
function whyToPass(conversation: Conversation): Pass | undefined {
  const { continues, managedBy } = conversation.frame;
  if (continues !== undefined) return { reason: 'provider-holds-history', detail: continues };
  if (managedBy !== undefined) return { reason: 'provider-compacts', detail: managedBy };
  const client = clientCompaction(conversation);
  return client === undefined ? undefined : { reason: 'client-compacts', detail: client };
}

/** Without a known window a request is left alone rather than cut by a guess. */
function isWindowKnown(
  options: KeeperOptions,
  windowTokens: number | undefined,
  model: string | undefined,
): boolean {
  return (
    (windowTokens ?? options.windowTokens) !== undefined ||
    (model !== undefined && knownWindow(model) !== undefined)
  );
}
