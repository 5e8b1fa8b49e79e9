/** Obligation that is one whoever it speaks of. */
const OBLIGATION =
  /\b(?:must|mustn't|should(?: not|n't| never| always| only)|make sure|under no circumstances|without exception)\b/i;

/** Where an order begins: at the start of a sentence or clause, or behind a word that leads to one. */
const ORDER_START =
  /(?:^[^\p{L}]{0,8}|[,;:.!(—–-]\s{0,3}|\b(?:and|but|or|so|then|please|just|also|instead|no|yes|ok|okay|now|you)\s{1,3})/u
    .source;

/** Words that order or forbid where an order begins, and elsewhere tell what is: `the date never changes`. */
const ORDER = new RegExp(
  `${ORDER_START}(?:never|always|avoid|ensure|do not|don't|dont)\\b|\\bto ensure\\b|\\b(?:I|we) (?:do not|don't|dont) (?:want|need)\\b|\\byou (?:cannot|can't|may not)\\b|\\bat (?:least|most) (?:\\d|an?\\b|one\\b|two\\b|three\\b)`,
  'iu',
);

/** The same words behind which something is told: `never tested`, `always serializes`. */
const TOLD =
  /\b(?:never|always)\s{1,3}(?:\p{L}{1,30}ly\s{1,3})?\p{L}{1,30}(?:[^\P{L}sue]s|es|[^\P{L}eb]ed)\b/iu;

const ONLY = /\bonly\b/i;
/** What `only` says of something that is so: `there is only one`, `copies only what it needs`, `only exercised here`. */
const ONLY_TOLD =
  /\b(?:I|they|he|she|it|this|that|these|those|there|which|who|users?|is|are|was|were|has|have|had|the|view)\s{1,3}only\b|[’'](?:ve|re|m|s|d)\s{1,3}only\b|(?<!\bcan )\bwe\s{1,3}only\b|\b(?:that|which|who)\s{1,3}\p{L}{1,30}s\s{1,3}only\b|\bonly\s{1,3}(?:really|actually|recently|just|if the|\p{L}{1,30}[^\P{L}sue]s)\b|(?:[—–,-]|\bbeen|\bbeing)\s{1,3}only\s{1,3}\p{L}{1,30}ed\b/iu;

/** The same in languages whose words need no place in the sentence. */
const OTHER_LANGUAGES =
  /必须|务必|一定要|不要|不得|不能|不准|请勿|切勿|禁止|只能|\b(?:debes?|deben|nunca|siempre|asegúrate|evita|no uses|no hagas|no cambies|no toques)\b/iu;

/** Pasted output, code and tables, which demand nothing of whoever reads them: `12: raise …`, `| a | b |`, `KeyError: …`. */
const PASTED =
  /^\s{0,20}(?:\d{1,7}\s{0,3}[:|→]|\||\/\/|>>>)|\b\p{L}{0,30}(?:Error|Exception)\b\s{0,3}:|\b[\w-]{1,60}\.\p{L}{1,5}:\d|[;{}]\s{0,3}$|\)\.\w{1,30}\(/u;

const QUESTION = /[?？]\W{0,3}$/;

/** Whether a sentence of the user's demands or forbids something, by its words and where they stand. */
export function isDemand(sentence: string): boolean {
  if (QUESTION.test(sentence) || PASTED.test(sentence)) return false;
  if (OBLIGATION.test(sentence) || OTHER_LANGUAGES.test(sentence)) return true;
  if (ORDER.test(sentence) && !TOLD.test(sentence)) return true;
  return ONLY.test(sentence) && !ONLY_TOLD.test(sentence);
}
