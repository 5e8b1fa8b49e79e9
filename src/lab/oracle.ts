/** The oracle: a row that knows the needs and picks the best text for its budget, as an upper bound. */

import type { TokenEstimator } from '../tokens/estimator.ts';
import { TWO_WORDS, wordsNear } from './mentions.ts';
import { needsMetBy } from './need-score.ts';
import type { Needs } from './needs.ts';
import { createPatternFinder } from './pattern-finder.ts';
import { type Row, textOutput } from './row.ts';
import { textsOf } from './texts.ts';
import type { Cut } from './trajectory.ts';

const noNeeds: Needs = { names: [], editLines: [], demands: [], changedFiles: [] };

/** A piece of text of the prefix and what it would bring. */
interface Candidate {
  readonly text: string;
  readonly tokens: number;
  /** Numbers of goals: a name, a bound name, a line. */
  readonly goals: readonly number[];
}

/**
 * The best that a text under the budget could score, as far as a greedy choice finds it: it knows the needs, and takes
 * lines, stretches of lines and bare names of the prefix by what they bring for their tokens. It says nothing about a
 * cut whose needs are not known.
 */
export function oracleRow(needsOf: (cut: Cut) => Needs | undefined, estimator: TokenEstimator): Row {
  const prepared = new WeakMap<Cut, readonly string[]>();
  return {
    name: 'oracle',
    async compact(cut, budgetTokens) {
      const order = prepared.get(cut) ?? chooseAll(cut, needsOf(cut) ?? noNeeds, estimator);
      prepared.set(cut, order);
      const instructions = cut.prefix.messages.filter(({ role }) => role === 'system');
      const texts = fitting(order, budgetTokens - cut.instructionTokens, estimator);
      return [...instructions, ...textOutput(cut.prefix, texts.join('\n'))];
    },
  };
}

function fitting(
  texts: readonly string[],
  budgetTokens: number,
  estimator: TokenEstimator,
): readonly string[] {
  let left = budgetTokens - estimator.profile.perMessageTokens;
  return texts.filter((text) => {
    const tokens = estimator.countText(`${text}\n`);
    if (tokens > left) return false;
    left -= tokens;
    return true;
  });
}

/** Everything that is worth its tokens, best first. */
function chooseAll(cut: Cut, needs: Needs, estimator: TokenEstimator): readonly string[] {
  const bound = needs.names.filter(({ hasTwoWords }) => hasTwoWords).length;
  const weights = [
    ...needs.names.map(() => 1 / needs.names.length),
    ...needs.names.map(({ hasTwoWords }) => (hasTwoWords ? 1 / bound : 0)),
    ...needs.editLines.map(() => 1 / needs.editLines.length),
  ];
  const isMet = weights.map((weight) => weight === 0);
  const gainOf = ({ goals }: Candidate) =>
    goals.reduce((sum, goal) => sum + (isMet[goal] === true ? 0 : (weights[goal] ?? 0)), 0);

  const queue = candidatesOf(cut, needs, estimator)
    .map((candidate) => ({ candidate, worth: gainOf(candidate) / candidate.tokens }))
    .toSorted((left, right) => right.worth - left.worth);
  const chosen: string[] = [];
  // Gains only shrink, so a candidate that is still as good as it was thought to be is the best of all.
  while (queue.length > 0) {
    const first = queue.shift();
    if (first === undefined) break;
    const worth = gainOf(first.candidate) / first.candidate.tokens;
    if (worth <= 0) continue;
    if (worth < (queue[0]?.worth ?? 0)) {
      insertByWorth(queue, { ...first, worth });
      continue;
    }
    chosen.push(first.candidate.text);
    for (const goal of first.candidate.goals) isMet[goal] = true;
  }
  return chosen;
}

interface Ranked {
  readonly candidate: Candidate;
  readonly worth: number;
}

function insertByWorth(queue: Ranked[], entry: Ranked): void {
  let low = 0;
  let high = queue.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((queue[middle]?.worth ?? 0) > entry.worth) low = middle + 1;
    else high = middle;
  }
  queue.splice(low, 0, entry);
}

/** Longer lines are taken by stretches only. */
const LONGEST_LINE = 400;

/** Bare names, whole lines that need naming or quoting, and for each mention the shortest stretches that bind it. */
function candidatesOf(cut: Cut, needs: Needs, estimator: TokenEstimator): readonly Candidate[] {
  const names = needs.names.map(({ name }) => name);
  const texts = new Set([...names, ...needs.editLines.map(({ line }) => line)]);
  const finder = createPatternFinder(names, { wholeWords: true });
  for (const { text } of cut.prefix.messages.flatMap(textsOf)) {
    const near = wordsNear(text);
    finder.find(text, (pattern, start) => {
      const end = start + (names[pattern]?.length ?? 0);
      const lineStart = text.lastIndexOf('\n', start - 1) + 1;
      const newline = text.indexOf('\n', end);
      const line = text.slice(lineStart, newline === -1 ? text.length : newline);
      if (line.length <= LONGEST_LINE) texts.add(line.trim());
      for (const [from, to] of bindingStretches(near.placed(start, end), start, end))
        texts.add(text.slice(from, to));
    });
  }
  return [...texts].map((text) => ({
    text,
    tokens: estimator.countText(`${text}\n`),
    goals: needsMetBy(needs, text),
  }));
}

/** The shortest stretches around a place with two words before it, two behind it, or one on each side. */
function bindingStretches(
  words: readonly { readonly word: string; readonly start: number }[],
  start: number,
  end: number,
): readonly (readonly [from: number, to: number])[] {
  const before = words.filter((word) => word.start < start).toReversed();
  const behind = words.filter((word) => word.start >= end);
  const stretches: (readonly [number, number])[] = [];
  for (let left = 0; left <= TWO_WORDS; left++) {
    const first = left === 0 ? undefined : before[left - 1];
    const last = left === TWO_WORDS ? undefined : behind[TWO_WORDS - left - 1];
    if ((left > 0 && first === undefined) || (left < TWO_WORDS && last === undefined)) continue;
    stretches.push([first?.start ?? start, last === undefined ? end : last.start + last.word.length]);
  }
  return stretches;
}
