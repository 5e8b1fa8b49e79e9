/** What a summary covers: the messages that leave, earlier summaries among them, and the demands that must survive. */

import type { Span } from '../conversation/cuts.ts';
import type { Message } from '../conversation/message.ts';
import { readOpenings, readSummaryMessage } from '../conversation/summary-message.ts';
import { demandsOfUser, type Fact, factsOf, writesOpenWork } from './facts/facts.ts';
import { recallMemory } from './recall.ts';
import { indented, QUOTED_ABOVE } from './tell.ts';
import { demandsOf } from './words/demands.ts';
import { ownWords } from './words/own-words.ts';

/** The messages that a summary will replace, and what stays in the conversation beside it. */
export interface Covered {
  /** The messages that leave, without summaries of ours. */
  readonly messages: readonly Message[];
  /** The summaries among them; undefined when there is none. */
  readonly previousSummary: string | undefined;
  /** What must not get lost with them: demands that earlier summaries carried, and the facts of the messages. */
  readonly facts: readonly Fact[];
  /** The messages that stay. */
  readonly kept: readonly Message[];
  /** Demands of the user that stand in messages that stay, in the user's own text. */
  readonly keptDemands: ReadonlySet<string>;
}

/**
 * Collects what leaves the conversation when these stretches of its list are summarised.
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
  const earlier = gone.map(readCarried).filter((text) => text !== undefined);
  const news = gone.filter((message) => readSummaryMessage(message) === undefined);
  const carried = earlier.flatMap(demandsIn).map((text): Fact => ({ kind: 'constraint', text }));
  const facts = factsOf(news, carried);
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
    previousSummary: earlier.length === 0 ? undefined : earlier.join('\n\n'),
    facts: isListKept ? facts.filter(({ kind }) => kind !== 'open-work') : facts,
    kept,
    keptDemands: keptDemandsIn(kept, said),
  };
}

/** The summary in a message of ours, with the request that it quotes in front: whoever reads on has only the summary. */
function readCarried(message: Message): string | undefined {
  const summary = readSummaryMessage(message);
  const request = readOpenings(message)?.find(({ kind }) => kind === 'request');
  return request === undefined ? summary : summary?.replace(QUOTED_ABOVE, () => indented(request.text));
}

/** How a memory marks what the user took back. */
const TAKEN_BACK = /\(taken back in \[[^\]]{1,8}\]: [^\n]*\)/g;

/** The demands of the user that a summary of ours carries. What was taken back is none any more. */
function demandsIn(summary: string): readonly string[] {
  return recallMemory(summary).events.flatMap((event) =>
    event.type === 'said' ? demandsOf(event.text.replaceAll(TAKEN_BACK, '')) : [],
  );
}

function keptDemandsIn(kept: readonly Message[], said: readonly string[]): ReadonlySet<string> {
  const demands = new Set(demandsOfUser(kept));
  for (const text of said) for (const demand of demandsOf(ownWords(text))) demands.add(demand);
  for (const summary of kept.map(readSummaryMessage)) {
    for (const demand of summary === undefined ? [] : demandsIn(summary)) demands.add(demand);
  }
  return demands;
}
