import { type AutoCompactState, afterOutcome, isSummarizerPaused } from '../compaction/breaker.ts';
import { type Change, changeOf, notCompacted } from '../compaction/plan/strategy.ts';
import { nameOfConversation } from '../conversation/chain.ts';
import type { Conversation } from '../conversation/format.ts';
import type { Checkpoint } from '../stores/checkpoint.ts';
import type { Lease } from '../stores/store.ts';
import { type Archive, openArchive } from './archive.ts';
import { buildCheckpoint, type NewCheckpoint } from './build-checkpoint.ts';
import { findCheckpoint } from './find-checkpoint.ts';
import { type HeldLease, holdLease } from './held-lease.ts';
import type { StoreOperation } from './keeper-event.ts';
import { type Piece, piecesOf } from './piece.ts';
import type { CompactionReport, RunnerPorts } from './ports.ts';
import { projectView } from './project-view.ts';
import { remember, type Track } from './track.ts';
import type { KeeperTurn } from './turn.ts';

/** What a flight is for. */
export interface FlightPlan {
  readonly turn: KeeperTurn;
  readonly track: Track;
  /** The checkpoint that the request went out with. */
  readonly base: Checkpoint | undefined;
  readonly signal: AbortSignal;
  /** Gives up what takes too long. */
  abort(): void;
}

/**
 * Compacts a conversation, or stores what was made of it before, under a lease. Never throws: whatever goes wrong is told
 * and leaves everything as it was.
 */
export async function fly(ports: RunnerPorts, plan: FlightPlan): Promise<void> {
  const { track } = plan;
  try {
    // The request that is waiting goes out first.
    await ports.letOthersRun();
    await flyUnderLease(ports, plan);
  } catch (error) {
    // A plan that does not fit its conversation, for one: the strategy may be anybody's.
    ports.emit({ type: 'compaction-failed', conversation: track.name, error });
    setState(
      ports,
      track,
      afterOutcome(track.state, notCompacted('failed', 'not-recorded', 'no record was made')),
    );
  }
}

async function flyUnderLease(ports: RunnerPorts, plan: FlightPlan): Promise<void> {
  const { track, abort } = plan;
  const name = track.unsaved?.checkpoint.conversation ?? nameOf(plan);
  const { store, owner, leaseMilliseconds: milliseconds, schedule, emit } = ports;
  const lease = await attempt(ports, 'acquire', () =>
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
    if (track.unsaved === undefined) await compactAndSave(ports, plan, held);
    else await save(ports, track, track.unsaved, held.current());
  } finally {
    held.stop();
    await attempt(ports, 'release', () => store.release(held.current()));
  }
}

/** The name of a conversation stays what it was when it was first compacted, with however few messages. */
function nameOf({ turn, base }: Pick<FlightPlan, 'turn' | 'base'>): string {
  return base?.conversation ?? nameOfConversation(turn.chain);
}

async function compactAndSave(ports: RunnerPorts, plan: FlightPlan, held: HeldLease): Promise<void> {
  const { turn, track, signal } = plan;
  // Somebody may have been faster: nothing is paid twice.
  const found = await attempt(ports, 'find', () =>
    findCheckpoint(ports.store, { ...turn, known: plan.base }),
  );
  if (found === undefined) return;
  const base = found.value;
  if (base !== undefined) remember(track, base);
  const job = jobFor(ports, plan, base);
  if (job === undefined) return;
  const { view, tokens, archive } = job;
  await ports.letOthersRun();
  const report = await runSafely(ports, track, () =>
    ports.compact({
      conversation: view,
      tokens,
      signal,
      handleFor: archive?.handleFor,
      isSummarizerPaused: isSummarizerPaused(track.state),
    }),
  );
  await ports.letOthersRun();
  const state = judge(track.state, report, signal);
  const change = changeOf(report.outcome);
  const made = change === undefined ? undefined : record(ports, { ...plan, base }, { job, change, state });
  if (change !== undefined && made === undefined) {
    const conversation = nameOf({ turn, base });
    ports.emit({
      type: 'checkpoint-refused',
      conversation,
      boundary: turn.chain.length,
      reason: 'no-cut',
    });
    const useless = notCompacted('insufficient', 'no-cut', 'nowhere to cut the conversation');
    setState(ports, track, afterOutcome(track.state, useless));
    return;
  }
  setState(ports, track, state);
  if (made !== undefined) await save(ports, track, made, held.current());
}

/** A view that is worth compacting, and where its messages come from. */
interface Job {
  readonly view: Conversation;
  readonly tokens: number;
  readonly pieces: readonly Piece[];
  readonly archive: Archive | undefined;
  readonly createdAt: number;
}

/** Undefined when there is nothing to do any more. */
function jobFor(ports: RunnerPorts, plan: FlightPlan, base: Checkpoint | undefined): Job | undefined {
  const { turn } = plan;
  const { conversation, chain, tenant } = turn;
  if (!hasNews(turn, base)) return undefined;
  const view = base === undefined ? conversation : projectView(conversation, base, { head: chain.head });
  const tokens = ports.measure(view, base === plan.base ? turn.usage : undefined);
  if (tokens < ports.thresholds.triggerTokens) return undefined;
  const raws = conversation.messages.map(({ raw }) => raw);
  const pieces = piecesOf(raws, { head: chain.head, checkpoint: base });
  const createdAt = ports.now();
  const { format } = conversation;
  const known = { tenant, conversation: nameOf({ turn, base }), format, pieces, createdAt };
  const archive = ports.archive
    ? openArchive({ ...known, hash: ports.hash, originals: raws.slice(chain.head) })
    : undefined;
  return { view, tokens, pieces, archive, createdAt };
}

function record(
  { chains, estimator }: RunnerPorts,
  { turn, base }: Pick<FlightPlan, 'turn' | 'base'>,
  { job, change, state }: { readonly job: Job; readonly change: Change; readonly state: AutoCompactState },
): NewCheckpoint | undefined {
  const { tenant, configuration, conversation, chain, cuts } = turn;
  const canonical = chains.canonicalOf(conversation.format);
  return buildCheckpoint(
    { ...job, conversation, chain, cuts, base, change, canonical, estimator },
    { tenant, configuration, conversation: nameOf({ turn, base }), state, createdAt: job.createdAt },
  );
}

function setState({ emit }: RunnerPorts, track: Track, state: AutoCompactState): void {
  const { pausedTurns: turns, reason = 'unknown' } = state;
  if (turns > track.state.pausedTurns) emit({ type: 'compaction-paused', reason, turns });
  track.state = state;
}

/** Whether there is a place behind the last checkpoint where another one could end. */
export function hasNews({ cuts }: KeeperTurn, base: Checkpoint | undefined): boolean {
  return (cuts.all().at(-1) ?? 0) > (base?.boundary ?? 0);
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

async function runSafely(
  ports: RunnerPorts,
  track: Track,
  run: () => Promise<CompactionReport>,
): Promise<CompactionReport> {
  try {
    return await run();
  } catch (error) {
    ports.emit({ type: 'compaction-failed', conversation: track.name, error });
    const outcome = notCompacted('failed', 'strategy-threw', 'the strategy failed');
    return { outcome, summarizerFailure: undefined };
  }
}

/** Stores a checkpoint. One that the store could not take, or that lost a race, is paid for and stays to be tried again. */
async function save(ports: RunnerPorts, track: Track, made: NewCheckpoint, lease: Lease): Promise<void> {
  track.unsaved = made;
  await ports.letOthersRun();
  const committed = await attempt(ports, 'commit', () => ports.store.commit({ ...made, lease }));
  if (committed === undefined) return;
  const { boundary, conversation } = made.checkpoint;
  if (committed.value === 'committed') {
    track.unsaved = undefined;
    remember(track, made.checkpoint);
    ports.emit({ type: 'checkpoint-saved', conversation, boundary });
    return;
  }
  if (committed.value !== 'fenced') track.unsaved = undefined;
  if (committed.value === 'forgotten') track.known = [];
  ports.emit({ type: 'checkpoint-refused', conversation, boundary, reason: committed.value });
}

/** Asks the store; undefined when it failed, which is told. */
export async function attempt<Value>(
  { emit }: Pick<RunnerPorts, 'emit'>,
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
