/** Lays a compacted list out: what is pinned, one message of ours, the tail. */

import { currentTurnStart, legalCuts, type Span } from '../../conversation/cuts.ts';
import type { Conversation } from '../../conversation/format.ts';
import { hasToolResult, type Message, textOf } from '../../conversation/message.ts';
import {
  canBeSaid,
  DROPPED_TEXT,
  type Opening,
  openingText,
  readOpenings,
} from '../../conversation/summary-message.ts';
import { segmentsOf } from '../../memory/words/own-words.ts';
import type { TokenEstimator } from '../../tokens/estimator.ts';
import { tokensOf } from '../../tokens/measure.ts';
import { type PinOptions, spansOf } from './pins.ts';
import type { Edit } from './plan.ts';
import { isBorder, surveyOf } from './survey.ts';
import { beginWithAnswer } from './tail.ts';

/** What stays of the older part of a conversation and where, before its summary is written. */
export interface Layout {
  /** Stretches that leave. */
  readonly leaving: readonly Span[];
  /** Where the tail begins: from here on nothing changes. */
  readonly cut: number;
  /** Index in front of which a message of ours stands. */
  readonly place: number;
  /** What stands in front of its text, in the same message. */
  readonly opening: readonly Opening[];
  /** Messages whose text is in the opening, so that they do not stand by themselves any more. */
  readonly moved: readonly number[];
  /** Older messages that stay as they are. */
  readonly kept: readonly number[];
  /** Whether a message of ours is needed even without a summary. */
  readonly needsMessage: boolean;
}

export interface LayoutOptions {
  readonly spans: readonly Span[];
  readonly cut: number;
  /** Shortens the newest request of the user, where it is quoted. Default: it is quoted whole. */
  readonly shorten?: ((text: string) => string) | undefined;
}

/**
 * Arranges what stays of the older part: what is pinned in its order, then a message of ours, then the tail. The newest
 * request of the user is quoted in that message when the tail does not hold it. Where a format forbids what would stand
 * next to each other, texts move into the message of ours too.
 */
export function layOut(conversation: Conversation, { spans, cut: wanted, shorten }: LayoutOptions): Layout {
  const { messages, format } = conversation;
  const cut = joinTail(conversation, spans, wanted);
  const older = spans.filter(({ end }) => end <= cut);
  const leaving = older.filter(({ isPinned }) => !isPinned);
  const pinned = older.filter(({ isPinned }) => isPinned);
  const all = pinned.flatMap(({ start, end }) =>
    Array.from({ length: end - start }, (_, index) => start + index),
  );
  const systems = format.systemStands === 'anywhere' ? NOTHING_MISPLACED : placeSystems(messages, all, cut);
  const said = format.alternates ? trailingTexts(messages, all) : systems.said;
  const opening: readonly Opening[] = [
    ...carriedOpenings(messages, leaving),
    ...said.map((index): Opening => ({ kind: 'said', text: wordsOf(messages[index]) })),
    ...systems.quoted.map((index): Opening => ({ kind: 'system', text: wordsOf(messages[index]) })),
    ...requestInForce(messages, { leaving, cut, shorten }),
  ];
  const moved = [...said, ...systems.quoted].toSorted((left, right) => left - right);
  const isMoved = new Set(moved);
  const kept = all.filter((index) => !isMoved.has(index));
  const first = messages[kept[0] ?? cut];
  const opensWithAnswer = format.userFirst && first?.role === 'assistant' && !isBorder(first);
  return {
    leaving,
    cut,
    place: opensWithAnswer ? (kept[0] ?? cut) : (systems.behind ?? cut),
    opening,
    moved,
    kept,
    needsMessage: opening.length > 0 || opensWithAnswer || (systems.needsUser && leaving.length > 0),
  };
}

/** What stays anyway and stands right before the tail belongs to it: nothing need come in between. */
function joinTail({ messages, format }: Conversation, spans: readonly Span[], cut: number): number {
  const { lastAsked } = surveyOf(messages);
  let joined = cut;
  for (const { start, end, isPinned } of spans.toReversed()) {
    if (end > joined) continue;
    const stays = isPinned || start === lastAsked;
    // Where the sides take turns, a message of ours stands before an answer.
    const isApart = format.alternates && isJoinable(messages[start]);
    if (end < joined || !stays || isApart) break;
    joined = start;
  }
  return joined;
}

/** The edits of a layout, with the text of the message of ours; undefined where there is none. */
export function layoutEdits(
  { leaving, moved, opening, place }: Layout,
  text: string | undefined,
  { isSummary }: { readonly isSummary: boolean },
): readonly Edit[] {
  const ranges = [...leaving, ...moved.map((index) => ({ start: index, end: index + 1 }))];
  const drops: { start: number; end: number }[] = [];
  for (const { start, end } of ranges.toSorted((left, right) => left.start - right.start)) {
    const last = drops.at(-1);
    // A message of ours may stand between two neighbours.
    if (last?.end === start && start !== place) last.end = end;
    else drops.push({ start, end });
  }
  const edits = drops.map(
    ({ start, end }): Edit => ({ type: 'drop', start, end, ...(isSummary ? { isSummarised: true } : {}) }),
  );
  if (text === undefined) return edits;
  return [
    ...edits,
    {
      type: 'insert',
      before: place,
      text,
      ...(opening.length === 0 ? {} : { opening: opening.map(openingText) }),
      ...(isSummary ? { isSummary: true } : {}),
    },
  ];
}

/** What earlier messages of ours had in front, as far as it is still wanted. */
function carriedOpenings(messages: readonly Message[], leaving: readonly Span[]): readonly Opening[] {
  return leaving
    .flatMap(({ start, end }) => messages.slice(start, end))
    .flatMap((message) => readOpenings(message) ?? [])
    .filter(({ kind }) => kind !== 'request');
}

/** What the user asked, without what a harness has put around it; all of it where nothing else is there. */
function askedIn(message: Message | undefined): string {
  const sent = message === undefined ? '' : sentBy(message);
  return sent === '' ? wordsOf(message) : sent;
}

/** What the user wrote or pasted in a message. */
function sentBy({ blocks }: Message): string {
  const segments = blocks.flatMap((block) => (block.type === 'text' ? segmentsOf(block.text) : []));
  return segments
    .filter(({ by }) => by !== 'wrapped')
    .map(({ text }) => text)
    .join('\n')
    .trim();
}

/** The newest request of the user, unless the tail or a pinned message holds it. */
function requestInForce(
  messages: readonly Message[],
  {
    leaving,
    cut,
    shorten = (text) => text,
  }: Pick<Layout, 'leaving' | 'cut'> & Pick<LayoutOptions, 'shorten'>,
): readonly Opening[] {
  const { lastAsked: newest = -1 } = surveyOf(messages);
  if (newest >= cut) return [];
  const lastAsked = lastOwnWords(messages, newest);
  const isLeaving = leaving.some(({ start, end }) => start <= lastAsked && lastAsked < end);
  if (isLeaving) return [{ kind: 'request', text: shorten(askedIn(messages[lastAsked])) }];
  const earlier = messages
    .slice(lastAsked + 1, cut)
    .flatMap((message) => readOpenings(message) ?? [])
    .findLast(({ kind }) => kind === 'request');
  return earlier === undefined ? [] : [earlier];
}

/** The newest text, up to this one, in which the user speaks; this one where none is: a harness may speak in their name. */
function lastOwnWords(messages: readonly Message[], newest: number): number {
  for (let index = newest; index >= 0; index--) {
    const message = messages[index];
    if (
      message?.role === 'user' &&
      !hasToolResult(message) &&
      readOpenings(message) === undefined &&
      sentBy(message) !== ''
    )
      return index;
  }
  return newest;
}

function wordsOf(message: Message | undefined): string {
  return message === undefined ? '' : message.blocks.map(textOf).join('\n\n');
}

/** Texts of the user at the end of what stays: ours would stand right behind them, or behind system messages. */
function trailingTexts(messages: readonly Message[], kept: readonly number[]): readonly number[] {
  const isMovable = movableIn(messages);
  const isPassed = (index: number) => isMovable(index) || messages[index]?.role === 'system';
  return kept.slice(kept.findLastIndex((index) => !isPassed(index)) + 1).filter(isMovable);
}

/** Whether a message is a text of the user's that can be taken out by itself. */
function movableIn(messages: readonly Message[]): (index: number) => boolean {
  const cuts = new Set(legalCuts(messages));
  return (index) => isJoinable(messages[index]) && cuts.has(index) && cuts.has(index + 1);
}

/** Texts can stand in one message with ours; pictures and results cannot. */
function isJoinable(message: Message | undefined): boolean {
  const isText = message?.role === 'user' && message.blocks.every(({ type }) => type === 'text');
  return isText && canBeSaid(wordsOf(message));
}

interface SystemPlaces {
  /** System messages that have no legal place. */
  readonly quoted: readonly number[];
  /** Texts of the user that stand between system messages which have to follow each other. */
  readonly said: readonly number[];
  /** The first of the system messages that stand behind ours, right before the tail. */
  readonly behind: number | undefined;
  /** Whether those, or the ones that the tail begins with, need a message of the user in front. */
  readonly needsUser: boolean;
}

const NOTHING_MISPLACED: SystemPlaces = { quoted: [], said: [], behind: undefined, needsUser: false };

/**
 * Where system messages go that may only stand between a message of the user and an answer. Those at the end of what
 * stays come behind ours when the tail begins with an answer; others stay where their neighbours allow it, or are quoted.
 */
function placeSystems(messages: readonly Message[], kept: readonly number[], cut: number): SystemPlaces {
  const isSystem = (index: number | undefined) => index !== undefined && messages[index]?.role === 'system';
  const isMovable = movableIn(messages);
  const lastOther = kept.findLastIndex((index) => !isSystem(index) && !isMovable(index));
  const firstSystem = kept.findIndex((index, position) => position > lastOther && isSystem(index));
  const end = firstSystem === -1 ? kept.length : firstSystem;
  const trailing = kept.slice(end);
  const trailingSystems = trailing.filter(isSystem);
  const quoted: number[] = [];
  for (let position = 0; position < end; ) {
    let next = position;
    while (next < end && isSystem(kept[next])) next++;
    const before = messages[kept[position - 1] ?? -1];
    const isPlaced = mayPrecedeSystem(before) && messages[kept[next] ?? -1]?.role === 'assistant';
    if (next > position && !isPlaced) quoted.push(...kept.slice(position, next));
    position = Math.max(next, position + 1);
  }
  const isBeforeAnswer = messages[cut]?.role === 'assistant';
  if (!isBeforeAnswer) quoted.push(...trailingSystems);
  const hasSystem = isBeforeAnswer ? trailingSystems.length > 0 : isSystem(cut);
  return {
    quoted,
    said: trailing.filter((index) => !isSystem(index)),
    behind: isBeforeAnswer ? trailingSystems[0] : undefined,
    needsUser: hasSystem && !mayPrecedeSystem(messages[kept[end - 1] ?? -1]),
  };
}

function mayPrecedeSystem(message: Message | undefined): boolean {
  if (message?.role === 'user') return true;
  const last = message?.blocks.at(-1);
  return message?.role === 'assistant' && last?.type === 'tool-result' && !hasToolResult(message);
}

export interface DropOptions {
  /** Nothing behind this message leaves. The current turn never does. */
  readonly limit: number;
  /** Nothing in front of this message leaves. Default 0. */
  readonly keepBefore?: number | undefined;
  /** Whether enough has left with these stretches. Default: not before the limit. */
  readonly isEnough?: ((dropped: readonly Span[]) => boolean) | undefined;
}

/**
 * Edits that drop the oldest stretches that are not pinned, until enough has left or the limit is reached. What remains
 * is as legal as the list was.
 */
export function dropOldest(
  conversation: Conversation,
  pins: PinOptions,
  { limit, keepBefore = 0, isEnough = () => false }: DropOptions,
): readonly Edit[] {
  const { messages, format } = conversation;
  const last = Math.min(limit, currentTurnStart(messages));
  const spans = spansOf(messages, pins).map((span) =>
    span.start < keepBefore ? { ...span, isPinned: true } : span,
  );
  const dropped: Span[] = [];
  for (const span of spans) {
    if (span.isPinned) continue;
    if (span.end > last || isEnough(dropped)) break;
    dropped.push(span);
  }
  // The newest request stays in front of what answers it; further back it is quoted.
  const { lastAsked } = surveyOf(messages);
  if (dropped.at(-1)?.start === lastAsked) dropped.pop();
  const cut = beginWithAnswer(messages, dropped.at(-1)?.end ?? 0, format);
  const layout = layOut(conversation, { spans, cut });
  if (layout.leaving.length === 0) return [];
  return layoutEdits(layout, layout.needsMessage ? DROPPED_TEXT : undefined, { isSummary: false });
}

/** What a compaction cannot make smaller. */
export interface Floor {
  readonly tokens: number;
  /** Those of them that the newest rounds have. */
  readonly tailTokens: number;
  /** The part that weighs most, in words for people. */
  readonly heaviest: string;
}

/** The tokens that stay whatever is said of the rest: instructions, tools, what is pinned or quoted, and the tail. */
export function findFloor(
  { frame, messages }: Conversation,
  estimator: TokenEstimator,
  { kept, opening, cut }: Pick<Layout, 'kept' | 'opening' | 'cut'>,
): Floor {
  const isKept = new Set(kept);
  const quoted = opening.reduce((sum, each) => sum + estimator.countText(openingText(each)), 0);
  const pinned = tokensOf(
    messages.filter((_, index) => isKept.has(index)),
    estimator,
  );
  const tailTokens = tokensOf(messages.slice(cut), estimator);
  const parts = [
    { name: 'the instructions', tokens: estimator.countSystem(frame) },
    { name: 'the tool definitions', tokens: estimator.countTools(frame) },
    { name: 'the pinned messages', tokens: pinned + quoted },
    { name: 'the newest rounds', tokens: tailTokens },
  ];
  const tokens = parts.reduce((total, part) => total + part.tokens, estimator.profile.perRequestTokens);
  const [heaviest] = parts.toSorted((left, right) => right.tokens - left.tokens);
  return {
    tokens,
    tailTokens,
    heaviest: `${heaviest?.name} (${Math.round(heaviest?.tokens ?? 0)} tokens)`,
  };
}
