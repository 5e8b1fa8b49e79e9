import { asList, isObject } from '../../conversation/json.ts';
import { hasProseForm, readProse } from '../prose.ts';
import type { SummaryFailure } from '../summary-request.ts';
import type { Completion, CompletionStop } from './model-client.ts';
import { SUMMARY_ORDERS } from './prompt.ts';

/** Why an answer is no summary. */
export interface Rejection {
  readonly reason: SummaryFailure;
  readonly message: string;
}

/** An answer that may become a summary. */
export interface Accepted {
  readonly reason: undefined;
  /** The answer without draft, tags and what stands around them. */
  readonly text: string;
}

/**
 * Judges an answer by itself: whole, not empty, no refusal, no tool call, no echo, and about what it should be about. How
 * large it may be is judged once false quotations are gone from it.
 * @param source texts that a summary may rest on, where they are known
 */
export function acceptAnswer({ text, stop }: Completion, source?: Iterable<string>): Accepted | Rejection {
  const stopped = stops.get(stop);
  if (stopped !== undefined) return stopped;
  if (isEcho(text)) return { reason: 'nonsense', message: 'the model gave back what it was asked' };
  const body = answerBody(text);
  const { now, story } = readProse(body.text);
  if (isBlank(`${now}${story}`)) return { reason: 'empty', message: 'the model answered with nothing' };
  if (isToolProtocol(body.text))
    return { reason: 'called-a-tool', message: 'the model wrote a tool call instead of a summary' };
  if ([now, story].filter((part) => part !== '').every(isRefusal))
    return { reason: 'refused', message: 'the model refused in words; try another model' };
  if (!body.isClosed) return { reason: 'truncated', message: 'the answer ends before its closing tag' };
  if (source !== undefined && isNonsense(body.text, source))
    return { reason: 'nonsense', message: 'the answer has nothing to do with the conversation' };
  return { reason: undefined, text: body.text };
}

const stops: ReadonlyMap<CompletionStop, Rejection> = new Map<CompletionStop, Rejection>([
  ['length', { reason: 'truncated', message: 'the answer was cut off at its length limit' }],
  ['tool-call', { reason: 'called-a-tool', message: 'the model called a tool instead of writing' }],
  ['refusal', { reason: 'refused', message: 'the model refused, or a filter stopped it; try another model' }],
  ['context-full', { reason: 'input-too-long', message: "the model's window was full before the end" }],
  ['other', { reason: 'truncated', message: 'the answer did not come to its end' }],
]);

/** Characters that count as letters and show nothing. */
const FILLERS = /[\u115f\u1160\u3164\uffa0]/g;

/** Whether there is nothing to read: blanks, invisible characters, mere punctuation. */
export function isBlank(text: string): boolean {
  return !/[\p{L}\p{N}]/u.test(text.replaceAll(FILLERS, ''));
}

/** How the line of a pseudo tool call begins. */
const TOOL_LINE =
  /^\s*(?:<(?:tool_?call|tool_use|tool_code|function_call|function=|invoke|\|tool|\|python_tag|\|channel\|>|｜tool)|\[tool_call|\[called |```tool)/i;

function isToolProtocol(text: string): boolean {
  return text.split('\n').some((line) => TOOL_LINE.test(line)) || isToolJson(text.trim());
}

const INPUT_KEYS = ['arguments', 'parameters', 'input'];

/** `{"name": …, "arguments": …}`, alone or in a list, with or without a code fence around it. */
function isToolJson(text: string): boolean {
  const json = text.startsWith('```') ? text.slice(text.indexOf('\n') + 1, text.lastIndexOf('```')) : text;
  if (!json.startsWith('{') && !json.startsWith('[')) return false;
  try {
    const value: unknown = JSON.parse(json);
    return (Array.isArray(value) ? asList(value) : [value]).some(isToolObject);
  } catch {
    return false;
  }
}

function isToolObject(value: unknown): boolean {
  if (!isObject(value)) return false;
  if (Object.hasOwn(value, 'tool_calls') || Object.hasOwn(value, 'function_call')) return true;
  const isNamed = ['name', 'tool', 'function'].some((key) => Object.hasOwn(value, key));
  return isNamed && INPUT_KEYS.some((key) => Object.hasOwn(value, key));
}

const DEED =
  '(?:help|assist|compl|provid|summari|fulfil|continu|process|do (?:that|this|it)|engag|shar|discuss|creat|generat|produc|writ|support|respond|answer|proceed|tak(?:e|ing) part)';

/** How refusals begin. Needed because not every provider gives a stop reason for them. */
const REFUSALS: readonly RegExp[] = [
  /^(?:i'm|i am|we're|we are) (?:very |so |really |truly |terribly )?sorry\b/,
  /^(?:sorry|apologies|my apologies|unfortunately)\b[^a-z]{1,3}(?:but )?(?:i|we)\b/,
  /^(?:i|we) (?:sincerely )?(?:apologi[sz]e|regret)\b/,
  new RegExp(
    `^(?:i|we) (?:can't|cannot|can not|could not|couldn't|won't|will not|would not|wouldn't)\\b.{0,30}\\b${DEED}`,
  ),
  new RegExp(`^(?:i'm|i am|we're|we are) (?:not able|unable|not allowed|not permitted)\\b.{0,30}\\b${DEED}`),
  /^(?:i'm|i am) not comfortable\b/,
  /^(?:i|we) (?:must|have to|need to) (?:respectfully )?(?:decline|refuse)\b/,
  /^(?:i|we) (?:respectfully )?(?:decline|refuse)\b/,
  /^(?:i|we) (?:don't|do not) feel comfortable\b/,
  /^as an? (?:ai|artificial|language model|large language)\b/,
  /^(?:this|that|the|your) (?:request|content|conversation|material|prompt) (?:violates|goes against|is against|cannot be|can't be|was (?:blocked|flagged))\b/,
  /^(?:it|that|this) (?:would be|is) (?:against my|inappropriate|not appropriate)\b/,
  /^\[?(?:content|response) (?:was )?(?:blocked|removed|filtered)\b/,
  /^(?:es tut mir leid|lo siento|je suis désolé|mi dispiace|desculpe|извините)/,
  /^(?:申し訳|抱歉|对不起|很抱歉|죄송)/,
];

const REFUSAL_CHARACTERS = 200;

/** Whether a text begins like a refusal. A part of a record may ("I cannot continue before …"), but not all of it. */
function isRefusal(text: string): boolean {
  const opening = text.trimStart().slice(0, REFUSAL_CHARACTERS).replaceAll('’', "'").replaceAll(/\s+/g, ' ');
  return REFUSALS.some((pattern) => pattern.test(opening.toLowerCase()));
}

/** Whether an answer repeats what the model was asked instead of doing it. */
function isEcho(answer: string): boolean {
  return SUMMARY_ORDERS.some((order) => answer.includes(order));
}

/**
 * Whether an answer has nothing to do with what it should be about: none of the parts that were asked for, and not one word
 * that occurs in the source. Prose in any language shares some, if only names.
 */
function isNonsense(answer: string, source: Iterable<string>): boolean {
  if (hasProseForm(answer)) return false;
  const words = new Set(wordsIn(answer));
  for (const text of source) for (const word of wordsIn(text)) if (words.has(word)) return false;
  return true;
}

/** Words of four letters and more; pairs of characters where words are not set apart. */
const WORD = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]{2}|[\p{L}\p{N}_]{4,40}/gu;

function* wordsIn(text: string): Iterable<string> {
  for (const [word] of text.matchAll(WORD)) yield word.toLowerCase();
}

/** Tags that models put their draft between. Only what follows the draft counts. */
const DRAFT_TAGS = ['analysis', 'think', 'thinking', 'reasoning', 'scratchpad'];
/** The tags that hold the answer. */
const OPENING_TAG = '<summary>';
const CLOSING_TAG = '</summary>';

/** A model's output, taken apart. */
export interface AnswerBody {
  /** The answer itself: without draft, tags, and whatever stands around the tags. */
  readonly text: string;
  /** Whether it stood between tags. */
  readonly isTagged: boolean;
  /** False when a tag was opened and never closed, so that the end is missing. */
  readonly isClosed: boolean;
}

/**
 * A summary as a person would read it: the draft removed, the `<summary>` tags replaced by a plain heading, runs of
 * blank lines collapsed to one, trimmed. What stands outside the tags is dropped. Text without tags passes through.
 */
export function formatSummary(text: string): string {
  const { text: body, isTagged } = answerBody(text);
  const tidy = collapseBlankLines(body);
  return isTagged && tidy !== '' ? `Summary:\n${tidy}` : tidy;
}

/** The answer inside a model's output. */
export function answerBody(text: string): AnswerBody {
  const undrafted = removeDrafts(text);
  const at = undrafted.indexOf(OPENING_TAG);
  if (at < 0) return { text: undrafted, isTagged: false, isClosed: true };
  const body = undrafted.slice(at + OPENING_TAG.length);
  // The first closing tag ends it: what comes after may be made up by the model, or put there by what it read.
  const end = body.indexOf(CLOSING_TAG);
  return { text: end < 0 ? body : body.slice(0, end), isTagged: true, isClosed: end >= 0 };
}

/**
 * Drafts stand in front. One inside the answer is part of what the answer tells. One that is never closed reaches up to
 * the answer's tag, or to the end.
 */
function removeDrafts(text: string): string {
  let rest = text.trimStart();
  for (;;) {
    const tag = DRAFT_TAGS.find((name) => rest.startsWith(`<${name}>`));
    if (tag === undefined) return rest;
    const end = rest.indexOf(`</${tag}>`);
    const answer = rest.indexOf(OPENING_TAG);
    const start = end >= 0 ? end + tag.length + 3 : answer >= 0 ? answer : rest.length;
    rest = rest.slice(start).trimStart();
  }
}

/** Runs of blank lines become one, blanks at the ends of lines go, and so does everything blank around the text. */
function collapseBlankLines(text: string): string {
  const lines = text.split('\n').map((line) => line.trimEnd());
  return lines
    .filter((line, index) => line !== '' || lines[index - 1] !== '')
    .join('\n')
    .trim();
}
