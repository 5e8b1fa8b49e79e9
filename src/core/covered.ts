import { demandsOf } from './demands.ts';
import { demandsOfUser, type Fact, factsOf, writesOpenWork } from './facts.ts';
import { readLedger } from './ledger.ts';
import type { Message } from './message.ts';
import { ownWords } from './own-words.ts';
import type { Span } from './pins.ts';
import { readSummaryMessage } from './summary-message.ts';

/** What a summary is to stand for, and what stays beside it. */
export interface Covered {
  /** The messages that leave, without summaries of ours. */
  readonly messages: readonly Message[];
  /** The summaries among them, without the facts behind them; undefined when there is none. */
  readonly previousSummary: string | undefined;
  /** What must not get lost with them: facts that earlier summaries carried, and those of the messages. */
  readonly facts: readonly Fact[];
  /** The messages that stay. */
  readonly kept: readonly Message[];
  /** Demands of the user that stand in messages that stay, in the user's own text. */
  readonly keptDemands: ReadonlySet<string>;
}

/**
 * Reads what leaves with these stretches of a list.
 * @param said texts of the user's that stand in front of the summary word for word, and go on standing there
 */
export function readCovered(
  messages: readonly Message[],
  leaving: readonly Pick<Span, 'start' | 'end'>[],
  said: readonly string[] = [],
): Covered {
  const isLeaving = new Uint8Array(messages.length);
  for (const { start, end } of leaving) isLeaving.fill(1, start, end);
  const gone = messages.filter((_, index) => isLeaving[index] === 1);
  const kept = messages.filter((_, index) => isLeaving[index] === 0);
  const earlier = gone
    .map(readSummaryMessage)
    .filter((text) => text !== undefined)
    .map(readLedger);
  const news = gone.filter((message) => readSummaryMessage(message) === undefined);
  const facts = factsOf(
    news,
    earlier.flatMap((each) => each.facts),
  );
  // Whoever can read the newest list of things to do needs no older one.
  const keptList = messages.findLastIndex(
    (message, index) => isLeaving[index] === 0 && writesOpenWork(message),
  );
  const isListKept =
    keptList !== -1 &&
    !messages
      .slice(keptList)
      .some((message, index) => isLeaving[keptList + index] === 1 && writesOpenWork(message));
  return {
    messages: news,
    previousSummary: earlier.length === 0 ? undefined : earlier.map(({ summary }) => summary).join('\n\n'),
    facts: isListKept ? facts.filter(({ kind }) => kind !== 'open-work') : facts,
    kept,
    keptDemands: keptDemandsIn(kept, said),
  };
}

function keptDemandsIn(kept: readonly Message[], said: readonly string[]): ReadonlySet<string> {
  const demands = new Set(demandsOfUser(kept));
  for (const text of said) for (const demand of demandsOf(ownWords(text))) demands.add(demand);
  for (const summary of kept.map(readSummaryMessage)) {
    if (summary === undefined) continue;
    for (const { kind, text } of readLedger(summary).facts) if (kind === 'constraint') demands.add(text);
  }
  return demands;
}
