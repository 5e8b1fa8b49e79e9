import { type Block, callArguments, textOf } from '../../conversation/message.ts';
import { readSummaryMessage } from '../../conversation/summary-message.ts';
import { type EntityKind, isWordBorder, isWordCode, scanText } from '../facts/entities.ts';
import { argumentTexts } from '../facts/facts.ts';
import { createTextFinder } from '../facts/find-texts.ts';
import { mapSentences } from '../prose.ts';
import type { SummaryRequest } from '../summary-request.ts';

/** Stands at the end of every sentence of a model's that names something of which the source knows nothing. */
const UNVERIFIED = ' [unverified]';

/** Names that a model cannot know but from the source. Words and identifiers may be its own description. */
const CLAIMED: ReadonlySet<EntityKind> = new Set(['path', 'file', 'url', 'code', 'number']);

/**
 * Marks the sentences of a text that name a path, a file, a web address, a code or a number which occurs nowhere in the
 * source. All others stay as they are. One pass over the source, however much is claimed.
 */
export function markUnverified(text: string, source: Iterable<string>): string {
  const claimed = new Map<string, EntityKind>();
  forEachClaim(text, (name, kind) => claimed.set(name, kind));
  const unsupported = withoutSupport(claimed, source);
  if (unsupported.size === 0) return text;
  return mapSentences(text, (sentence) =>
    needsMark(sentence, unsupported) ? sentence.replace(SENTENCE_END, `${UNVERIFIED}$&`) : sentence,
  );
}

/** What ends a sentence. The mark goes in front of it, so that it is found in the same sentence again. */
const SENTENCE_END = /(?:[.!?。！？]{1,3}["”»’)*_`\]」』]{0,3})?\s{0,3}$/;

/**
 * All that a summary may rest on: the messages it stands for, what stays beside them, instructions and the previous
 * summary. A sentence that could not be verified the last time supports nothing.
 */
export function* sourceTexts(request: SummaryRequest): Iterable<string> {
  const { messages, conversation, previousSummary = '', instructions = '' } = request;
  for (const block of conversation.frame.system) yield* textsOf(block);
  yield instructions;
  yield verifiedSentences(previousSummary);
  for (const message of new Set([...messages, ...conversation.messages])) {
    const summary = readSummaryMessage(message);
    if (summary !== undefined) yield verifiedSentences(summary);
    else for (const block of message.blocks) yield* textsOf(block);
  }
}

function verifiedSentences(summary: string): string {
  return mapSentences(summary, (sentence) => (sentence.includes(UNVERIFIED) ? undefined : sentence));
}

function textsOf(block: Block): readonly string[] {
  return block.type === 'tool-call'
    ? [block.name, block.id ?? '', ...argumentTexts(callArguments(block) ?? block.input)]
    : [textOf(block)];
}

function needsMark(sentence: string, unsupported: ReadonlySet<string>): boolean {
  if (sentence.includes(UNVERIFIED)) return false;
  let isUnsupported = false;
  forEachClaim(sentence, (name) => {
    isUnsupported ||= unsupported.has(name);
  });
  return isUnsupported;
}

function forEachClaim(text: string, take: (name: string, kind: EntityKind) => void): void {
  scanText(text, {
    entity: (name, kind) => {
      if (CLAIMED.has(kind)) take(name, kind);
    },
  });
}

function withoutSupport(
  claimed: ReadonlyMap<string, EntityKind>,
  source: Iterable<string>,
): ReadonlySet<string> {
  const nameOf = new Map<string, string>();
  for (const [name, kind] of claimed) {
    for (const form of formsOf(name, kind)) nameOf.set(form, name);
  }
  const unsupported = new Set(claimed.keys());
  const finder = createTextFinder(nameOf.keys(), (text, start, end) =>
    standsThere(text, start, end, claimed.get(nameOf.get(text.slice(start, end)) ?? '')),
  );
  for (const text of source) {
    if (unsupported.size === 0) break;
    for (const form of finder.search(text).keys()) unsupported.delete(nameOf.get(form) ?? '');
  }
  return unsupported;
}

/** Numbers are written with and without signs between their thousands, paths with either slash. */
function formsOf(name: string, kind: EntityKind | undefined): readonly string[] {
  if (kind === 'path') return [name, name.replaceAll('/', '\\')];
  if (kind !== 'number') return [name];
  const grouped = name.replaceAll(/(?<=\d)(?=(?:\d{3}){1,20}$)/g, ',');
  return [
    name,
    ...[',', '.', ' ', '_', '’', '\u00a0', '\u202f'].map((sign) => grouped.replaceAll(',', sign)),
  ];
}

/** Codes and web addresses may be the beginning of longer ones; nothing may be the end of another word. */
function standsThere(text: string, start: number, end: number, kind: EntityKind | undefined): boolean {
  const isOpenEnded = kind === 'code' || kind === 'url';
  return beginsAt(text, start) && (isOpenEnded || isWordBorder(text, end));
}

/** A word begins there, also behind an escaped sign in a text that is JSON: `\n`. */
function beginsAt(text: string, index: number): boolean {
  if (isWordBorder(text, index)) return true;
  const before = text.charAt(index - 1);
  return 'nrt'.includes(before) && text.charAt(index - 2) === '\\' && isWordCode(text.charCodeAt(index));
}
