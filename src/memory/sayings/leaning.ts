/** Finds the earlier sentences without which a sentence of the user cannot be understood: "do the second one". */

import { piecesOf } from '../words/demands.ts';
import { ANSWER, type SayingKind } from './kinds.ts';
import { topicWords } from './words.ts';

/** An earlier sentence, of the user's or the agent's, without which another cannot be understood. */
export interface Leaning {
  readonly turn: number;
  /** Exactly as it was written. */
  readonly text: string;
}

/** A turn as far as leaning looks at it. */
export interface Spoken {
  readonly by: 'user' | 'agent';
  readonly text: string;
}

/** A saying as far as leaning looks at it. */
export interface Leaner {
  readonly turn: number;
  readonly text: string;
  readonly kind: SayingKind;
  readonly lead: string | undefined;
}

const MOST = 3;
/** A sentence with fewer topic words than this cannot explain another one. */
const FULL = 3;
/** The same for questions. */
const FULL_QUESTION = 2;
const LONGEST = 400;
/** How many characters at the end of an answer are searched for what it asks or proposes. */
const CLOSING_CHARACTERS = 1500;
const LONGEST_ITEMS = 30_000;
/** How many answers back a numbered list is looked for. */
const NEAR_ANSWERS = 3;

const POINTED =
  '(?:that|this|those|these|the same|same|my (?:earlier|previous|usual|first)|our (?:earlier|previous)|the (?:earlier|previous|above|first|second|last|original|agreed|new)|both|all (?:of )?(?:the|those|these)|either|that very|such an?)';
const RULE_POINTER = new RegExp(
  `\\b${POINTED} (?:[\\p{L}-]+ ){0,2}(?:rules?|constraints?|preferences?|instructions?|requirements?|conditions?|limits?|restrictions?|principles?|guidelines?)\\b|(?:这|那)(?:个|条|些)(?:规则|要求|限制)|diese regel|esa regla|cette règle|そのルール`,
  'iu',
);
const PLAN_POINTER = new RegExp(
  `\\b${POINTED} (?:[\\p{L}-]+ ){0,2}(?:plan|approach|option|idea|decision|proposal|choice|design|solution|way|direction)s?\\b|(?:这|那)个(?:计划|方案)|dieser plan|ese plan|ce plan`,
  'iu',
);
/** Words that stand for what was said before, where nothing in their own sentence can be meant. */
const PRONOUN =
  /(?<![\p{L}'’])(?:(?:it|them|they|him|both|either|neither|the (?:other|latter|former|rest)(?: one)?)(?![\p{L}’'-])|it['’]s|(?:that|this|those|these)(?=['’]s|\s*[.,;:!?)]|\s*$|\s(?:is|are|was|were|as|too|again|instead|up|out|in|on|to|from|with|for|at|by|here|now|first|and|or|but|so|should|must|can|will|would|ones?|way|time|this|through|then|everywhere)\b))|(?:^|[，。\s])(?:这样|那样|它们?|这个|那个|同样)|(?:それ|これ|あれ)(?:を|は|が|で)|(?<!\p{L})(?:dasselbe|beide|eso|esto|ambos|ça|cela)(?!\p{L})/iu;
const PLURAL =
  /\b(?:them|they|those|these|both|either|neither|each other|beide|ambos|les deux)\b|它们|两者/iu;
const PLURAL_POINTER =
  /\b(?:rules|constraints|preferences|instructions|requirements|conditions|limits|restrictions|principles|guidelines|both)\b/iu;
/** Adds nothing but weight to the sentence before it. */
const WEIGHT =
  /\b(?:rule|line|requirement|absolute|settled|non-negotiable|not negotiable|debate|no exceptions|without exception|final|firm)\b/iu;
const MOST_WEIGHT = 3;

/** The numbers or letters of items in a list of the agent's, alone or behind a verb. */
const CHOICE =
  /^[\s\p{P}]{0,4}(?:(?:yes|yeah|ok|okay|sure|no|and|now|then|let['’]?s|please|just|i['’]?d|i|like|want|go|going|with|do|take|fix|skip|implement|address|try|start|pick|choose|use|for|option|options|number|item|items|point|step|the|only)[\s,]{1,2}){0,6}#?((?:\d{1,2}|[A-Ha-h](?=[\s.):,]|$))(?:(?:,? and |,? & |, ?|\/)(?:\d{1,2}|[A-H])(?![\p{L}\d]))*)(?=\s*[.):,;!?]|\s*$|\s(?:and|too|first|then|please|now|as well|next|instead|again|only)\b)/iu;
const OPTION = /\b(?:option|choice|item|point|step|variant|#) ?(\d{1,2}|[A-H])\b/iu;
const ITEM_LABEL = /^[\s*#>-]{0,8}(?:option |step |item )?\**(\d{1,2}|[A-Ha-h])\**[.):—-]/iu;

/** Topic words of an item that says enough to be of a list of the user's own. */
const OWN_ITEM = 5;

/** For each saying, the earlier sentences that it cannot be understood without, nearest first. */
export function findLeanings(
  sayings: readonly Leaner[],
  turns: readonly Spoken[],
): readonly (readonly Leaning[])[] {
  const reader = new LeaningReader(sayings, turns);
  return sayings.map((saying, index) => (saying.kind === 'talk' ? [] : reader.leaningsOf(saying, index)));
}

class LeaningReader {
  private readonly sayings: readonly Leaner[];
  private readonly turns: readonly Spoken[];
  private readonly itemsOfTurn = new Map<number, ReadonlyMap<string, string>>();
  private readonly closings = new Map<number, readonly string[]>();

  constructor(sayings: readonly Leaner[], turns: readonly Spoken[]) {
    this.sayings = sayings;
    this.turns = turns;
  }

  leaningsOf(saying: Leaner, index: number): readonly Leaning[] {
    const found: Leaning[] = saying.lead === undefined ? [] : [{ turn: saying.turn, text: saying.lead }];
    found.push(...this.chosen(saying));
    if (found.length === 0 && ANSWER.test(saying.text)) found.push(...this.answered(saying.turn));
    if (RULE_POINTER.test(saying.text)) found.push(...this.pointedTo(index, 'demand'));
    else if (PLAN_POINTER.test(saying.text)) found.push(...this.pointedTo(index, 'decision'));
    else if (found.length === 0 && this.isPointing(saying)) found.push(...this.antecedents(index));
    const texts = new Set([saying.text]);
    return found.filter(({ text }) => !texts.has(text) && texts.add(text)).slice(0, MOST);
  }

  /** The items of the agent's list that are meant by their numbers. */
  private chosen({ turn, text }: Leaner): readonly Leaning[] {
    if (ITEM_LABEL.test(text) && topicWords(text).size >= OWN_ITEM) return [];
    const labels =
      (CHOICE.exec(text)?.[1] ?? OPTION.exec(text)?.[1])?.match(/\d{1,2}|(?<![a-z])[a-z](?![a-z])/gi) ?? [];
    if (labels.length === 0) return [];
    for (const answer of this.answersBefore(turn)) {
      const items = this.itemsIn(answer);
      const meant = labels
        .map((label) => items.get(label.toLowerCase()))
        .filter((item) => item !== undefined);
      if (meant.length === labels.length) return meant.map((item) => ({ turn: answer, text: item }));
    }
    return [];
  }

  private answersBefore(turn: number): readonly number[] {
    const answers: number[] = [];
    for (let at = turn - 1; at >= 0 && answers.length < NEAR_ANSWERS && at > turn - 4 * NEAR_ANSWERS; at--)
      if (this.turns[at]?.by === 'agent') answers.push(at);
    return answers;
  }

  private itemsIn(turn: number): ReadonlyMap<string, string> {
    const known = this.itemsOfTurn.get(turn);
    if (known !== undefined) return known;
    const items = new Map<string, string>();
    for (const line of (this.turns[turn]?.text ?? '').slice(-LONGEST_ITEMS).split('\n')) {
      const label = ITEM_LABEL.exec(line)?.[1];
      if (label !== undefined) items.set(label.toLowerCase(), line.trim().slice(0, LONGEST));
    }
    this.itemsOfTurn.set(turn, items);
    return items;
  }

  /** What the agent asked or proposed right before. */
  private answered(turn: number): readonly Leaning[] {
    const previous = turn - 1;
    if (this.turns[previous]?.by !== 'agent') return [];
    return this.closingOf(previous).map((text) => ({ turn: previous, text }));
  }

  private closingOf(turn: number): readonly string[] {
    const known = this.closings.get(turn) ?? closingSentences(this.turns[turn]?.text ?? '');
    this.closings.set(turn, known);
    return known;
  }

  /** The nearest earlier demands or plans, those before others that are about the same. */
  private pointedTo(index: number, kind: 'demand' | 'decision'): readonly Leaning[] {
    const text = this.sayings[index]?.text ?? '';
    const words = topicWords(text);
    const earlier: { saying: Leaner; shared: number }[] = [];
    for (let at = index - 1; at >= 0 && at > index - FARTHEST; at--) {
      const saying = this.sayings[at];
      if (saying === undefined || saying.kind !== kind || this.isPointing(saying) || ANSWER.test(saying.text))
        continue;
      earlier.push({ saying, shared: [...topicWords(saying.text)].filter((word) => words.has(word)).length });
    }
    const best = earlier.toSorted((left, right) => right.shared - left.shared);
    return best.slice(0, PLURAL_POINTER.test(text) ? MOST : 1).map(({ saying }) => toLeaning(saying));
  }

  private isPointing({ text, kind, lead }: Leaner): boolean {
    if (lead !== undefined) return false;
    const size = topicWords(text).size;
    if (kind === 'demand' && size <= MOST_WEIGHT && WEIGHT.test(text)) return true;
    const pronoun = PRONOUN.exec(text);
    if (pronoun === null) return false;
    const isFirst = pronoun.index <= FIRST_CHARACTERS;
    if (kind === 'fact' || kind === 'question') return isFirst && kind === 'fact';
    return isFirst || topicWords(text.slice(0, pronoun.index)).size < 2;
  }

  /** What a pronoun stands for: sentences before it, or what the agent said last. */
  private antecedents(index: number): readonly Leaning[] {
    const saying = this.sayings[index];
    if (saying === undefined) return [];
    const needed = PLURAL.test(saying.text) ? 2 : 1;
    const own = this.fullBefore(index, saying.turn, needed);
    if (own.some((each) => this.isFull(each))) return own.map(toLeaning);
    const answered = this.answered(saying.turn);
    if (answered.some(({ text }) => topicWords(text).size >= (text.endsWith('?') ? FULL_QUESTION : FULL)))
      return [...own.map(toLeaning), ...answered];
    const first = index - this.countBefore(index, saying.turn);
    const previous = this.sayings[first - 1];
    const earlier = previous === undefined ? [] : this.fullBefore(first, previous.turn, needed);
    return [...own, ...earlier].map(toLeaning);
  }

  /** Sentences of a turn before an index, backwards: until enough of them can stand for something. */
  private fullBefore(index: number, turn: number, needed: number): readonly Leaner[] {
    const found: Leaner[] = [];
    let left = needed;
    for (let at = index - 1; at >= 0 && left > 0 && found.length < MOST; at--) {
      const saying = this.sayings[at];
      if (saying?.turn !== turn) break;
      if (this.isFull(saying)) left--;
      else if (!this.isPointing(saying)) continue;
      found.push(saying);
    }
    return found;
  }

  private isFull(saying: Leaner): boolean {
    return topicWords(saying.text).size >= FULL && !this.isPointing(saying);
  }

  private countBefore(index: number, turn: number): number {
    let count = 0;
    while (this.sayings[index - count - 1]?.turn === turn) count++;
    return count;
  }
}

const FIRST_CHARACTERS = 12;
/** So many sayings back a rule or a plan is looked for that is pointed to. */
const FARTHEST = 200;

function toLeaning({ turn, text }: Leaner): Leaning {
  return { turn, text };
}

/**
 * The last sentence of an answer that asks, with what it asks about where it does not say it; or else the last that says
 * something. What is fenced is no sentence.
 */
function closingSentences(text: string): readonly string[] {
  const prose = text.split(FENCE).filter((_, index) => index % 2 === 0);
  const sentences: string[] = [];
  let left = CLOSING_CHARACTERS;
  for (const part of prose.toReversed()) {
    const isCut = part.length > left;
    const pieces = piecesOf(isCut ? part.slice(-left) : part).slice(isCut ? 1 : 0);
    sentences.unshift(...pieces.map((piece) => piece.text));
    left -= part.length;
    if (left <= 0) break;
  }
  const isHelpful = (sentence: string) => sentence.length <= LONGEST && topicWords(sentence).size >= FULL;
  const asking = sentences.findLastIndex((sentence) => sentence.endsWith('?'));
  const question = asking < sentences.length - NEAR_THE_END ? undefined : sentences[asking];
  if (question !== undefined && topicWords(question).size >= FULL_QUESTION) return [question];
  const helpful = sentences.slice(0, question === undefined ? undefined : asking).findLast(isHelpful);
  return [question, helpful].filter((sentence) => sentence !== undefined);
}

const FENCE = /^ {0,8}(?:```|~~~).*$/m;
/** A question farther from the end was not the last word. */
const NEAR_THE_END = 4;
