import type { CallOptions, Compactor } from '../compaction/compactor.ts';
import { changeOf } from '../compaction/plan/strategy.ts';
import { createCanonical } from '../conversation/canonical.ts';
import { isObject } from '../conversation/json.ts';

/** A request of a client that sends all of the history every time. */
export interface FullRequest extends CallOptions {
  readonly messages: readonly unknown[];
  /** What else takes room in the request. */
  readonly tools?: readonly unknown[] | undefined;
}

/** Gives the messages to send, or undefined when they are to be sent as they came. */
export type Follow = (request: FullRequest) => Promise<readonly unknown[] | undefined>;

/** A conversation as it was when it was compacted last, or first seen. */
interface Followed {
  readonly compactor: Compactor;
  /** All of its history then. */
  given: readonly unknown[];
  /** What stands for it: the very same list when nothing was to be done yet. */
  view: readonly unknown[];
}

/** Conversations that are remembered at once. */
const MOST_CONVERSATIONS = 100;

/**
 * Goes on from what a compaction made of a conversation, although its client comes with the whole history again. A
 * conversation is known by its messages: whoever edits what a compaction covers, or begins another one, starts afresh.
 */
export function followConversations(makeCompactor: () => Compactor, format: string): Follow {
  const texts = rememberTexts(format);
  const known: Followed[] = [];

  const find = (messages: readonly unknown[]): Followed | undefined => {
    const found = known.filter(
      ({ given, view }) => startsWith(messages, given, texts) || startsWith(messages, view, texts),
    );
    return found.toSorted((left, right) => right.given.length - left.given.length)[0];
  };

  /** Puts it behind all others, and forgets the first when there are too many. */
  const use = (followed: Followed): void => {
    const place = known.indexOf(followed);
    if (place >= 0) known.splice(place, 1);
    known.push(followed);
    if (known.length > MOST_CONVERSATIONS) known.shift();
  };

  return async ({ messages, tools, ...call }) => {
    const followed = find(messages) ?? { compactor: makeCompactor(), given: messages, view: messages };
    use(followed);
    const { given, view } = followed;
    // Some clients go on from the view themselves, others know nothing of it.
    const isView = given === view || !startsWith(messages, given, texts);
    const ongoing = isView ? messages : [...view, ...messages.slice(given.length)];
    const compacted = await compact(followed.compactor, { ...call, messages: ongoing, tools });
    if (compacted !== undefined) {
      followed.given = isView && given !== view ? [...given, ...messages.slice(view.length)] : messages;
      followed.view = compacted;
    }
    return compacted ?? (ongoing === messages ? undefined : ongoing);
  };
}

async function compact(
  compactor: Compactor,
  { messages, tools, ...call }: FullRequest,
): Promise<readonly unknown[] | undefined> {
  if (tools === undefined) {
    const { value, outcome } = await compactor.maybeCompact(messages, call);
    return changeOf(outcome) === undefined ? undefined : value;
  }
  const { value, outcome } = await compactor.maybeCompact({ messages, tools }, call);
  return changeOf(outcome) === undefined ? undefined : value.messages;
}

/** Tells what a message says, so that two can be compared that were made anew for two requests. */
type TextOf = (message: unknown) => string;

function rememberTexts(format: string): TextOf {
  const canonical = createCanonical(format);
  const texts = new WeakMap<object, string>();
  return (message) => {
    const known = isObject(message) ? texts.get(message) : undefined;
    if (known !== undefined) return known;
    const text = canonical.textOf(message);
    if (isObject(message)) texts.set(message, text);
    return text;
  };
}

function startsWith(messages: readonly unknown[], beginning: readonly unknown[], textOf: TextOf): boolean {
  return (
    beginning.length <= messages.length &&
    beginning.every((message, index) => {
      const other = messages[index];
      return message === other || textOf(message) === textOf(other);
    })
  );
}
