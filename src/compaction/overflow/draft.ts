import { legalCuts } from '../../conversation/cuts.ts';
import type { Message } from '../../conversation/message.ts';
import { groupRounds } from '../../conversation/rounds.ts';
import type { TokenEstimator } from '../../tokens/estimator.ts';
import { tokensOf } from '../../tokens/measure.ts';
import type { Edit } from '../plan/plan.ts';
import { isBorder } from '../plan/survey.ts';

/** Messages that can only stay or go as a whole: a round, or several that no legal cut parts. */
export interface Unit {
  readonly start: number;
  readonly end: number;
  /** Estimated. */
  readonly tokens: number;
}

/** The units of a list in order, without the system messages at its head. */
export function unitsOf(messages: readonly Message[], estimator: TokenEstimator): readonly Unit[] {
  const cuts = new Set(legalCuts(messages));
  const starts = groupRounds(messages)
    .map(({ start }) => start)
    .filter((start) => cuts.has(start));
  const firstSpoken = messages.findIndex(({ role }) => role !== 'system');
  return starts
    .map((first, index) => {
      const start = index === 0 ? firstSpoken : first;
      const end = starts[index + 1] ?? messages.length;
      return { start, end, tokens: tokensOf(messages.slice(Math.max(0, start), end), estimator) };
    })
    .filter(({ start, end }) => start !== -1 && start < end);
}

/** What may leave: those that go first, and those that go only when nothing else is left. */
export interface OrderOfLeaving {
  readonly first: readonly Unit[];
  readonly last: readonly Unit[];
}

/** The newest unit and a provider's own summary never leave. Without pins all others are equal. */
export function orderOfLeaving(
  messages: readonly Message[],
  units: readonly Unit[],
  pinned: ReadonlySet<number> | undefined,
): OrderOfLeaving {
  const movable = units.slice(0, -1).filter((unit) => !messages.slice(unit.start, unit.end).some(isBorder));
  if (pinned === undefined) return { first: movable, last: [] };
  const isPreamble = ({ start }: Unit) => messages[start]?.role !== 'assistant';
  const isPinned = ({ start, end }: Unit) => {
    for (let index = start; index < end; index++) if (pinned.has(index)) return true;
    return false;
  };
  const rounds = movable.filter((unit) => !isPreamble(unit));
  return {
    first: rounds.filter((unit) => !isPinned(unit)),
    last: [...rounds.filter(isPinned), ...movable.filter(isPreamble)],
  };
}

/** What leaves a request, as far as it is decided: units that go, and results that get shorter. */
export class Draft {
  readonly #estimator: TokenEstimator;
  readonly #dropped = new Set<Unit>();
  /** By the place of the result. */
  readonly #shortened = new Map<string, Shortened>();
  #freedTokens = 0;

  constructor(estimator: TokenEstimator) {
    this.#estimator = estimator;
  }

  /** Estimated tokens that are saved so far. */
  get freedTokens(): number {
    return this.#freedTokens;
  }

  get droppedUnits(): ReadonlySet<Unit> {
    return this.#dropped;
  }

  get rewrites(): readonly Extract<Edit, { type: 'rewrite' }>[] {
    return [...this.#shortened.values()].map(({ rewrite }) => rewrite);
  }

  get isEmpty(): boolean {
    return this.#dropped.size + this.#shortened.size === 0;
  }

  dropUntil(candidates: readonly Unit[], isEnough: () => boolean): void {
    for (const unit of candidates) {
      if (isEnough()) return;
      if (!this.#dropped.has(unit)) this.#drop(unit);
    }
  }

  /** What was shortened in a unit that leaves after all does not count. */
  #drop(unit: Unit): void {
    this.#dropped.add(unit);
    this.#freedTokens += unit.tokens;
    for (const [place, { rewrite, savedTokens }] of this.#shortened) {
      if (rewrite.message < unit.start || rewrite.message >= unit.end) continue;
      this.#freedTokens -= savedTokens;
      this.#shortened.delete(place);
    }
  }

  /** What shortening these results would save; of those that are shorter already, what is left gets shorter still. */
  preview(results: readonly TextResult[], missingTokens: number): readonly Shortened[] {
    const left = results.map((result) => {
      const text = this.#shortened.get(placeOf(result))?.rewrite.text;
      return text === undefined ? result : { ...result, text, tokens: this.#estimator.countText(text) };
    });
    return shortenResults(left, missingTokens, this.#estimator);
  }

  shorten(results: readonly TextResult[], missingTokens: number): void {
    this.take(this.preview(results, missingTokens));
  }

  take(shortened: readonly Shortened[]): void {
    for (const { rewrite, savedTokens } of shortened) {
      const before = this.#shortened.get(placeOf(rewrite))?.savedTokens ?? 0;
      this.#shortened.set(placeOf(rewrite), { rewrite, savedTokens: before + savedTokens });
      this.#freedTokens += savedTokens;
    }
  }
}

function placeOf({ message, block }: { readonly message: number; readonly block: number }): string {
  return `${message}.${block}`;
}

/** Tokens that shortening saves. */
export function savedBy(shortened: readonly Shortened[]): number {
  return shortened.reduce((sum, { savedTokens }) => sum + savedTokens, 0);
}

/** Tokens are not spread evenly over a text: a miss corrects the next try. */
const TRIES = 4;
/** Each try aims a little lower: the note counts too, and by the mere ratio one would only ever come closer. */
const AIM = 0.99;

/**
 * A text of so many tokens at most: two thirds from its beginning, one third from its end, and a note between that says
 * how much is left out. The very same text when it is short enough.
 */
export function shortenText(text: string, tokens: number, countText: (text: string) => number): string {
  let size = countText(text);
  let length = text.length;
  let shorter = text;
  for (let tries = 0; tries < TRIES && size > tokens; tries++) {
    length = Math.floor((length * Math.max(0, tokens) * AIM) / size);
    shorter = leaveOutMiddle(text, length);
    size = countText(shorter);
  }
  return shorter;
}

/** Halves no character. */
function leaveOutMiddle(text: string, length: number): string {
  const tailLength = Math.floor(length / 3);
  const head = text.slice(0, length - tailLength).replace(/[\uD800-\uDBFF]$/, '');
  const tail = text.slice(text.length - tailLength).replace(/^[\uDC00-\uDFFF]/, '');
  const middle = text.slice(head.length, text.length - tail.length);
  return `${head}\n[${originalLength(middle)} characters left out to fit the context window]\n${tail}`;
}

const NOTE = /\n\[(\d{1,12}) characters left out to fit the context window\]\n/g;

/** A text that was shortened before counts as what it was then. */
function originalLength(text: string): number {
  let length = text.length;
  for (const [note, count] of text.matchAll(NOTE)) length += Number(count) - note.length;
  return length;
}

/** No result gets shorter than this by shortening. */
const SHORTEST_RESULT_TOKENS = 256;

/** A tool result of which head and tail are left. */
export interface Shortened {
  readonly rewrite: Extract<Edit, { type: 'rewrite' }>;
  readonly savedTokens: number;
}

/** A client's tool result that is nothing but text. */
export interface TextResult {
  readonly message: number;
  readonly block: number;
  readonly text: string;
  readonly tokens: number;
}

/** The text results in the messages from `start` up to and without `end`. */
export function textResults(
  messages: readonly Message[],
  { start, end }: { readonly start: number; readonly end: number },
  estimator: TokenEstimator,
): readonly TextResult[] {
  const found: TextResult[] = [];
  for (let message = start; message < end; message++) {
    for (const [block, value] of (messages[message]?.blocks ?? []).entries()) {
      if (value.type !== 'tool-result' || value.runBy === 'server') continue;
      const texts = value.content.flatMap((inner) => (inner.type === 'text' ? [inner.text] : []));
      if (texts.length < value.content.length) continue;
      found.push({ message, block, text: texts.join('\n'), tokens: estimator.countBlock(value) });
    }
  }
  return found;
}

/** Shortens results until `missingTokens` are freed, the largest first, each no more than it has to. */
function shortenResults(
  results: readonly TextResult[],
  missingTokens: number,
  estimator: TokenEstimator,
): readonly Shortened[] {
  const shortened: Shortened[] = [];
  let missing = missingTokens;
  for (const result of results.toSorted((left, right) => right.tokens - left.tokens)) {
    const { message, block, tokens } = result;
    if (missing <= 0 || tokens <= 2 * SHORTEST_RESULT_TOKENS) break;
    // The note costs tokens too: less than a tenth is not worth one.
    const wanted = Math.min(tokens - missing, tokens * 0.9);
    const text = shortenText(result.text, Math.max(SHORTEST_RESULT_TOKENS, wanted), (each) =>
      estimator.countText(each),
    );
    const savedTokens = tokens - estimator.countText(text);
    if (savedTokens <= 0) continue;
    shortened.push({ rewrite: { type: 'rewrite', message, block, text }, savedTokens });
    missing -= savedTokens;
  }
  return shortened;
}
