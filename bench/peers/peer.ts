import type { ChatMessage } from './chat.ts';

/** Loads a module of an installed package. What comes is the package's own; each peer says what it takes from it. */
export type LoadModule = (specifier: string) => Promise<unknown>;

/** A peer's way of making a conversation shorter, on messages of its own kind. */
export interface Cutter<Native> {
  /** Its own messages; made before anything is timed. */
  toNative(messages: readonly ChatMessage[]): Native;
  /** What is left when about this share of the conversation may stay. */
  cut(native: Native, share: number): Native | Promise<Native>;
  fromNative(native: Native): readonly ChatMessage[];
  /** Whether the share is nothing it could be told. */
  readonly takesNoBudget?: true;
  /** Makes a broken list sound before it is cut; left out by those that have nothing for it. */
  repair?(native: Native): Native;
}

/** Something to be measured. */
export interface Peer {
  readonly name: string;
  /** The package and the version that is measured. */
  readonly package: string;
  readonly version: string;
  /** What it is asked to keep. */
  readonly keeps: string;
  /** Runs a measurement with its cutter, whatever its messages are. */
  use<Result>(load: LoadModule, measure: Measure<Result>): Promise<Result>;
}

/** A measurement that works on messages of any kind. */
export type Measure<Result> = <Native>(cutter: Cutter<Native>) => Promise<Result>;
