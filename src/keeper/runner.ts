import { afterTurn } from '../compaction/breaker.ts';
import type { Receipt } from '../compaction/plan/receipt.ts';
import type { Conversation } from '../conversation/format.ts';
import type { Usage } from '../conversation/message.ts';
import type { Checkpoint } from '../stores/checkpoint.ts';
import { shouldContextCollapse } from '../tokens/thresholds.ts';
import { findCheckpoint, isTrueOf } from './find-checkpoint.ts';
import { attempt, fly, hasNews } from './flight.ts';
import type { RunnerPorts } from './ports.ts';
import { projectView } from './project-view.ts';
import { remember, type Track, Tracks } from './track.ts';
import { type KeeperTurn, readTurn } from './turn.ts';

export interface RunnerCall {
  /** Those of the model that the request is for. */
  readonly ports: RunnerPorts;
  readonly tenant: string;
  readonly usage?: Usage | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** What to send. */
export interface PreparedConversation {
  readonly conversation: Conversation;
  /** The checkpoint whose view it is. */
  readonly checkpoint: Checkpoint | undefined;
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

/** Runs conversations: finds what is known of each, shows it, and has it compacted behind the request's back. */
export function createRunner(rememberedConversations: number): Runner {
  const tracks = new Tracks(rememberedConversations);
  const controller = new AbortController();

  const settle = async () => {
    for (let flights = tracks.flights(); flights.length > 0; flights = tracks.flights())
      await Promise.all(flights);
  };

  return {
    async prepare(conversation, { ports, tenant, usage, signal }) {
      const configuration = ports.configurationFor(conversation.format);
      const turn = readTurn(conversation, ports.chains, { tenant, configuration, usage, signal });
      const track = tracks.of(tenant, turn.chain, (checkpoint) => isTrueOf(checkpoint, turn));
      const found = await findFor(ports, turn, track);
      // What it takes to know a long conversation and what it takes to count it are each long enough.
      await ports.letOthersRun();
      let view = viewOf(ports, turn, { track, checkpoint: found });
      const isStarted = startIfDue(ports, { turn, track, view, closing: controller });
      if (!isStarted && track.flight === undefined) track.state = afterTurn(track.state);
      const { windowTokens } = ports.thresholds;
      if (shouldContextCollapse(view.tokens, windowTokens) && track.flight !== undefined) {
        await waitFor(track.flight.done, ports, signal);
        view = viewOf(ports, turn, { track, checkpoint: await findFor(ports, turn, track) });
      }
      track.sent = { checkpoint: view.checkpoint?.chain };
      noteUse(track, turn, view.checkpoint);
      if (!shouldContextCollapse(view.tokens, windowTokens)) return { ...view, reductions: [] };
      const reduced = await ports.reduce(view.conversation, view.tokens);
      ports.emit({ type: 'request-reduced', tokens: view.tokens, tokensAfter: reduced.tokens });
      return {
        conversation: reduced.conversation,
        checkpoint: view.checkpoint,
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

/** The longest checkpoint that is true of a request, from the store; from memory while the store does not answer. */
async function findFor(ports: RunnerPorts, turn: KeeperTurn, track: Track): Promise<Checkpoint | undefined> {
  const known = longest(track.known.filter((checkpoint) => isTrueOf(checkpoint, turn)));
  const asked = await attempt(ports, 'find', async () => {
    const found = await findCheckpoint(ports.store, { ...turn, known });
    if (found !== undefined || known === undefined) return found;
    // It was deleted, collected or damaged: there may be a shorter one.
    track.known = track.known.filter((checkpoint) => checkpoint !== known);
    ports.emit({ type: 'checkpoint-lost', conversation: track.name, boundary: known.boundary });
    return findCheckpoint(ports.store, turn);
  });
  const stored = asked === undefined ? known : asked.value;
  if (stored !== undefined && stored !== known) {
    ports.emit({ type: 'checkpoint-found', conversation: track.name, boundary: stored.boundary });
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
  ports: RunnerPorts,
  turn: KeeperTurn,
  { track, checkpoint }: { readonly track: Track; readonly checkpoint: Checkpoint | undefined },
): View {
  // What was reported with the last answer is about the view that was sent then.
  const isSameView = track.sent !== undefined && track.sent.checkpoint === checkpoint?.chain;
  const usage = isSameView ? turn.usage : undefined;
  if (checkpoint === undefined) {
    const tokens = ports.measure(turn.conversation, usage);
    return { checkpoint, conversation: turn.conversation, tokens };
  }
  const { head, length } = turn.chain;
  const boundBefore = ports.bindsReasoning ? (track.firstUses.get(checkpoint.chain) ?? length) : undefined;
  const conversation = projectView(turn.conversation, checkpoint, { head, boundBefore });
  return { checkpoint, conversation, tokens: ports.measure(conversation, usage) };
}

/** Checkpoints of which it is remembered when they were first used. */
const REMEMBERED_USES = 16;

function noteUse(track: Track, { chain }: KeeperTurn, checkpoint: Checkpoint | undefined): void {
  if (checkpoint === undefined || track.firstUses.has(checkpoint.chain)) return;
  track.firstUses.set(checkpoint.chain, chain.length);
  const [oldest] = track.firstUses.keys();
  if (track.firstUses.size > REMEMBERED_USES && oldest !== undefined) track.firstUses.delete(oldest);
}

/** Sends work into the background when there is some and nobody is at it. */
function startIfDue(
  ports: RunnerPorts,
  { turn, track, view, closing }: { turn: KeeperTurn; track: Track; view: View; closing: AbortController },
): boolean {
  if (track.flight !== undefined || closing.signal.aborted) return false;
  const isDue =
    view.tokens >= ports.thresholds.triggerTokens &&
    track.state.pausedTurns === 0 &&
    hasNews(turn, view.checkpoint);
  if (!isDue && track.unsaved === undefined) return false;
  // A combined signal would stay in memory for as long as a summarizer has left a listener on it.
  const ended = new AbortController();
  const abort = () => ended.abort();
  closing.signal.addEventListener('abort', abort);
  const base = track.known.find((checkpoint) => checkpoint === view.checkpoint);
  const done = fly(ports, { turn, track, base, signal: ended.signal, abort }).finally(() => {
    closing.signal.removeEventListener('abort', abort);
    track.flight = undefined;
  });
  track.flight = { done, chain: turn.chain };
  return true;
}

/** Until the work is done, patience is at its end or the caller has left, whatever comes first. */
async function waitFor(
  done: Promise<void>,
  { schedule, patienceMilliseconds }: RunnerPorts,
  signal: AbortSignal | undefined,
): Promise<void> {
  if (signal?.aborted === true) return;
  let leave: () => void = () => undefined;
  const left = new Promise<void>((resolve) => {
    leave = resolve;
  });
  const cancel = schedule(leave, patienceMilliseconds);
  signal?.addEventListener('abort', leave);
  await Promise.race([done, left]);
  signal?.removeEventListener('abort', leave);
  cancel();
}
