import { legalCuts } from '../conversation/cuts.ts';
import type { Message } from '../conversation/message.ts';
import { scanText } from '../memory/facts/entities.ts';
import type { TokenEstimator } from '../tokens/estimator.ts';
import { createRandom } from './aggregate.ts';
import { joinNewest, type Row, textOutput, withInstructions } from './row.ts';
import { textsOf } from './texts.ts';
import type { Cut } from './trajectory.ts';

/** The rows that say what figures mean: nothing done, chance, recency alone, and two ways to game the panel. */
export function controlRows(estimator: TokenEstimator): readonly Row[] {
  const rows: readonly Row[] = [
    { name: 'random rounds', compact: async (cut, budget) => keepRandom(cut, budget, estimator) },
    { name: 'recency only', compact: async (cut, budget) => keepNewest(cut, budget, estimator) },
    dumpRow('identifier dump', namesOf, '\n', estimator),
    dumpRow('vocabulary dump', vocabularyOf, ' ', estimator),
  ];
  return [{ name: 'none', compact: async ({ prefix }) => prefix.messages }, ...rows.map(withInstructions)];
}

function dumpRow(
  name: string,
  wordsOf: (cut: Cut) => readonly string[],
  between: string,
  estimator: TokenEstimator,
): Row {
  return {
    name,
    compact: async (cut, budget) =>
      textOutput(cut.prefix, joinNewest(wordsOf(cut), between, budget, estimator)),
  };
}

/** Neighbouring messages that can only stay or go together. */
interface Piece {
  readonly messages: readonly Message[];
  readonly tokens: number;
}

function piecesOf({ prefix }: Cut, estimator: TokenEstimator): readonly Piece[] {
  const cuts = legalCuts(prefix.messages);
  return cuts.slice(1).map((end, index) => {
    const messages = prefix.messages.slice(cuts[index], end);
    return { messages, tokens: messages.reduce((sum, message) => sum + estimator.countMessage(message), 0) };
  });
}

/** A message that is put in front of a list whose first message the format does not allow there. */
const LEFT_OUT = '[earlier messages were left out]';

function withUserFirst({ prefix }: Cut, messages: readonly Message[]): readonly Message[] {
  if (messages[0]?.role === 'user' || messages[0]?.role === 'system') return messages;
  return [...textOutput(prefix, LEFT_OUT), ...messages];
}

/** Chooses pieces in an order of chance until none fits any more; the same cut always gives the same choice. */
function keepRandom(cut: Cut, budgetTokens: number, estimator: TokenEstimator): readonly Message[] {
  const random = createRandom(`${cut.session} ${cut.stretch} ${cut.prefix.messages.length}`);
  const pieces = piecesOf(cut, estimator);
  const order = pieces
    .map((_, index) => ({ index, rank: random() }))
    .toSorted((left, right) => left.rank - right.rank);
  const kept = new Set<number>();
  let left = budgetTokens - estimator.countText(LEFT_OUT) - estimator.profile.perMessageTokens;
  for (const { index } of order) {
    const tokens = pieces[index]?.tokens ?? 0;
    if (tokens > left) continue;
    left -= tokens;
    kept.add(index);
  }
  return withUserFirst(
    cut,
    pieces.flatMap(({ messages }, index) => (kept.has(index) ? messages : [])),
  );
}

/** The newest messages that fit whole; what is left of the budget goes to the newest lines of what stands before them. */
function keepNewest(cut: Cut, budgetTokens: number, estimator: TokenEstimator): readonly Message[] {
  const pieces = piecesOf(cut, estimator);
  let left = budgetTokens;
  let start = pieces.length;
  for (; start > 0; start--) {
    const tokens = pieces[start - 1]?.tokens ?? 0;
    if (tokens > left) break;
    left -= tokens;
  }
  const tail = pieces.slice(start).flatMap(({ messages }) => messages);
  const before = pieces.slice(0, start).flatMap(({ messages }) => messages);
  const text = joinNewest(linesOf(before), '\n', left, estimator);
  return text === '' ? withUserFirst(cut, tail) : [...textOutput(cut.prefix, text), ...tail];
}

function linesOf(messages: readonly Message[]): readonly string[] {
  return messages.flatMap((message) => textsOf(message).flatMap(({ text }) => text.split('\n')));
}

/** A list of distinct words of a prefix, made once for all budgets. */
function rememberWords(scan: (text: string, take: (word: string) => void) => void) {
  const known = new WeakMap<Cut, readonly string[]>();
  return (cut: Cut): readonly string[] => {
    const words = known.get(cut) ?? distinct(cut.prefix.messages, scan);
    known.set(cut, words);
    return words;
  };
}

/** Control row: every name of the prefix. It scores full marks for references and carries no meaning. */
const namesOf = rememberWords((text, take) => scanText(text, { entity: take }));

/** Every distinct word and name of the prefix. */
const vocabularyOf = rememberWords((text, take) => scanText(text, { entity: take, word: take }));

/** Distinct words, each at the place of its newest mention, so that a budget keeps those that were used last. */
function distinct(
  messages: readonly Message[],
  scan: (text: string, take: (word: string) => void) => void,
): readonly string[] {
  const seen = new Set<string>();
  for (const message of messages) {
    for (const { text } of textsOf(message)) {
      scan(text, (word) => {
        seen.delete(word);
        seen.add(word);
      });
    }
  }
  return [...seen];
}
