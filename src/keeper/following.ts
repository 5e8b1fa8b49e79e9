/** Remembers compactions of a client that sends its whole history each time, without a store. */

import type { CallOptions, Compactor } from '../compaction/compactor.ts';
import { changeOf } from '../compaction/plan/strategy.ts';
import type { Format } from '../conversation/format.ts';
import { beginsWith, type Chain, createChains } from '../conversation/identity.ts';
import { Recent } from './recent.ts';

/** A request of a client that sends all of the history every time. */
export interface FullRequest extends CallOptions {
  readonly messages: readonly unknown[];
  /** What else takes room in the request. */
  readonly tools?: readonly unknown[] | undefined;
}

/** Gives the messages to send, or undefined when they are to be sent as they came. */
export type Follow = (request: FullRequest) => Promise<readonly unknown[] | undefined>;

/** A list of messages as it was, and what it is known by. */
interface Known {
  readonly messages: readonly unknown[];
  /** Number of system messages in front, which may be others next time. */
  readonly head: number;
  /** The number of messages behind them, and the link of their chain. */
  readonly boundary: number;
  readonly chain: string;
}

/** A conversation as it was when it was compacted last, or first seen. */
interface Followed {
  readonly compactor: Compactor;
  /** All of its history then. */
  given: Known;
  /** What stands for that; undefined when nothing was to be done yet. */
  view: Known | undefined;
}

/** Conversations that are remembered at once. */
const MOST_CONVERSATIONS = 100;

/**
 * Goes on from what a compaction made of a conversation, although its client comes with the whole history again. A
 * conversation is known by its messages: where the client has edited what a compaction covers, nothing of it is used.
 */
export function followConversations(makeCompactor: () => Compactor, format: Format): Follow {
  const chains = createChains();
  const chainOf = (messages: readonly unknown[]) =>
    chains.chainOf({ format, messages: messages.map((raw) => format.readMessage(raw)) });
  const recent = new Recent<Followed, Followed>(MOST_CONVERSATIONS);

  const know = (messages: readonly unknown[]): Known => {
    const { head, length, linkAt } = chainOf(messages);
    return { messages, head, boundary: length, chain: linkAt(length) };
  };
  const find = (chain: Chain): Followed | undefined =>
    recent
      .values()
      .filter(({ given, view }) => startsWith(chain, given) || startsWith(chain, view))
      .toSorted((left, right) => right.given.boundary - left.given.boundary)[0];

  return async ({ messages, tools, ...call }) => {
    const chain = chainOf(messages);
    const followed = find(chain) ?? { compactor: makeCompactor(), given: know(messages), view: undefined };
    recent.use(followed, followed);
    const { given, view } = followed;
    const isHistory = startsWith(chain, given);
    const behind = (known: Known) => messages.slice(chain.head + known.boundary);
    const ongoing =
      isHistory && view !== undefined
        ? [...messages.slice(0, chain.head), ...view.messages.slice(view.head), ...behind(given)]
        : messages;
    const compacted = await compact(followed.compactor, { ...call, messages: ongoing, tools });
    if (compacted !== undefined) {
      // Some clients go on from the view themselves, others know nothing of it.
      followed.given = know(
        isHistory || view === undefined ? messages : [...given.messages, ...behind(view)],
      );
      followed.view = know(compacted);
    }
    return compacted ?? (ongoing === messages ? undefined : ongoing);
  };
}

/** A list of system messages alone says nothing about what follows. */
function startsWith(chain: Chain, known: Known | undefined): boolean {
  return known !== undefined && known.boundary > 0 && beginsWith(chain, known);
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
