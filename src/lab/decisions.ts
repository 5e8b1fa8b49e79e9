/** Finds the sentences in which the model decides, concludes or explains, and looks for them in a context. */

import { isUserText, type Message } from '../conversation/message.ts';
import { entitiesIn } from '../memory/facts/entities.ts';
import { foldText, sentencesOf } from './texts.ts';

/** Words by which a sentence decides, concludes or explains. */
const SIGNAL =
  /\b(?:because|since|so that|instead|decided?|decision|the fix|fixe[sd]|the (?:problem|issue|bug|cause|reason)|root cause|caused by|confirm(?:ed|s)|found|turns out|means that|should|I'll use|I will use|we need|needs to|therefore|which is why|works|fails|failed|passes|rather than|no longer)\b/i;

const SHORTEST_SENTENCE = 30;
const LONGEST_SENTENCE = 400;

/** Marks of lists and headings, which belong to the layout and not to the sentence. */
const LIST_MARK = /^(?:[-*•>#]{1,6} |\d{1,3}[.)] ){1,3}/;

/** Sentences of the model's own in which something is decided, concluded or explained. */
export function decisionsOf(messages: readonly Message[]): readonly string[] {
  const found = new Set<string>();
  for (const [index, { role, blocks }] of messages.entries()) {
    if (role !== 'assistant') continue;
    const isClosing = isEndOfTurn(messages, index);
    for (const block of blocks) {
      if (block.type !== 'text') continue;
      for (const sentence of sentencesOf(block.text).map((line) => line.replace(LIST_MARK, ''))) {
        if (isDecision(sentence) && (isClosing || entitiesIn(sentence).length > 0)) found.add(sentence);
      }
    }
  }
  return [...found];
}

function isDecision(sentence: string): boolean {
  const { length } = sentence;
  return length >= SHORTEST_SENTENCE && length <= LONGEST_SENTENCE && SIGNAL.test(sentence);
}

/** Whether a response calls no tool and the user speaks next. */
function isEndOfTurn(messages: readonly Message[], index: number): boolean {
  const next = messages[index + 1];
  return next === undefined || isUserText(next);
}

/** The sentences that stand in a context, word for word; white space and emphasis do not count. */
export function keptDecisions(sentences: readonly string[], context: string): ReadonlySet<string> {
  const text = plainText(context);
  return new Set(sentences.filter((sentence) => text.includes(plainText(sentence))));
}

function plainText(text: string): string {
  return foldText(text.replaceAll('**', ''));
}
