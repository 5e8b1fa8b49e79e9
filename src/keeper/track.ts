import { type AutoCompactState, initialAutoCompactState } from '../compaction/breaker.ts';
import { type Chain, namesOfConversation } from '../conversation/chain.ts';
import type { Checkpoint } from '../stores/checkpoint.ts';
import type { NewCheckpoint } from './build-checkpoint.ts';

/** What this process remembers of a conversation between its requests. Everything can be lost but time and money. */
export interface Track {
  readonly tenant: string;
  /** Name of the conversation, in leases and records. */
  readonly name: string;
  /** Stored checkpoints of its branches, the last used first. */
  known: readonly Checkpoint[];
  /** One that is paid for, and that the store has not taken yet. */
  unsaved: NewCheckpoint | undefined;
  state: AutoCompactState;
  /** The work in the background, if there is any. */
  flight: Flight | undefined;
  /** What the last request went out with; undefined before the first one. */
  sent: { readonly checkpoint: string | undefined } | undefined;
  /** Length of the list with which a checkpoint was first used here: reasoning before it was written for another view. */
  readonly firstUses: Map<string, number>;
}

/** Work for a conversation as it was at a request. */
export interface Flight {
  readonly done: Promise<void>;
  /** The chain of that request. */
  readonly chain: Chain;
}

/** Checkpoints that are remembered of one conversation: of its newest branches. */
const KNOWN_CHECKPOINTS = 4;

/** The conversations of a process, those that were not seen for longest left out when there are too many. */
export class Tracks {
  readonly #limit: number;
  readonly #tracks = new Map<string, Track>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  /**
   * The track of a conversation. One that was known by fewer messages, when it had no more, is still that conversation
   * if something that was made of it is true of this one.
   */
  of(tenant: string, chain: Chain, isTrue: (checkpoint: Checkpoint) => boolean): Track {
    const [name = '', ...earlier] = namesOfConversation(chain);
    const track =
      this.#get(tenant, name) ??
      earlier
        .map((each) => this.#get(tenant, each))
        .find(
          (each) => each !== undefined && (checkpointsOf(each).some(isTrue) || goesOn(each.flight, chain)),
        ) ??
      newTrack(tenant, name);
    this.#touch(track);
    return track;
  }

  /** All work that is under way. */
  flights(): readonly Promise<void>[] {
    return [...this.#tracks.values()].flatMap(({ flight }) => (flight === undefined ? [] : [flight.done]));
  }

  #get(tenant: string, name: string): Track | undefined {
    return this.#tracks.get(keyOf(tenant, name));
  }

  #touch(track: Track): void {
    const key = keyOf(track.tenant, track.name);
    this.#tracks.delete(key);
    this.#tracks.set(key, track);
    if (this.#tracks.size <= this.#limit) return;
    for (const [each, { flight }] of this.#tracks) {
      if (flight !== undefined || each === key) continue;
      this.#tracks.delete(each);
      return;
    }
  }
}

/** Whether a conversation begins with the one that is worked on. */
function goesOn(flight: Flight | undefined, chain: Chain): boolean {
  if (flight === undefined) return false;
  const { length } = flight.chain;
  return length > 0 && length <= chain.length && flight.chain.linkAt(length) === chain.linkAt(length);
}

/** Everything that this process knows to be made of a conversation, stored or not. */
function checkpointsOf({ known, unsaved }: Track): readonly Checkpoint[] {
  return unsaved === undefined ? known : [...known, unsaved.checkpoint];
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
    state: initialAutoCompactState,
    flight: undefined,
    sent: undefined,
    firstUses: new Map(),
  };
}

/** Names are hexadecimal digits, so that nothing a tenant is called can be taken for another one's name. */
function keyOf(tenant: string, name: string): string {
  return `${name} ${tenant}`;
}
