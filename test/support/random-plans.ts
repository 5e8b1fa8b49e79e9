import fc from 'fast-check';
import { randomText } from './random-texts.ts';

/** A tool call of a response and what came back for it. */
export interface PlannedCall {
  readonly name: string;
  readonly path: string;
  readonly output: string;
  readonly hasFailed: boolean;
  readonly showsPicture: boolean;
}

/** One request and the response to it, before a wire format writes them. What a format cannot say it leaves out. */
export interface PlannedExchange {
  /** Texts of the user; two of them are two neighbouring messages. Results of the calls before come first. */
  readonly asked: readonly string[];
  readonly media: 'none' | 'picture' | 'document';
  /** A system message behind what the user said. */
  readonly note: string | undefined;
  /** Whether the user's text stands in the message that holds the results, where a format allows it. */
  readonly joinsResults: boolean;
  readonly thinking: { readonly text: string; readonly kind: 'plain' | 'redacted' | 'named' } | undefined;
  readonly said: string | undefined;
  /** Whether the provider ran a tool of its own in this response. */
  readonly searches: boolean;
  /** Whether the response comes in two messages. */
  readonly isSplit: boolean;
  /** Whether the provider compacted here, and wrote its summary at the head of the response. */
  readonly compacts: boolean;
  readonly isMarked: boolean;
  readonly calls: readonly PlannedCall[];
}

/** A whole conversation, and how its requests are framed. */
export interface Plan {
  readonly exchanges: readonly PlannedExchange[];
  readonly instructions: string | undefined;
  /** Whether the list is sent without anything around it. */
  readonly isBare: boolean;
  /** Whether the provider's summary of something older stands first. */
  readonly opensCompacted: boolean;
  /** Whether the first request ends with the beginning of an answer. */
  readonly isPrefilled: boolean;
  /** Whether ids of calls are used again, as some harnesses do. */
  readonly reusesIds: boolean;
}

/** The value in so many of a dozen cases. */
function inDozen<Value>(times: number, arbitrary: fc.Arbitrary<Value>): fc.Arbitrary<Value | undefined> {
  return fc.oneof(
    { withCrossShrink: true },
    { weight: 12 - times, arbitrary: fc.constant(undefined) },
    { weight: times, arbitrary },
  );
}

const seldom = fc.integer({ min: 0, max: 11 }).map((value) => value === 11);
const often = fc.integer({ min: 0, max: 2 }).map((value) => value > 0);

const call: fc.Arbitrary<PlannedCall> = fc.record({
  name: fc.constantFrom('read_file', 'bash', 'search'),
  path: fc.constantFrom('src/a.ts', 'src/b.ts', 'README.md'),
  output: randomText,
  hasFailed: seldom,
  showsPicture: seldom,
});

const exchange: fc.Arbitrary<PlannedExchange> = fc.record({
  asked: fc.oneof(
    { withCrossShrink: true },
    { weight: 4, arbitrary: fc.constant([]) },
    { weight: 4, arbitrary: fc.tuple(randomText) },
    { weight: 1, arbitrary: fc.tuple(randomText, randomText) },
  ),
  media: fc.constantFrom<PlannedExchange['media']>(...Array(8).fill('none'), 'picture', 'document'),
  note: inDozen(2, randomText),
  joinsResults: fc.boolean(),
  thinking: inDozen(
    4,
    fc.record({
      text: randomText,
      kind: fc.constantFrom<'plain' | 'redacted' | 'named'>('plain', 'redacted', 'named'),
    }),
  ),
  said: inDozen(6, randomText),
  searches: seldom,
  isSplit: seldom,
  compacts: seldom,
  isMarked: seldom,
  calls: fc.oneof(
    { withCrossShrink: true },
    { weight: 2, arbitrary: fc.constant([]) },
    { weight: 4, arbitrary: fc.array(call, { minLength: 1, maxLength: 2 }) },
    { weight: 1, arbitrary: fc.array(call, { minLength: 2, maxLength: 4 }) },
  ),
});

/** A plain chat: one question, one answer, and nothing else. */
const chatExchange: fc.Arbitrary<PlannedExchange> = fc.record({
  asked: fc.tuple(randomText),
  media: fc.constant('none'),
  note: fc.constant(undefined),
  joinsResults: fc.constant(false),
  thinking: fc.constant(undefined),
  said: randomText,
  searches: fc.constant(false),
  isSplit: fc.constant(false),
  compacts: fc.constant(false),
  isMarked: fc.constant(false),
  calls: fc.constant([]),
});

function exchangesOf(one: fc.Arbitrary<PlannedExchange>): fc.Arbitrary<readonly PlannedExchange[]> {
  return fc.oneof(
    { withCrossShrink: true },
    { weight: 6, arbitrary: fc.array(one, { minLength: 1, maxLength: 6 }) },
    { weight: 3, arbitrary: fc.array(one, { minLength: 5, maxLength: 12 }) },
    { weight: 1, arbitrary: fc.array(one, { minLength: 12, maxLength: 24 }) },
  );
}

/** Plans of 1 to about 60 messages: agents with tools, and a quarter of plain chats. */
export const plans: fc.Arbitrary<Plan> = fc
  .record({
    exchanges: fc
      .oneof(
        { weight: 3, arbitrary: exchangesOf(exchange) },
        { weight: 1, arbitrary: exchangesOf(chatExchange) },
      )
      .map((list) => list.map((one, index) => completeExchange(one, list[index - 1]))),
    instructions: inDozen(6, randomText),
    isBare: seldom,
    opensCompacted: seldom,
    isPrefilled: seldom,
    reusesIds: seldom,
    hasNotes: often,
  })
  .map(({ hasNotes, exchanges, ...plan }) => ({
    ...plan,
    exchanges: hasNotes ? exchanges : exchanges.map((one) => ({ ...one, note: undefined })),
  }));

/** Every request brings something new, and every response says or does something. */
function completeExchange(one: PlannedExchange, before: PlannedExchange | undefined): PlannedExchange {
  const hasResults = before !== undefined && before.calls.length > 0;
  return {
    ...one,
    asked: one.asked.length > 0 || hasResults ? one.asked : ['go on'],
    said: one.said ?? (one.calls.length > 0 ? undefined : 'done'),
  };
}
