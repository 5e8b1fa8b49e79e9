import { knownWindow } from '../tokens/catalog.ts';

/** What a window is looked up by. */
export interface WindowQuery {
  /** Name of the upstream: the same model may have another window elsewhere. */
  readonly upstream: string;
  readonly model: string;
  /** Whether the request asks for the long window of a model that has two. */
  readonly isLong: boolean;
  /** What the request allows for the answer. */
  readonly outputTokens: number | undefined;
}

export interface WindowOptions {
  /** Window of every model. */
  readonly windowTokens?: number | undefined;
  /** Windows of models by name; `*` stands for any characters. The first that fits counts. */
  readonly windows?: Readonly<Record<string, number>> | undefined;
}

/** What an error has told of a window. */
export interface LearntWindow {
  readonly windowTokens: number;
  /** Whether the provider counts what is allowed for the answer as part of it. */
  readonly countsOutput: boolean;
}

export interface Windows {
  /** The tokens that a prompt may have; undefined when nobody knows. */
  promptWindow(query: WindowQuery): number | undefined;
  /** Takes over what an error has told; whether it was news. */
  learn(query: WindowQuery, learnt: LearntWindow): boolean;
}

/** Names come with requests: there may be any number of them. */
const MOST_LEARNT = 1000;
/** What is left for a prompt in any case: a share of the window. */
const SMALLEST_PROMPT_SHARE = 0.5;

/** Knows windows from the configuration, from errors, and from the catalog; the smallest that was told counts. */
export function createWindows({ windowTokens, windows = {} }: WindowOptions): Windows {
  const patterns = Object.entries(windows).map(([pattern, tokens]) => ({ matches: glob(pattern), tokens }));
  const learnt = new Map<string, LearntWindow>();
  return {
    promptWindow(query) {
      const told = learnt.get(keyOf(query));
      const configured = patterns.find(({ matches }) => matches(query.model))?.tokens ?? windowTokens;
      const base = told?.windowTokens ?? configured ?? catalogWindow(query);
      if (base === undefined) return undefined;
      const window = Math.min(base, configured ?? base);
      if (told?.countsOutput !== true) return window;
      return Math.max(window - (query.outputTokens ?? 0), Math.floor(window * SMALLEST_PROMPT_SHARE));
    },
    learn(query, told) {
      const key = keyOf(query);
      const before = learnt.get(key);
      if (before === undefined && learnt.size >= MOST_LEARNT) learnt.delete([...learnt.keys()][0] ?? '');
      const countsOutput = told.countsOutput || before?.countsOutput === true;
      learnt.set(key, { ...told, countsOutput });
      return before?.windowTokens !== told.windowTokens || before.countsOutput !== countsOutput;
    },
  };
}

function keyOf({ upstream, model, isLong }: WindowQuery): string {
  return JSON.stringify([upstream, model, isLong]);
}

function catalogWindow({ model, isLong }: WindowQuery): number | undefined {
  return (isLong ? knownWindow(`${model}[1m]`) : undefined) ?? knownWindow(model);
}

/** Below where coding agents compact by themselves in the windows that they are made for. */
const FOLD_SHARE = 0.8;
/** Smaller windows have no room to give away: what stays free is for the answer, and for what an estimate is off by. */
const SMALL_WINDOW_TOKENS = 64_000;
const SMALL_FOLD_SHARE = 0.88;

/** A compaction is made at this part of the trigger, so that it is ready when it is needed. */
export const READY_AT = 0.95;

/** The share of a window at which requests are folded. */
export function foldShareOf(windowTokens: number): number {
  return windowTokens > 0 && windowTokens < SMALL_WINDOW_TOKENS ? SMALL_FOLD_SHARE : FOLD_SHARE;
}

/** Models with a long window for those who ask. Others take the flag and have the window they have. */
const HAS_LONG_WINDOW = /sonnet|opus|fable|mythos/i;

/** Whether a request asks Anthropic for a window of a million tokens. */
export function asksForLongWindow(betas: string | undefined, model: string | undefined): boolean {
  return betas?.includes('context-1m') === true && HAS_LONG_WINDOW.test(model ?? '');
}

/** Whether a name matches a pattern in which `*` stands for any characters. Linear: pieces are looked for in order. */
export function glob(pattern: string): (name: string) => boolean {
  const [first = '', ...rest] = pattern.split('*');
  const last = rest.pop();
  return (name) => {
    if (last === undefined) return name === pattern;
    if (!name.startsWith(first) || !name.endsWith(last) || name.length < first.length + last.length)
      return false;
    let place = first.length;
    for (const piece of rest) {
      const found = name.indexOf(piece, place);
      if (found === -1) return false;
      place = found + piece.length;
    }
    return place <= name.length - last.length;
  };
}
