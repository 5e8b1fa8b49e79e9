/** Offers what happened, turn by turn: what the agent said and did. */

import { currentLines, markReplaced } from '../changed-lines.ts';
import type { Did, Given, Happening, Past, Told } from '../events.ts';
import { namesIn } from '../names.ts';
import { givesReason, isDecisive } from '../telling.ts';
import { WORTH } from '../weights.ts';
import { isLook, offerCall, offerFindings, offerLooks, showsFile } from './calls.ts';
import { type Piece, type TextUnit, type Unit, unitsOf } from './piece.ts';
import { type StoryContext, StoryPlace } from './story-place.ts';

/** Offers what happened, event by event. */
export function offerStory(events: readonly Happening[], context: StoryContext): readonly Piece[] {
  const pieces: Piece[] = [];
  let turn = 0;
  let looks: { readonly at: StoryPlace; readonly events: Did[] } | undefined;
  for (const [place, event] of events.entries()) {
    turn = turnOf(event, context) ?? turn;
    if (event.isKept) continue;
    const at = new StoryPlace(context, place, turn);
    if (event.type === 'did' && isLook(event) && showsFile(event)) {
      looks ??= { at, events: [] };
      looks.events.push(event);
      continue;
    }
    if (looks !== undefined) pieces.push(offerLooks(looks.events, looks.at));
    looks = undefined;
    const piece = offerEvent(event, at);
    if (piece !== undefined && piece.units.length > 0) pieces.push(piece);
  }
  if (looks !== undefined) pieces.push(offerLooks(looks.events, looks.at));
  return pieces;
}

/** The number of the user's message with which an event begins; undefined where it goes on. */
function turnOf(event: Happening, { numbers }: StoryContext): number | undefined {
  if (event.type === 'said') return numbers.get(event);
  return event.type === 'past' || event.type === 'told' ? event.turn : undefined;
}

function offerEvent(event: Happening, at: StoryPlace): Piece | undefined {
  switch (event.type) {
    case 'told':
      return offerTold(event.text, toldKind(event, at), at);
    case 'did':
      if (event.action.kind === 'finish') return offerTold(event.action.text, 'closing', at);
      return isLook(event) ? offerFindings(event, at) : offerCall(event, at);
    case 'given':
      return offerGiven(event, at);
    case 'past':
      return offerPast(event, at);
    case 'said':
      return undefined;
  }
}

function toldKind(event: Told, { context, place }: StoryPlace): ToldKind {
  if (context.asked === event) return 'asked';
  if (event.isClosing) return 'closing';
  const next = context.events[place + 1];
  const isDone = next?.type === 'did' && next.action.kind === 'change' && !next.isFailed && !next.isRefused;
  if (isDone || event.text.endsWith(DONE)) return 'done';
  if (place === context.newest + 1) return 'plan';
  const before = context.events[place - 1];
  return before?.type === 'did' && before.isFailed ? 'explains' : 'aside';
}

/** Behind an announcement that was followed by what it announces. */
const DONE = ' (done)';

/** Lines that only lead others have this share of their worth. */
const LEADING_SHARE = 0.5;

/** A few words that answer nothing: "Great question!", "Done." */
const GREETING = /^[\p{L}' ,]{1,28}[.!]$/u;

/**
 * What a text of the agent's is: said between two steps, right after a failure, right before the change it announces, first of all in the newest
 * turn, the end of a turn, or what the newest request of the user answers, which often makes no sense without all of it.
 */
type ToldKind = 'aside' | 'explains' | 'done' | 'plan' | 'closing' | 'asked';

function offerTold(text: string, kind: ToldKind, at: StoryPlace): Piece {
  const read = unitsOf(text.replaceAll(FILE_LINK, '$1'));
  const told = kind === 'asked' ? withWholeEnd(read, askedRoom(at), at.context.countText) : read;
  const first = firstTelling(told);
  const ending = told.findLastIndex(({ text: words }) => !OFFERS.test(words));
  const last = told.length - 1;
  const worthAt = (index: number, unit: Pick<TextUnit, 'text'>): number => {
    if (kind === 'asked' && index === last) return WORTH.askedEnd;
    // A verdict of two words may stand in front of the first sentence, and a question at the end may still be open.
    const isOpen = !at.isOver && index === last && /[?？]$/.test(unit.text);
    const isVerdict = index < first && GREETING.test(unit.text);
    const isFirst = (kind === 'closing' || kind === 'asked') && (index === first || isVerdict || isOpen);
    if (isFirst) return Math.max(worthOfSentence(unit, kind), WORTH.closingFirst);
    if (kind === 'closing' && index < first && told[index]?.leads === false) return WORTH.closing / 2;
    const isLast = kind === 'closing' && index === ending;
    return Math.max(worthOfSentence(unit, kind), isLast ? WORTH.closingLast : 0);
  };
  const units = told.map(({ leads, ...unit }, index): Unit => {
    const isAnnounced = isAnnouncement(unit.text);
    // Names that it speaks of are no reason to tell it.
    const names = isAnnounced && kind !== 'done' && kind !== 'plan' && kind !== 'asked' ? [] : undefined;
    const text = isAnnounced && kind === 'done' && index === last ? markDone(unit.text) : unit.text;
    const share = leads && kind !== 'done' ? LEADING_SHARE : 1;
    return { ...unit, text, worth: worthAt(index, unit) * share * at.aged, names };
  });
  return at.piece('agent:', units);
}

/** Asks what to do next, or offers it. */
const OFFERS =
  /[?？]$|^(?:if you (?:want|like|prefer)|let me know|would you|shall i|wenn du|si quieres|如果)/i;

/** A text of fewer sentences answers with the first of them. */
const LONG_TEXT = 4;

/** The first sentence that says something: it names a thing, finds or decides. One of a few words only opens the talk. */
function firstTelling(units: readonly TextUnit[]): number {
  const isOpening = ({ leads, text }: TextUnit) => leads || GREETING.test(text) || isAnnouncement(text);
  const telling = units.findIndex(
    (unit) => !isOpening(unit) && (isDecisive(unit.text) || namesIn(unit.text).size > 0),
  );
  return telling === -1 || units.length < LONG_TEXT ? units.findIndex((unit) => !isOpening(unit)) : telling;
}

/** So much of the room what the user answers may take, or the end of it where all would be more. */
const ASKED_SHARE = 0.3;
/** In a very small memory there is hardly anything else to go on from. */
const SMALL_ROOM = { tokens: 600, share: 0.8 } as const;
const NESTED = /^\s{2,40}(?:[-*•+]|\d{1,3}[.)])\s{1,4}/;

function askedRoom({ context: { room } }: StoryPlace): number {
  return room * (room < SMALL_ROOM.tokens ? SMALL_ROOM.share : ASKED_SHARE);
}

/** The units with as many of the last as there is room for in one: a result, a list of choices and the question behind it. */
function withWholeEnd(
  units: readonly TextUnit[],
  room: number,
  countText: (text: string) => number,
): readonly TextUnit[] {
  const labels = new Map<string, number>();
  const parts = units.map((unit) => asPart(unit, labels));
  let left = room;
  let from = units.length;
  for (const part of parts.toReversed()) {
    left -= countText(part);
    if (left < 0) break;
    from--;
  }
  // What begins in the middle of a list has lost what it is about.
  while (from > 0 && from < units.length && units[from]?.needs !== undefined) from++;
  if (from >= units.length - 1) return units;
  const text = parts.slice(from).join('').replaceAll(/:; /g, ': ').trim();
  return [...units.slice(0, from), { text, startsLine: true, needs: undefined, leads: false }];
}

/** What an item begins with: `Departure: 04:00`. */
const LABEL = /^([\p{L} ]{2,30}): (?=\S)/u;
/** A label that came before is known: the items of a list name the same things in the same order. */
const KNOWN_LABEL = 1;

/** A unit with what stands between it and the one before it. An item of an item goes on behind that. */
function asPart({ text, startsLine }: TextUnit, labels: Map<string, number>): string {
  const plain = text.replaceAll('**', '').trimEnd();
  if (!startsLine) return ` ${plain}`;
  if (!NESTED.test(plain)) return `\n${plain}`;
  const item = plain.replace(NESTED, '');
  const label = LABEL.exec(item)?.[1] ?? '';
  const times = labels.get(label) ?? 0;
  if (label !== '') labels.set(label, times + 1);
  return `; ${times >= KNOWN_LABEL ? item.replace(LABEL, '') : item}`;
}

function markDone(text: string): string {
  return text.endsWith(DONE) ? text : `${text.replace(/:$/, '.')}${DONE}`;
}

/** A link to a file, whose label names it already. Addresses stay. */
const FILE_LINK = /\[([^\]\n]{1,200})\]\((?!\w{1,20}:\/\/)[^()\s]{1,400}\)/g;

/** Says what comes next, and nothing of what was found: what came of it is told, or nobody knows. */
const ANNOUNCES =
  /^[\p{P}\s]{0,4}(?:(?:ok(?:ay)?|good|great|perfect|alright|now|next|then|first|finally|so|and|also)[,.!:]?\s){0,3}(?:let me|let['’]s|i(?:['’]ll|['’]m(?! (?:not|sure|confident))| will| am(?! not)|['’]m going to| need to| want to| should| can now)|(?:ich (?:werde|schaue|prüfe)|lass mich|voy a|vamos a|déjame|je vais)(?!\p{L})|让我|我来|我先|我将|接下来|まず)/iu;

/** The same without a speaker: "Now add the flag:", "Waiting on the build." */
const LEADS_ON = /^(?:(?:now|next|then|first|finally)[, ][^\n]{0,200}:$|(?:still )?waiting (?:on|for)\b)/i;

/** A reason behind the announcement is a finding. */
function isAnnouncement(text: string): boolean {
  return (ANNOUNCES.test(text) || LEADS_ON.test(text)) && !givesReason(text);
}

function worthOfSentence({ text }: Pick<TextUnit, 'text'>, kind: ToldKind): number {
  if (kind === 'asked') return WORTH.asked;
  if (GREETING.test(text)) return WORTH.announcement;
  const decides = isDecisive(text);
  if (kind === 'closing')
    return givesReason(text) ? WORTH.closingReason : decides ? WORTH.decisive : WORTH.closing;
  if ((kind === 'aside' || kind === 'explains') && isAnnouncement(text)) return WORTH.announcement;
  const isEmpty = namesIn(text).size === 0;
  if (kind === 'done' && isEmpty && isAnnouncement(text)) return WORTH.closing;
  if (kind === 'explains' && (decides || !isEmpty)) return WORTH.explanation;
  return decides && !isEmpty ? WORTH.finding : WORTH.aside;
}

function offerGiven({ text, isHandover }: Given, at: StoryPlace): Piece {
  const worth = isHandover ? WORTH.handover : WORTH.given;
  const units = unitsOf(text).map(({ leads: _, ...unit }): Unit => ({ ...unit, worth }));
  return at.piece(isHandover ? 'summary of what was before:' : 'given by others:', units);
}

/** What lines of an earlier memory are worth, by the word they begin with. They were chosen once already. */
const PAST_WORTH: readonly (readonly [beginning: string, worth: number])[] = [
  ['ran', WORTH.run],
  ['edited', WORTH.change],
  ['wrote', WORTH.change],
  ['removed', WORTH.change],
  ['looked', WORTH.look],
  ['refused', WORTH.refused],
  ['sub-agent', WORTH.delegated],
  ['summary', WORTH.handover],
];
const CHANGED_PATH = /^(?:edited|wrote) (.{1,400}?)(?:;|$)/;

function offerPast({ lines }: Past, at: StoryPlace): Piece {
  const [first = '', ...rest] = lines;
  const worth = PAST_WORTH.find(([beginning]) => first.startsWith(beginning))?.[1] ?? WORTH.call;
  const path = CHANGED_PATH.exec(first)?.[1];
  const current = path === undefined ? new Set<string>() : currentLines(path, at.context);
  return at.piece('', [
    { text: first, worth: worth * at.aged, startsLine: false },
    ...rest.map(
      (line): Unit => ({
        text: markReplaced(line, current),
        worth: WORTH.past * at.aged,
        startsLine: true,
        needs: 0,
      }),
    ),
  ]);
}
