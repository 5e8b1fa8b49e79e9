/** Words that say nothing about what a sentence is about: they join, point, ask, or name the talk itself. */
const IDLE_WORDS = new Set(
  (
    'the and for but not nor yet with from into onto over under about above after before again against all also any are aren because been being below between both but can cannot could did does doing don down during each few more most much many had has have having her here hers him his how its itself just let lets like make made may might mine must need now off once only other another others our ours out own please same shall she should some such than that thats their theirs them then there these they thing things this those through too under until upon very via was way were what when where which while who whom why will would you your yours yes yeah okay sure thanks thank hello actually really maybe perhaps instead rather never always going gonna want wants wanted use used using get got give put take try say said says see know think thought mean well still even ever back first second third last next one two three new old earlier previous prior original current final different already soon today later far everything anything something nothing someone anyone everyone forget scratch ignore drop disregard plan plans approach option options idea rule rules instruction instructions decision answer table wait right good great fine ' +
    'und oder aber der die das den dem des ein eine einen einem nicht mit von für auf aus bei nach noch auch nur wie was wer wir ihr sie ich ist sind war wird doch dann hier bitte stattdessen ' +
    'los las una uno del para por con pero que como más muy esto eso esta este ese esa hay son fue ser favor mejor ' +
    'les des une est sont pas pour dans avec sur que qui mais plus cette ces aux vous nous ils elle plutôt'
  ).split(' '),
);

const WORD = /[\p{L}\p{N}_]+(?:[-.'’/][\p{L}\p{N}_]+)*/gu;
const SIGNS = /^[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+$/u;
const MIXED = /[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]/u;
const SHORTEST_WORD = 3;

/** What a text is about: its words without their endings, and pairs of signs where a sign is a word. In order, each once. */
export function topicWords(text: string): ReadonlySet<string> {
  const words = new Set<string>();
  for (const [word] of text.matchAll(WORD)) {
    if (MIXED.test(word)) for (const pair of pairsOf(word)) words.add(pair);
    else if (word.length >= SHORTEST_WORD || /^\d+$/.test(word)) addWord(words, word.toLowerCase());
  }
  return words;
}

function addWord(words: Set<string>, word: string): void {
  const bare = word.replace(/['’](?:s|re|ll|ve|d|t|m)$/, '');
  if (!IDLE_WORDS.has(bare) && !IDLE_WORDS.has(word)) words.add(stem(bare));
}

function stem(word: string): string {
  if (word.length < 5 || /[\d_./]/.test(word)) return word;
  return word.replace(/(?:ings?|ed|e?s|e|y|ies|ied)$/, '');
}

function pairsOf(word: string): readonly string[] {
  const signs = [...word].filter((sign) => SIGNS.test(sign));
  return signs.length < 2 ? signs : signs.slice(1).map((sign, index) => (signs[index] ?? '') + sign);
}

/** A number, a code, a path, an address, something quoted. */
const CODE =
  /\d|`[^`]+`|["“][^"”]{2,}["”]|[\p{L}\d]_[\p{L}\d]|[\p{L}\d][/\\@][\p{L}\d]|[\p{L}\d]\.[\p{L}\d]|->|→|=>|\p{Ll}\p{Lu}/u;
/** A word in capitals, or one with a capital within a sentence; "I" is none. */
const CAPITAL = /(?<!\p{L})\p{Lu}{2,}(?!\p{L})|[\p{L}\d,'’)] (?!I(?!\p{L}))\p{Lu}\p{L}/u;

/** Whether a text gives something to the letter: a number, a code, a path, a quotation. */
export function givesCode(text: string): boolean {
  return CODE.test(text);
}

/** Whether a text names something that could be asked for later: what it gives to the letter, or a person or thing. */
export function namesSomething(text: string): boolean {
  return CODE.test(text) || CAPITAL.test(text);
}
