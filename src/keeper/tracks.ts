/** What a process remembers of each conversation between its requests. */

import { type AutoCompactState, initialAutoCompactState } from '../compaction/breaker.ts';
import { beginsWith, type Chain, namesOfConversation } from '../conversation/identity.ts';
import type { Checkpoint } from '../stores/store.ts';
import type { NewCheckpoint } from './checkpoints.ts';
import { Recent } from './recent.ts';

/** What this process remembers of a conversation between its requests. Losing it costs time and money and nothing else. */
export interface Track {
  readonly tenant: string;
  /** Name of the conversation, in leases and records. */
  readonly name: string;
  /** Stored checkpoints of its branches, the last used first. */
  known: readonly Checkpoint[];
  /** One that is paid for, and that the store has not taken yet. */
  unsaved: NewCheckpoint | undefined;
  /** Those made here that the store has not taken, or not yet. */
  readonly unstored: WeakSet<Checkpoint>;
  state: AutoCompactState;
  /** The work in the background, if there is any. */
  flight: Flight | undefined;
  /** What the last request went out with; undefined before the first one. */
  sent: { readonly checkpoint: string | undefined } | undefined;
  /** Length of the list with which a checkpoint was first used here: reasoning before it was written for another view. */
  readonly firstUses: Recent<string, number>;
  /** Length of the shortest list that a checkpoint was used with here: a client may go back in its list. */
  readonly shortestUses: Recent<string, number>;
}

/** Work for a conversation as it was at a request. */
export interface Flight {
  readonly done: Promise<void>;
  /** The chain of that request. */
  readonly chain: Chain;
}

/** Checkpoints that are remembered of one conversation: of its newest branches. */
const KNOWN_CHECKPOINTS = 4;
/** Checkpoints of which it is remembered when they were first used. */
const REMEMBERED_USES = 16;

/** The conversations of a process. Those with work under way are never forgotten. */
export class Tracks {
  readonly #tracks: Recent<string, Track>;

  constructor(limit: number) {
    this.#tracks = new Recent(limit, ({ flight }) => flight === undefined);
  }

  /**
   * The track of a conversation. One that was known by fewer messages, when it had no more, is still that conversation
   * if something that was made of it is true of this one.
   */
  of(tenant: string, chain: Chain, isTrue: (checkpoint: Checkpoint) => boolean): Track {
    const [name = '', ...earlier] = namesOfConversation(chain);
    const track =
      this.#tracks.get(keyOf(tenant, name)) ??
      earlier
        .map((each) => this.#tracks.get(keyOf(tenant, each)))
        .find((each) => each !== undefined && isEarlier(each, chain, isTrue)) ??
      newTrack(tenant, name);
    return this.#tracks.use(keyOf(tenant, track.name), track);
  }

  /** All work that is under way. */
  flights(): readonly Promise<void>[] {
    return this.#tracks.values().flatMap(({ flight }) => (flight === undefined ? [] : [flight.done]));
  }
}

/** Whether a track is of the conversation of this chain, when that had fewer messages. */
function isEarlier(
  { known, unsaved, flight }: Track,
  chain: Chain,
  isTrue: (checkpoint: Checkpoint) => boolean,
): boolean {
  if (known.some(isTrue) || (unsaved !== undefined && isTrue(unsaved.checkpoint))) return true;
  if (flight === undefined) return false;
  const { length } = flight.chain;
  return length > 0 && beginsWith(chain, { boundary: length, chain: flight.chain.linkAt(length) });
}

/** Puts a stored checkpoint in front of those that are known. */
export function remember(track: Track, checkpoint: Checkpoint): void {
  const others = track.known.filter(({ chain }) => chain !== checkpoint.chain);
  track.known = [checkpoint, ...others].slice(0, KNOWN_CHECKPOINTS);
}

function newTrack(tenant: string, name: string): Track {
  return {
    tenant,
    name,
    known: [],
    unsaved: undefined,
    unstored: new WeakSet(),
    state: initialAutoCompactState,
    flight: undefined,
    sent: undefined,
    firstUses: new Recent(REMEMBERED_USES),
    shortestUses: new Recent(REMEMBERED_USES),
  };
}

/** Names are hexadecimal digits, so that nothing a tenant is called can be taken for another one's name. */
function keyOf(tenant: string, name: string): string {
  return `${name} ${tenant}`;
}
