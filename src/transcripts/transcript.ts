import type { Place } from '../conversation/errors.ts';
import type { Usage } from '../conversation/message.ts';
import type { RecordedCharge } from './charges.ts';
import type { JsonEntry } from './input/json-values.ts';

/** One conversation found in a file, in one of the wire formats. A file may hold many. */
export interface Transcript {
  /** Name of the reader that found it. */
  readonly reader: string;
  /** Name of the wire format of its messages. */
  readonly format: string;
  /** What tells it from the others of its file: `main`, `side chain 2`, `task 7, trial 1`. */
  readonly title: string;
  /** `side-chain`: a sub-agent's conversation recorded inside another one's file. */
  readonly kind: 'main' | 'side-chain';
  readonly model: string | undefined;
  /** The context window the recording harness worked with, where it says so. */
  readonly windowTokens?: number | undefined;
  /** Stretches between compactions by the recording harness, oldest first; the last one is what is live. At least one. */
  readonly segments: readonly Segment[];
  /** What the reader left out or mended, for people: `2 synthetic messages left out`. */
  readonly notes: readonly string[];
  /** What is wrong with the file itself, and what the reader made of it; said in `notes` as well. */
  readonly damage?: readonly string[] | undefined;
  /**
   * Every response that the file counts tokens for, those of abandoned branches and of sub-agents in the same file included.
   * Where a file holds several conversations that belong together, the first one has them all.
   */
  readonly charges?: readonly RecordedCharge[] | undefined;
  /** What the file says about the session itself; undefined for readers of files that say nothing. */
  readonly session?: SessionFacts | undefined;
}

/** What a session file says about itself besides its messages. */
export interface SessionFacts {
  /** The agent's own name for the session. */
  readonly id?: string | undefined;
  /** The working directory. */
  readonly folder?: string | undefined;
  /** Version of the agent that wrote it. */
  readonly version?: string | undefined;
  /** Branch of the repository in the working directory. */
  readonly branch?: string | undefined;
  /** The agent's name for the provider of the model. */
  readonly provider?: string | undefined;
}

/** What the model saw between two compactions. */
export interface Segment {
  /** A request body or a bare list of messages in the transcript's wire format. */
  readonly body: unknown;
  /** Where each message of the body comes from; as many as there are messages, or none when nothing is known. */
  readonly origins: readonly Origin[];
  /** The compaction that opened this segment; undefined for the first one. */
  readonly opening: RecordedCompaction | undefined;
}

/** Where a message stood in its file, and what its record says besides the message itself. */
export interface Origin {
  readonly place: Place;
  readonly timestamp: string | undefined;
  readonly responseId: string | undefined;
  readonly usage: Usage | undefined;
}

/** A compaction that the recording harness did itself. */
export interface RecordedCompaction {
  readonly trigger: 'auto' | 'manual' | undefined;
  readonly tokensBefore: number | undefined;
  readonly tokensAfter: number | undefined;
  /** Its summary as text; undefined when it is encrypted or there is none. */
  readonly summary: string | undefined;
  /** How many messages at the head of the segment it put there: the summary and what was kept or carried over. */
  readonly carried: number;
}

/** Reads one kind of file. */
export interface TranscriptReader {
  readonly name: string;
  /** The program whose files these are, for help; undefined for files of no program in particular. */
  readonly product: string | undefined;
  /** One line for help and docs. */
  readonly summary: string;
  /** Where such files are usually found, for help and docs. */
  readonly location: string | undefined;
  /** Whether a file that begins with these values (at least one, at most fifty) is of this kind. */
  recognise(sample: readonly JsonEntry[]): boolean;
  /** Starts reading one file. `reject` is told of what has no place in such a file; reading goes on. */
  open(reject: Reject): TranscriptFold;
}

/** Told where something stands that a reader cannot use, and why. */
export type Reject = (place: Place, reason: string) => void;

/** Takes a file's values in order and gives the conversations in them, each as soon as it is complete. */
export interface TranscriptFold {
  add(entry: JsonEntry): Iterable<Transcript>;
  end(): Iterable<Transcript>;
}
