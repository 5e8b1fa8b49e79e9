/** Tells what a sentence of the user is, by its words: a demand, a decision, a fact, a question or mere talk. */

import { FILLERS, LONGEST, MANNER, ORDERED, QUESTION } from '../words/demanding-words.ts';
import { isDemandPiece, type Piece } from '../words/demands.ts';
import { isRevision } from './revising-words.ts';
import { givesCode, namesSomething } from './words.ts';

/** What a saying is: see `Saying`. */
export type SayingKind = 'demand' | 'decision' | 'fact' | 'question' | 'talk';

/** Opens what has nothing to do with the work. */
const TANGENT =
  /^[\s\p{P}]{0,8}(?:(?:oh|ok|okay|also|well|and|so|hey|quick|just|on an?),? ){0,3}(?:by the way|btw|side ?note|random(?: (?:thought|question|aside))?\s?[:,—–-]|tangent|aside\b|off[- ]topic|(?:another|different) note\b|unrelated|(?:question )?unrelated|(?:totally |completely )?unrelated|fun fact|just curious|just remembered\b|i just remembered\b|i was (?:just )?(?:thinking|wondering) about\b|i keep (?:hearing|thinking)\b|did you (?:see|hear|read|watch)\b|have you (?:seen|heard|read)\b|do you happen to know\b|übrigens|nebenbei|por cierto|au fait|顺便|順便|对了|對了|話は変わ|ちなみに|ところで)/iu;

/** What stands before thanks and the like. */
const POLITE =
  '^[\\s\\p{P}\\p{S}]{0,8}(?:(?:ok|okay|yes|yeah|no|great|alright|sure|perfect|awesome|cool|nice|oh|ah|well|and|hm+|got it|i see|fine|right|good),?\\s?[.!]?\\s?){0,3}';
/** Thanks, greetings, going on: nothing else in the sentence. */
const EMPTY = new RegExp(
  `${POLITE}(?:(?:please )?(?:continue|go on|keep going|carry on|proceed|go)|take care|thanks?(?: you)?|thank you[^,;:]{0,60}|thanks[^,;:]{0,60}|thx|hi(?: there| again)?|hello(?: there| again)?|hey(?: there)?|good (?:morning|evening|day|afternoon)|bye|goodbye|have a [^,;:]{0,40}|you too|danke(?: schön)?|gracias|merci|谢谢|謝謝|ありがとう|你好|こんにちは)?[\\s\\p{P}\\p{S}]{0,6}$`,
  'iu',
);
/** Opens thanks, consent, or what the speaker will do alone. */
const SMALL_TALK = new RegExp(
  `${POLITE}(?:thanks?\\b|thank you|thx|talk (?:to you )?soon|have a (?:great|nice|good|wonderful)|you['’]re welcome|no (?:problem|worries)|sorry\\b[^,;:]{0,40}$|i understand\\b[^,;:]{0,20}$|i see\\b[^,;:]{0,10}$|that (?:makes sense|looks great|sounds good|sounds great|works)|(?:i )?appreciate|i['’]?ll (?:check|look|try|get back|gather|let you know|be in touch|find|make sure|ensure|work on|reach out|do (?:that|so|it))\\b|i will (?:check|look|try|get back|find)|will do\\b|let me (?:check|see|think|look|get back|try)\\b|everything looks|(?:wow|lol|haha|omg|wtf|halp|ugh|yay|success)\\b)`,
  'iu',
);
/** Says what the speaker does not know. */
const NOT_KNOWN =
  /\bi(?:['’]m| am)? (?:also |just |really )?(?:(?:don['’]?t|do not|can['’]?t|cannot) (?:\p{L}+ )?(?:have|know|remember|recall)|not (?:quite |really )?sure|afraid)\b/iu;

/** Asks for words, not for work. */
const ASKING =
  /^(?:tell me|show me|explain|describe|summari[sz]e|remind me|walk me through|confirm|clarify|let me know|give me (?:the|a|an) (?:list|summary|overview|status)|list (?:the|all|what|which)|what|why|who|how|where|which|when (?:do|does|did|is|are|will)|erklär|explica|explique|解释|说明|説明して)(?![\p{L}])/iu;

/** A request in the form of a question, and the verb it asks for. */
const ASKED_TO =
  /\b(?:can|could|would|will) (?:you|we)(?: (?:please|also|just|maybe|perhaps|then|now|kindly|go ahead and|help me(?: to)?|help))* (\p{L}+)/iu;
const ASKED_FOR_WORDS =
  /^(?:tell|explain|confirm|clarify|let|give|show|remind|describe|summari[sz]e|know|help|assist|think|say|recommend|elaborate|guide|provide|estimate|be|have|please|still|just)$/iu;
/** Looking is work where it is said what to look at. */
const LOOKING = /^(?:look|check|find|figure|see|double|take|search|review)$/iu;

/** A plan, a choice, a wish, who does what. */
const DECIDED: readonly RegExp[] = [
  /\b(?:let['’]?s|lets us|let us|we['’]?ll|we will|we['’]re going (?:to|with)|we are going (?:to|with)|i['’]?ll (?:go|use|take|choose|pick|pay|proceed|have|keep|book)|i will (?:go|use|take|choose|pick|pay)|go(?:ing)? with|settle[d]? on|decided (?:on|to|that)|we agreed|i agree|i choose|i pick|i approve)\b/iu,
  /\b(?:i|we)(?:(?:['’]d| would)(?: also| really| just| still)? (?:like|love|prefer)|(?: also| really| just| still| now)? (?:want|need|wish|plan|intend))(?!ed\b) \p{L}/iu,
  /\b(?:i think|i guess|i suppose|i believe|maybe|perhaps|probably|so|then) (?:we|it|that|the|you|this) (?:[\p{L}_'-]+ ){0,6}should\b|(?:^|[,;.!—–] |\b(?:so|then|and|but|now|ok|okay),? )(?:we|it|this|that|they) (?:really |also |then |still )?(?:should(?! have been| be (?:all|fine|good|ok|okay|enough|it)\b)|need to|needs to|have to|has to|must)\b|\bneeds? to be\b/iu,
  /^[\s\p{P}\d]{0,8}(?:(?:the|my|our|new|current|next|final|updated|revised|total|first) ){0,2}(?:plan|approach|goal|decision|idea|proposal|choice|task|final answer|next steps?)\b[^:]{0,80}:/iu,
  /(?:^|[\s,;.])(?:please|kindly|bitte|por favor|s['’]il (?:te|vous) pla[iî]t) (?!\P{L})[\p{L}'’]+ \p{L}/iu,
  /\b(?:the right (?:call|choice|way|approach|thing)|final answer|the (?:only )?(?:direction|way forward)|new plan|option \d|option [a-z]\b|the (?:first|second|third|last|other) (?:one|option))\b/iu,
  // Who does what
  /(?:^|[\s,;:(])\p{Lu}\p{L}+ (?:owns|leads|handles|drives|takes|runs|covers|reviews|manages|will|is (?:on|leading|driving|handling|owning|running|responsible|in charge|the (?:[\p{L}-]+ ){0,3}(?:owner|lead|leader|driver|reviewer|contact|manager|approver|assignee)))\b/u,
  /^(?:[^:]{0,80}: )?\p{Lu}[\p{L} ]{1,30}? ?(?:->|→|=>) ?\p{L}/u,
  // German, Spanish, French, Chinese, Japanese
  /(?<!\p{L})(?:lass(?:t)? uns|wir (?:nehmen|machen|verwenden|nutzen|werden|bleiben)|ich (?:möchte|will|nehme|hätte gern)|entscheide|vamos a|usemos|hagamos|quiero|quisiera|prefiero|necesito|decid(?:o|imos)|on (?:va|utilise|prend|garde)|nous (?:allons|utilisons)|je (?:veux|voudrais|prends|choisis))(?!\p{L})/iu,
  /我们(?:用|使用|改用|决定|选择|就|采用|先)|就用|决定用|选(?:择)?(?:第|方案)|帮我|我想|我要|我需要|请(?!问)|把.{1,60}(?:改|换|移|删|放)|にしましょう|で行きましょう|ましょう|にします|てください|したい|お願いします/u,
];

/** Consent, refusal or a choice so short that only what it answers tells what it means. */
export const ANSWER =
  /^[\s\p{P}]{0,4}(?:(?:yes|yeah|yep|yup|no|nope|ok|okay|sure|correct|exactly|right|agreed|do it|do that|do this|go ahead|please do|go for it|sounds good|ja|nein|sí|oui|non|好的?|是的?|对|不用?|可以|はい|いいえ|[a-dA-D]|\d{1,2}(?:(?:,| and| &) ?\d{1,2}){0,5}|option [a-zA-Z\d]{1,2}|both|neither|all(?: of them)?|the (?:first|second|third|last|other|latter|former)(?: one| option)?)(?:,? (?:please|please proceed|proceed|please do(?: it| that| so)?|thanks|do (?:it|that|this)|go ahead|let['’]?s (?:do|use) (?:it|that|this)|that['’]?s (?:it|right|fine)))?)[\s.,:;!)]{0,4}$/iu;

/** Says no more than that one listens, unless it is all that is said. */
export const NOD = /^[\s\p{P}]{0,4}(?:ok|okay|sure|right|exactly|correct)[\s\p{P}]{0,4}$/iu;
/** A word to the harness, not to the agent. */
const COMMAND = /^\/[a-z][\w:-]{0,60}$/i;

/** What a piece of the user's says, by its own words; statements are told apart by what surrounds them. */
export function kindOf(piece: Piece): SayingKind | 'statement' {
  const words = piece.ownLead ?? piece.text;
  // Nobody speaks so long without a space.
  if (words.length > LONGEST) return 'talk';
  if (isDemandPiece(piece)) return 'demand';
  if (ANSWER.test(words)) return 'decision';
  if (COMMAND.test(words) || EMPTY.test(words) || isTangent(words)) return 'talk';
  const bare = words.replace(FILLERS, '');
  if (QUESTION.test(words)) return isRequest(bare) ? 'decision' : 'question';
  if (ASKING.test(bare)) return 'question';
  if (isDecided(words, bare)) return 'decision';
  const isRemark = SMALL_TALK.test(words) || NOT_KNOWN.test(words);
  return isRemark && !givesCode(words) ? 'talk' : 'statement';
}

function isTangent(words: string): boolean {
  return TANGENT.test(words) && (QUESTION.test(words) || !namesSomething(words.replace(TANGENT, '')));
}

function isDecided(words: string, bare: string): boolean {
  if (isRevision(words) || ORDERED.test(bare) || MANNER.test(bare)) return true;
  return hasOrder(words) || DECIDED.some((way) => way.test(words));
}

/** Whether a question asks for something to be done. */
function isRequest(question: string): boolean {
  if (/\blet['’]?s\b/i.test(question)) return true;
  if (/^(?:how|what|why|where|which|who|when)\b/i.test(question)) return false;
  const verb = ASKED_TO.exec(question)?.[1];
  if (verb === undefined || ASKED_FOR_WORDS.test(verb)) return false;
  if (/^do$/i.test(verb))
    return /\b(?:can|could|would|will) (?:you|we) (?:\p{L}+ )?do (?:an?|the|some|one|all)\b/iu.test(question);
  return !LOOKING.test(verb) || namesSomething(question);
}

/** An order behind an introduction: "given that rule, draft …", "for 2: add …". */
function hasOrder(sentence: string): boolean {
  if (TELLING.test(sentence)) return false;
  const clauses = sentence.split(/[,:;—–]\s|\s-\s/, MOST_CLAUSES);
  return clauses.slice(1).some((clause) => ORDERED.test(clause.replace(FILLERS, '')));
}

const MOST_CLAUSES = 4;
/** Somebody tells what was, or how it is. */
const TELLING = /^[\s\p{P}\d]{0,8}(?:i|we|it|he|she|they|this|that|the|there|you|my|our|its|an?)\b/iu;
