/** Random conversations that every output is judged over. */
export const CONVERSATIONS = 2000;

/** The same with aborted rounds, whose results are missing before anything is cut. */
export const ABORTED_CONVERSATIONS = 1000;

/** Module in the folder of the installed packages that imports from there. */
export const LOADER = 'load.mjs';

/** How long a peer takes, by the middle one of several rounds: on messages it has never seen, and on the same again. */
export interface Speed {
  readonly firstMs: number;
  readonly laterMs: number;
}

/** How many outputs a provider would refuse. */
export interface Validity {
  /** Of `CONVERSATIONS` sound ones. */
  readonly rejected: number;
  /** Of the same, when it is not rejected anyway: the first message is not the user's, which some providers refuse. */
  readonly notUserFirst: number;
  /** Of `ABORTED_CONVERSATIONS` with missing results. */
  readonly broken: number;
}
