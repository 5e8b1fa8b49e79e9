import { hasToolCall, hasToolResult, isUserText, type Message } from './message.ts';
import { type BlockPosition, linkTools, type ToolLinks } from './tool-links.ts';

/** A stretch of messages that stay together: no cut falls between `start` and `end` (exclusive on both sides). */
export interface Bond {
  readonly start: number;
  readonly end: number;
}

/** One reason why messages may not be parted, as the stretches it binds. */
export interface LegalityProperty {
  readonly name: string;
  readonly why: string;
  bonds(messages: readonly Message[], links: ToolLinks): Iterable<Bond>;
}

const pairing: LegalityProperty = {
  name: 'pairing',
  why: 'a tool call and its result stay together',
  *bonds(_messages, links) {
    for (const { call, result } of links.pairs) yield { start: call.message, end: result.message + 1 };
  },
};

/** In a broken list one id may stand for several calls or results. Nothing tells which belong together, so all do. */
const sharedIds: LegalityProperty = {
  name: 'shared-ids',
  why: 'calls and results under one id stay together',
  *bonds(messages, links) {
    const halves = [...links.unanswered, ...links.orphans];
    const odd = new Set(halves.map((position) => idAt(messages, position)));
    if (odd.size === 0) return;
    const reach = new Map<string, { start: number; end: number }>();
    for (const position of [...links.pairs.flatMap(({ call, result }) => [call, result]), ...halves]) {
      const id = idAt(messages, position);
      if (id === undefined || !odd.has(id)) continue;
      const { message: start } = position;
      const known = reach.get(id) ?? { start, end: start + 1 };
      reach.set(id, { start: Math.min(known.start, start), end: Math.max(known.end, start + 1) });
    }
    yield* reach.values();
  },
};

function idAt(messages: readonly Message[], { message, block }: BlockPosition): string | undefined {
  const found = messages[message]?.blocks[block];
  if (found?.type === 'tool-call') return found.id;
  return found?.type === 'tool-result' ? found.callId : undefined;
}

/** In a broken list a call may have no result. It is not moved in front of other messages than it stood in front of. */
const openCalls: LegalityProperty = {
  name: 'open-calls',
  why: 'a call without a result stays with the message that follows it',
  *bonds(messages, links) {
    for (const { message } of links.unanswered) {
      if (message + 1 < messages.length) yield { start: message, end: message + 2 };
    }
  },
};

/** This holds for results without a call, too. */
const resultsFollow: LegalityProperty = {
  name: 'results-follow',
  why: 'a message with tool results never comes first',
  *bonds(messages) {
    for (const [index, message] of messages.entries()) {
      if (index > 0 && hasToolResult(message)) yield { start: index - 1, end: index + 1 };
    }
  },
};

/** Other messages may stand between the records. */
const sameResponse: LegalityProperty = {
  name: 'same-response',
  why: 'the records of one response stay together',
  *bonds(messages) {
    let last: { readonly id: string | undefined; readonly index: number } | undefined;
    for (const [index, { role, responseId: id }] of messages.entries()) {
      if (role !== 'assistant') continue;
      if (id !== undefined && last?.id === id) yield { start: last.index, end: index + 1 };
      last = { id, index };
    }
  },
};

/** Adjacent assistant messages without ids are one response. */
const batch: LegalityProperty = {
  name: 'batch',
  why: 'parallel calls, and reasoning with the items it led to, stay together',
  *bonds(messages) {
    // One thought leads to several items, a search of the provider's and the answer to it: each of them needs it.
    let hasThought = false;
    for (const [index, message] of messages.entries()) {
      const before = messages[index - 1];
      const isJoined: boolean =
        before !== undefined &&
        isOneResponse(before, message) &&
        (hasThought || isUnfinished(before) || isUnfinished(message));
      if (isJoined) yield { start: index - 1, end: index + 1 };
      hasThought = (isJoined && hasThought) || message.blocks.some(({ type }) => type === 'reasoning');
    }
  },
};

function isOneResponse(before: Message, after: Message): boolean {
  const hasBothIds = before.responseId !== undefined && after.responseId !== undefined;
  return before.role === 'assistant' && after.role === 'assistant' && !hasBothIds;
}

function isUnfinished({ blocks }: Message): boolean {
  return blocks.some(({ type }) => type === 'reasoning' || type === 'tool-call');
}

/** The provider ignores what stands before its own summary, so nothing may be cut, or put, in front of it. */
const opaqueBorder: LegalityProperty = {
  name: 'opaque-border',
  why: "the provider's own summary is a hard left border",
  *bonds(messages) {
    const border = messages.findLastIndex(({ blocks }) => blocks.some(({ type }) => type === 'compaction'));
    if (border !== -1) yield { start: 0, end: border + 1 };
  },
};

/** A cut is legal where every one of these allows it. */
export const legalityProperties: readonly LegalityProperty[] = [
  pairing,
  sharedIds,
  openCalls,
  resultsFollow,
  sameResponse,
  batch,
  opaqueBorder,
];

// Every step of a compaction asks for the cuts of the same list. Loops push to lists, so the length is compared.
const knownCuts = new WeakMap<
  readonly Message[],
  { readonly length: number; readonly cuts: readonly number[] }
>();

/**
 * Every index where the list may be cut in two, ascending, 0 and the length included. Each half of a legal list is
 * legal again once a user message stands in front of it.
 */
export function legalCuts(
  messages: readonly Message[],
  properties: readonly LegalityProperty[] = legalityProperties,
): readonly number[] {
  if (properties !== legalityProperties) return findCuts(messages, properties);
  const known = knownCuts.get(messages);
  if (known?.length === messages.length) return known.cuts;
  const cuts = findCuts(messages, properties);
  knownCuts.set(messages, { length: messages.length, cuts });
  return cuts;
}

function findCuts(messages: readonly Message[], properties: readonly LegalityProperty[]): readonly number[] {
  // By how much the number of bonds over an index differs from that over the index before it.
  const changes = new Int32Array(messages.length + 2);
  const links = linkTools(messages);
  for (const property of properties) {
    for (const { start, end } of property.bonds(messages, links)) {
      if (end - start < 2) continue;
      changes[start + 1] = (changes[start + 1] ?? 0) + 1;
      changes[end] = (changes[end] ?? 0) - 1;
    }
  }
  const cuts: number[] = [];
  let depth = 0;
  for (let index = 0; index <= messages.length; index++) {
    depth += changes[index] ?? 0;
    if (depth === 0) cuts.push(index);
  }
  return cuts;
}

/** The properties that forbid a cut at this index; empty when it is legal. */
export function whyNotCut(messages: readonly Message[], index: number): readonly LegalityProperty[] {
  const links = linkTools(messages);
  return legalityProperties.filter((property) =>
    [...property.bonds(messages, links)].some(({ start, end }) => start < index && index < end),
  );
}

/**
 * The legal cuts at which a conversation that goes on can be cut for good, counted from behind the `head` messages in
 * front. A cut right behind a call is none of them: the result may still come, and would be parted from its call.
 */
export function lastingCuts(messages: readonly Message[], head: number): readonly number[] {
  return legalCuts(messages)
    .filter((cut) => cut > head && !messages.slice(cut - 1, cut).some(hasToolCall))
    .map((cut) => cut - head);
}

/**
 * The latest index at or before `desired` that holds a user message without tool results; 0 when there is none.
 * At or beyond the end the answer is the length of the list, at or below zero it is 0.
 *
 * This is the rule of many agents, kept literally for those who rely on it. It finds no cut at all in a run of tool
 * rounds after one question; `legalCuts` does.
 */
export function safeSplitPoint(messages: readonly Message[], desired: number): number {
  if (desired <= 0) return 0;
  if (desired >= messages.length) return messages.length;
  const found = messages.slice(0, Math.floor(desired) + 1).findLastIndex(isUserText);
  return Math.max(0, found);
}

/**
 * Where the current turn begins: the newest message and everything the model has not answered yet, with the response that
 * waiting results belong to. Every compacted request ends with it as it was.
 */
export function currentTurnStart(messages: readonly Message[]): number {
  const answered = messages.findLastIndex(({ role }) => role === 'assistant');
  // A list that ends with an answer, as recordings and prefills do, goes on from that answer.
  const from = answered === messages.length - 1 ? answered : answered + 1;
  const cuts = legalCuts(messages).filter((cut) => cut <= Math.max(0, from));
  let start = cuts.pop() ?? 0;
  // The items of one response stand next to each other.
  while (messages[start]?.role === 'assistant' && messages[start - 1]?.role === 'assistant') {
    const before = cuts.pop();
    if (before === undefined) break;
    start = before;
  }
  return start;
}

/** Messages that only stay or go together. */
export interface AtomicGroup {
  readonly start: number;
  readonly end: number;
}

/** A stretch of messages that can only stay or go as a whole. */
export interface Span extends AtomicGroup {
  readonly isPinned: boolean;
}

/**
 * The list as groups, in order, nothing left out. A message with calls opens a group, its results join, and the answer
 * directly behind them closes it; everything else stands alone. Where that would part what has to stay together (a
 * question between a call and its result), the groups are joined: every border is a legal cut.
 */
export function atomicGroups(messages: readonly Message[]): readonly AtomicGroup[] {
  const legal = new Set(legalCuts(messages));
  const starts = groupStarts(messages).filter((start) => legal.has(start));
  return starts.map((start, index) => ({ start, end: starts[index + 1] ?? messages.length }));
}

function groupStarts(messages: readonly Message[]): readonly number[] {
  const starts: number[] = [];
  let state: 'none' | 'called' | 'answered' = 'none';
  for (const [index, message] of messages.entries()) {
    if (hasToolCall(message)) {
      starts.push(index);
      state = 'called';
    } else if (hasToolResult(message)) {
      if (state === 'none') starts.push(index);
      else state = 'answered';
    } else {
      const closes = state === 'answered' && message.role === 'assistant';
      if (!closes) starts.push(index);
      state = 'none';
    }
  }
  return starts;
}

/**
 * The index moved back to the start of the group that it falls into, but not before `protectedHead`. The length of the
 * list stays where it is.
 */
export function alignToGroup(messages: readonly Message[], index: number, protectedHead = 0): number {
  if (index >= messages.length) return messages.length;
  const group = atomicGroups(messages).findLast(({ start }) => start <= index);
  return Math.max(protectedHead, group?.start ?? 0);
}

/**
 * How many messages at the head are never summarised: the first `keepFirst`, and the system messages that open the list.
 * A group that begins in the head ends in it. System messages further on are pinned one by one and protect nothing else.
 */
export function protectedHeadEnd(messages: readonly Message[], keepFirst: number): number {
  const firstOther = messages.findIndex(({ role }) => role !== 'system');
  const leading = firstOther === -1 ? messages.length : firstOther;
  const wanted = Math.min(Math.max(keepFirst, leading, 0), messages.length);
  return atomicGroups(messages).find(({ start, end }) => start < wanted && wanted < end)?.end ?? wanted;
}
