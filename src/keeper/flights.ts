/** Compactions in the background: one per conversation, under a lease of the store. */

import { type AutoCompactState, afterOutcome, isSummarizerPaused } from '../compaction/breaker.ts';
import { measureRequest } from '../compaction/compactor.ts';
import type { Engine } from '../compaction/options.ts';
import { changeOf, notCompacted } from '../compaction/plan/strategy.ts';
import { letOthersRun } from '../compaction/watch.ts';
import { nameOfConversation } from '../conversation/identity.ts';
import type { Message } from '../conversation/message.ts';
import type { Checkpoint, Lease, Store } from '../stores/store.ts';
import { openArchive } from './archive.ts';
import {
  buildCheckpoint,
  type CompactedView,
  findCheckpoint,
  type KeeperTurn,
  type NewCheckpoint,
} from './checkpoints.ts';
import { type CompactionReport, compactView } from './compact-view.ts';
import type { KeeperContext } from './context.ts';
import type { Schedule, StoreOperation } from './options.ts';
import { remember, type Track } from './tracks.ts';
import { type Piece, piecesOf, projectView } from './views.ts';

/** The request for which a compaction runs in the background (a flight). */
export interface FlightPlan {
  readonly turn: KeeperTurn;
  readonly track: Track;
  /** The checkpoint that the request went out with. */
  readonly base: Checkpoint | undefined;
  readonly signal: AbortSignal;
  /** Aborts the run, which takes too long. */
  abort(): void;
}

/**
 * Compacts a conversation, or stores what was made of it before, under a lease. Never throws: whatever goes wrong is told
 * and leaves everything as it was.
 */
export async function fly(context: KeeperContext, plan: FlightPlan): Promise<void> {
  const { track, signal } = plan;
  try {
    // The request that is waiting goes out first.
    await letOthersRun();
    await flyUnderLease(context, plan);
  } catch (error) {
    // The strategy may be anybody's: it throws, or makes a plan that does not fit the conversation.
    context.emit({ type: 'compaction-failed', conversation: track.name, error });
    const outcome = notCompacted('failed', 'strategy-threw', 'the strategy failed');
    setState(context, track, judge(track.state, { outcome, summarizerFailure: undefined }, signal));
  }
}

async function flyUnderLease(context: KeeperContext, plan: FlightPlan): Promise<void> {
  const { track, abort } = plan;
  const name = track.unsaved?.checkpoint.conversation ?? nameOf(plan);
  const { store, owner, leaseMilliseconds: milliseconds, schedule, emit } = context;
  const lease = await attempt(context, 'acquire', () =>
    store.acquire({ tenant: track.tenant, key: name, owner, milliseconds }),
  );
  if (lease === undefined) return;
  if (lease.value === undefined) {
    emit({ type: 'lease-held', conversation: name });
    return;
  }
  const onFailure = (error: unknown) => emit({ type: 'store-failed', operation: 'renew', error });
  const held = holdLease(store, lease.value, { milliseconds, schedule, onFailure, onOverdue: abort });
  try {
    if (track.unsaved === undefined) await compactAndSave(context, plan, held);
    else await save(context, track, track.unsaved, held.current());
  } finally {
    held.stop();
    await attempt(context, 'release', () => store.release(held.current()));
  }
}

/** The name of a conversation stays what it was when it was first compacted, with however few messages. */
function nameOf({ turn, base }: Pick<FlightPlan, 'turn' | 'base'>): string {
  return base?.conversation ?? nameOfConversation(turn.chain);
}

async function compactAndSave(context: KeeperContext, plan: FlightPlan, held: HeldLease): Promise<void> {
  const { turn, track, signal } = plan;
  // Another process may have compacted it in the meantime: nothing is paid twice.
  const found = await attempt(context, 'find', () =>
    findCheckpoint(context.store, { ...turn, known: plan.base }),
  );
  if (found === undefined) return;
  const base = found.value;
  if (base !== undefined) remember(track, base);
  const job = jobFor(context, plan, base);
  if (job === undefined) return;
  await letOthersRun();
  const { view, archive, name } = job;
  const report = await compactView(
    withPins(context.engine, turn.pinned ?? [], job.pieces),
    { conversation: view, tokens: job.tokens, signal, handleFor: archive?.handleFor },
    isSummarizerPaused(track.state),
  );
  const { usage } = report.outcome;
  const { model } = context.engine.summarizer;
  if (usage !== undefined)
    context.emit({ type: 'summary-paid', tenant: track.tenant, conversation: name, model, usage });
  await letOthersRun();
  const state = judge(track.state, report, signal);
  const change = changeOf(report.outcome);
  if (change === undefined) {
    setState(context, track, state);
    return;
  }
  const { chains, engine } = context;
  const made = buildCheckpoint({ ...job, change, state }, { chains, estimator: engine.estimator });
  if (made === undefined) {
    const boundary = turn.chain.length;
    context.emit({ type: 'checkpoint-refused', conversation: name, boundary, reason: 'no-cut' });
    const useless = notCompacted('insufficient', 'no-cut', 'nowhere to cut the conversation');
    setState(context, track, afterOutcome(track.state, useless));
    return;
  }
  setState(context, track, state);
  await save(context, track, made, held.current());
}

/** The engine, which leaves some original messages as they are. */
function withPins(engine: Engine, pinned: readonly number[], pieces: readonly Piece[]): Engine {
  if (pinned.length === 0) return engine;
  const places = new Set(pinned);
  const raws = new Set(
    pieces.filter(({ from }) => from !== undefined && places.has(from)).map(({ raw }) => raw),
  );
  const isPinned = (message: Message) => raws.has(message.raw) || engine.pins.isPinned?.(message) === true;
  return { ...engine, pins: { ...engine.pins, isPinned } };
}

/** A view that is worth compacting, and where its messages come from. */
interface Job extends Omit<CompactedView, 'change' | 'state'> {
  readonly tokens: number;
}

/** Undefined when there is nothing to do any more. */
function jobFor(context: KeeperContext, plan: FlightPlan, base: Checkpoint | undefined): Job | undefined {
  const { turn } = plan;
  const { conversation, chain, tenant } = turn;
  if (!hasNews(turn, base)) return undefined;
  const { engine, hash } = context;
  const view = base === undefined ? conversation : projectView(conversation, base, { head: chain.head });
  const usage = base === plan.base ? turn.usage : undefined;
  const tokens = measureRequest(view, usage, engine.estimator);
  if (tokens < engine.thresholds.triggerTokens) return undefined;
  const pieces = piecesOf(conversation.messages, { head: chain.head, checkpoint: base });
  const name = nameOf({ turn, base });
  const createdAt = context.now();
  const { format } = conversation;
  const originals = conversation.messages.slice(chain.head).map(({ raw }) => raw);
  const archive = context.archive
    ? openArchive({ hash, tenant, conversation: name, format, originals, pieces, createdAt })
    : undefined;
  return { turn, name, view, tokens, pieces, base, archive, createdAt };
}

function setState({ emit }: KeeperContext, track: Track, state: AutoCompactState): void {
  const { pausedTurns: turns, reason = 'unknown' } = state;
  if (turns > track.state.pausedTurns)
    emit({ type: 'compaction-paused', reason, turns, conversation: track.name });
  track.state = state;
}

/** Whether there is a place behind the last checkpoint where another one could end. */
export function hasNews({ cuts }: KeeperTurn, base: Checkpoint | undefined): boolean {
  return (cuts.at(-1) ?? 0) > (base?.boundary ?? 0);
}

/** A run that was given up from outside says nothing about the next. */
function judge(
  state: AutoCompactState,
  { outcome, summarizerFailure }: CompactionReport,
  signal: AbortSignal,
): AutoCompactState {
  const isGivenUp = signal.aborted && changeOf(outcome) === undefined;
  return isGivenUp ? state : afterOutcome(state, outcome, summarizerFailure);
}

/** Stores a checkpoint. One that the store could not take, or that lost a race, is paid for and stays to be tried again. */
async function save(context: KeeperContext, track: Track, made: NewCheckpoint, lease: Lease): Promise<void> {
  track.unsaved = made;
  track.unstored.add(made.checkpoint);
  await letOthersRun();
  const committed = await attempt(context, 'commit', () => context.store.commit({ ...made, lease }));
  if (committed === undefined) return;
  const { boundary, conversation } = made.checkpoint;
  if (committed.value === 'committed' || committed.value === 'known') track.unstored.delete(made.checkpoint);
  if (committed.value === 'committed') {
    track.unsaved = undefined;
    remember(track, made.checkpoint);
    context.emit({ type: 'checkpoint-saved', conversation, boundary });
    return;
  }
  if (committed.value !== 'fenced') track.unsaved = undefined;
  if (committed.value === 'forgotten') track.known = [];
  context.emit({ type: 'checkpoint-refused', conversation, boundary, reason: committed.value });
}

/** Asks the store; undefined when it failed, which is told. */
export async function attempt<Value>(
  { emit }: Pick<KeeperContext, 'emit'>,
  operation: StoreOperation,
  ask: () => Promise<Value>,
): Promise<{ readonly value: Value } | undefined> {
  try {
    return { value: await ask() };
  } catch (error) {
    emit({ type: 'store-failed', operation, error });
    return undefined;
  }
}

/** Renewals after which a run has had its time: ten times the time of a lease. */
const MOST_RENEWALS = 30;

interface HeldLease {
  /** The lease as it is now. */
  current(): Lease;
  /** Ends the renewals. */
  stop(): void;
}

interface HoldOptions {
  readonly milliseconds: number;
  readonly schedule: Schedule;
  /** The store could not be asked; it is asked again. */
  onFailure(error: unknown): void;
  /** The run takes too long: the lease is left to run out. */
  onOverdue(): void;
}

/** Renews a lease whenever a third of its time has passed. One that was lost is not taken back. */
function holdLease(store: Store, lease: Lease, options: HoldOptions): HeldLease {
  const { milliseconds, schedule, onFailure, onOverdue } = options;
  let current = lease;
  let isOver = false;
  let renewals = 0;
  let cancel = schedule(renew, milliseconds / 3);

  function renew(): void {
    if (isOver) return;
    renewals++;
    if (renewals > MOST_RENEWALS) {
      isOver = true;
      onOverdue();
      return;
    }
    store
      .renew(current, milliseconds)
      .then((renewed) => {
        if (renewed === undefined) isOver = true;
        else current = renewed;
      }, onFailure)
      .finally(() => {
        if (!isOver) cancel = schedule(renew, milliseconds / 3);
      });
  }

  return {
    current: () => current,
    stop() {
      isOver = true;
      cancel();
    },
  };
}
