/** Serves requests: checkpoint, view, and the compaction in the background when one is due. */

import { afterTurn } from '../compaction/breaker.ts';
import { measureRequest } from '../compaction/compactor.ts';
import type { Receipt } from '../compaction/plan/receipt.ts';
import { letOthersRun } from '../compaction/watch.ts';
import type { Conversation } from '../conversation/format.ts';
import { namesOfConversation } from '../conversation/identity.ts';
import type { Usage } from '../conversation/message.ts';
import type { Hash } from '../conversation/sha256.ts';
import type { Checkpoint, Wishes } from '../stores/store.ts';
import { shouldContextCollapse } from '../tokens/thresholds.ts';
import { findCheckpoint, isTrueOf, type KeeperTurn, readTurn } from './checkpoints.ts';
import { reduceView } from './compact-view.ts';
import type { KeeperContext } from './context.ts';
import { attempt, fly, hasNews } from './flights.ts';
import { inTime } from './in-time.ts';
import { remember, type Track, Tracks } from './tracks.ts';
import { projectView } from './views.ts';

export interface RunnerCall {
  /** The context of the request's model. */
  readonly context: KeeperContext;
  readonly tenant: string;
  readonly usage?: Usage | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly wishesFor?: ((conversation: string) => Wishes | undefined) | undefined;
}

/** What to send. */
export interface PreparedConversation {
  readonly conversation: Conversation;
  /** The checkpoint whose view it is. */
  readonly checkpoint: Checkpoint | undefined;
  /** Whether the store has that checkpoint. */
  readonly isStored: boolean;
  /** Accounts of what was left out of this request alone, step by step; empty when it fitted. */
  readonly reductions: readonly Receipt[];
}

export interface Runner {
  prepare(conversation: Conversation, call: RunnerCall): Promise<PreparedConversation>;
  /** Waits for all work in the background. */
  settle(): Promise<void>;
  /** Gives all work up, and waits for its end. The store stays open. */
  close(): Promise<void>;
}

/** A view that could be sent. */
interface View {
  readonly checkpoint: Checkpoint | undefined;
  readonly conversation: Conversation;
  readonly tokens: number;
}

/** Serves requests: finds the checkpoint of each conversation, shows its view, and has it compacted in the background. */
export function createRunner(rememberedConversations: number): Runner {
  const tracks = new Tracks(rememberedConversations);
  const controller = new AbortController();

  const settle = async () => {
    for (let flights = tracks.flights(); flights.length > 0; flights = tracks.flights())
      await Promise.all(flights);
  };

  return {
    async prepare(conversation, { context, tenant, usage, signal, wishesFor }) {
      const configuration = context.configurationFor(conversation.format);
      const read = readTurn(conversation, context.chains, { tenant, configuration, usage, signal });
      let turn = wishesFor === undefined ? read : withWishes(read, wishesFor, context.hash);
      const track = tracks.of(tenant, turn.chain, (checkpoint) => isTrueOf(checkpoint, turn));
      const found = await findFor(context, turn, track);
      // Hashing a long conversation and counting it both take long: others have a turn in between.
      await letOthersRun();
      let newest = viewOf(context, turn, { track, checkpoint: found });
      let view = await viewInForce(context, turn, { track, newest });
      const { windowTokens } = context.engine.thresholds;
      if (turn.upTo !== undefined && shouldContextCollapse(view.tokens, windowTokens)) {
        // To be folded after all is better than to be sent with something left out.
        turn = { ...turn, upTo: undefined };
        newest = viewOf(context, turn, { track, checkpoint: await findFor(context, turn, track) });
        view = newest;
      }
      // A provider that counts more than we do is reason enough to use what is ready.
      if (shouldContextCollapse(view.tokens, windowTokens)) view = newest;
      const isReady = view !== newest;
      const isStarted = startIfDue(context, { turn, track, view, isReady, closing: controller });
      if (!isStarted && track.flight === undefined) track.state = afterTurn(track.state);
      if (shouldContextCollapse(view.tokens, windowTokens) && track.flight !== undefined) {
        await waitFor(track.flight.done, context, signal);
        view = viewOf(context, turn, { track, checkpoint: await findFor(context, turn, track) });
      }
      const used = view.checkpoint?.chain;
      track.sent = { checkpoint: used };
      if (used !== undefined) noteUse(track, used, turn.chain.length);
      const { checkpoint } = view;
      const isStored = checkpoint !== undefined && !track.unstored.has(checkpoint);
      if (!shouldContextCollapse(view.tokens, windowTokens)) return { ...view, isStored, reductions: [] };
      const reduced = await reduceView(context.engine, view.conversation, view.tokens);
      context.emit({ type: 'request-reduced', tokens: view.tokens, tokensAfter: reduced.tokens });
      return {
        conversation: reduced.conversation,
        checkpoint,
        isStored,
        reductions: reduced.receipts,
      };
    },
    settle,
    async close() {
      controller.abort();
      await settle();
    },
  };
}

function noteUse({ firstUses, shortestUses }: Track, checkpoint: string, length: number): void {
  if (firstUses.get(checkpoint) === undefined) firstUses.use(checkpoint, length);
  shortestUses.use(checkpoint, Math.min(length, shortestUses.get(checkpoint) ?? length));
}

/** The turn with what was asked for its conversation under any of its names. */
function withWishes(
  turn: KeeperTurn,
  wishesFor: (conversation: string) => Wishes | undefined,
  hash: Hash,
): KeeperTurn {
  const { chain, configuration } = turn;
  const [wishes] = namesOfConversation(chain).flatMap((name) => wishesFor(name) ?? []);
  if (wishes === undefined) return turn;
  const pinned = (wishes.pinned ?? []).toSorted((left, right) => left - right);
  return {
    ...turn,
    upTo: wishes.foldedUpTo,
    pinned,
    // With other pins a checkpoint would be another one.
    configuration: pinned.length === 0 ? configuration : hash(`${configuration} pinned ${pinned.join(' ')}`),
  };
}

/** The longest checkpoint that is true of a request, from the store; from memory while the store does not answer. */
async function findFor(
  context: KeeperContext,
  turn: KeeperTurn,
  track: Track,
): Promise<Checkpoint | undefined> {
  const known = longest(track.known.filter((checkpoint) => isTrueOf(checkpoint, turn)));
  const asked = await attempt(context, 'find', async () => {
    const found = await inTime(findCheckpoint(context.store, { ...turn, known }), context.schedule);
    if (found !== undefined || known === undefined) return found;
    // It was deleted, collected or damaged: there may be a shorter one.
    track.known = track.known.filter((checkpoint) => checkpoint !== known);
    context.emit({ type: 'checkpoint-lost', conversation: track.name, boundary: known.boundary });
    return inTime(findCheckpoint(context.store, turn), context.schedule);
  });
  const stored = asked === undefined ? known : asked.value;
  if (stored !== undefined && stored !== known) {
    context.emit({ type: 'checkpoint-found', conversation: track.name, boundary: stored.boundary });
    if (track.state.compactionCount < stored.state.compactionCount) track.state = stored.state;
  }
  if (stored !== undefined) remember(track, stored);
  const unsaved = track.unsaved?.checkpoint;
  const isUnsavedTrue = unsaved !== undefined && isTrueOf(unsaved, turn);
  return longest([stored, isUnsavedTrue ? unsaved : undefined].filter((each) => each !== undefined));
}

function longest(checkpoints: readonly Checkpoint[]): Checkpoint | undefined {
  return checkpoints.toSorted((left, right) => right.boundary - left.boundary)[0];
}

function viewOf(
  context: KeeperContext,
  turn: KeeperTurn,
  { track, checkpoint }: { readonly track: Track; readonly checkpoint: Checkpoint | undefined },
): View {
  // What was reported with the last answer is about the view that was sent then.
  const isSameView = track.sent !== undefined && track.sent.checkpoint === checkpoint?.chain;
  const usage = isSameView ? turn.usage : undefined;
  const { bindsReasoning, estimator } = context.engine;
  const { head, length } = turn.chain;
  const firstUse = checkpoint === undefined ? undefined : track.firstUses.get(checkpoint.chain);
  const boundBefore = bindsReasoning ? (firstUse ?? length) : undefined;
  const conversation =
    checkpoint === undefined
      ? turn.conversation
      : projectView(turn.conversation, checkpoint, { head, boundBefore });
  return { checkpoint, conversation, tokens: measureRequest(conversation, usage, estimator) };
}

/**
 * The view to send: that of the newest checkpoint, or of one before as long as that is small enough. Sizes are estimated and
 * take no report of the provider into account, so that all processes come to the same answer. A view that was sent with fewer
 * messages goes on being sent, because going back would throw away what the provider has cached.
 */
async function viewInForce(
  context: KeeperContext,
  turn: KeeperTurn,
  { track, newest }: { readonly track: Track; readonly newest: View },
): Promise<View> {
  const { foldTokens, engine } = context;
  const wasSent = ({ chain }: Checkpoint) => (track.shortestUses.get(chain) ?? Infinity) <= turn.chain.length;
  let view = newest;
  while (view.checkpoint !== undefined && !wasSent(view.checkpoint)) {
    const before = foldTokens === 0 ? 'lost' : await parentOf(context, turn, track, view.checkpoint);
    if (before === 'lost') return view;
    const earlier = viewOf(context, turn, { track, checkpoint: before });
    if (measureRequest(earlier.conversation, undefined, engine.estimator) >= foldTokens) return view;
    view = earlier;
  }
  return view;
}

/** The checkpoint that was in force when one was made; undefined where there was none. */
async function parentOf(
  context: KeeperContext,
  turn: KeeperTurn,
  track: Track,
  { parent, conversation, boundary }: Checkpoint,
): Promise<Checkpoint | undefined | 'lost'> {
  if (parent === undefined) return undefined;
  const { tenant, configuration } = turn;
  const asked = await attempt(
    context,
    'find',
    async () =>
      track.known.find(({ chain }) => chain === parent) ??
      inTime(
        context.store.find({
          tenant,
          configuration,
          conversations: [conversation],
          from: 1,
          to: boundary - 1,
          isTrue: ({ chain }) => chain === parent,
        }),
        context.schedule,
      ),
  );
  const found = asked?.value;
  return found !== undefined && isTrueOf(found, turn) ? found : 'lost';
}

interface FlightTerms {
  readonly turn: KeeperTurn;
  readonly track: Track;
  readonly view: View;
  /** Whether a compaction of this view is there already. */
  readonly isReady: boolean;
  readonly closing: AbortController;
}

/** Starts work in the background when some is due and none is under way. Whether it did. */
function startIfDue(context: KeeperContext, { turn, track, view, isReady, closing }: FlightTerms): boolean {
  if (track.flight !== undefined || closing.signal.aborted || turn.upTo !== undefined) return false;
  const isDue =
    !isReady &&
    view.tokens >= context.engine.thresholds.triggerTokens &&
    track.state.pausedTurns === 0 &&
    hasNews(turn, view.checkpoint);
  if (!isDue && track.unsaved === undefined) return false;
  // A combined signal would stay in memory for as long as a summarizer has left a listener on it.
  const ended = new AbortController();
  const abort = () => ended.abort();
  closing.signal.addEventListener('abort', abort);
  const base = track.known.find((checkpoint) => checkpoint === view.checkpoint);
  const done = fly(context, { turn, track, base, signal: ended.signal, abort }).finally(() => {
    closing.signal.removeEventListener('abort', abort);
    track.flight = undefined;
  });
  track.flight = { done, chain: turn.chain };
  return true;
}

/** Until the work is done, patience is at its end or the caller has left, whatever comes first. */
async function waitFor(
  done: Promise<void>,
  { schedule, patienceMilliseconds }: KeeperContext,
  signal: AbortSignal | undefined,
): Promise<void> {
  if (signal?.aborted === true) return;
  const { promise: left, resolve: leave } = Promise.withResolvers<void>();
  const cancel = schedule(leave, patienceMilliseconds);
  const onAbort = () => leave();
  signal?.addEventListener('abort', onAbort);
  await Promise.race([done, left]);
  signal?.removeEventListener('abort', onAbort);
  cancel();
}
