import { hasToolResult, type Message } from './message.ts';
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

/** A call and its result stay on one side of a cut. */
export const pairing: LegalityProperty = {
  name: 'pairing',
  why: 'a tool call and its result stay together',
  *bonds(_messages, links) {
    for (const { call, result } of links.pairs) yield { start: call.message, end: result.message + 1 };
  },
};

/** In a broken list one id may stand for several calls or results: whoever keeps one of them needs the others. */
const sharedIds: LegalityProperty = {
  name: 'shared-ids',
  why: 'calls and results under one id stay together',
  *bonds(messages, links) {
    const odd = new Set([...links.unanswered, ...links.orphans].map((position) => idAt(messages, position)));
    if (odd.size === 0) return;
    const reach = new Map<string, { start: number; end: number }>();
    const places = [
      ...links.pairs.flatMap(({ call, result }) => [call, result]),
      ...links.unanswered,
      ...links.orphans,
    ];
    for (const position of places) {
      const id = idAt(messages, position);
      if (id === undefined || !odd.has(id)) continue;
      const known = reach.get(id) ?? { start: position.message, end: position.message + 1 };
      reach.set(id, {
        start: Math.min(known.start, position.message),
        end: Math.max(known.end, position.message + 1),
      });
    }
    yield* reach.values();
  },
};

function idAt(messages: readonly Message[], { message, block }: BlockPosition): string | undefined {
  const found = messages[message]?.blocks[block];
  if (found?.type === 'tool-call') return found.id;
  return found?.type === 'tool-result' ? found.callId : undefined;
}

/** No half begins with a tool result, even one whose call is nowhere to be seen. */
export const resultsFollow: LegalityProperty = {
  name: 'results-follow',
  why: 'a message with tool results never comes first',
  *bonds(messages) {
    for (const [index, message] of messages.entries()) {
      if (index > 0 && hasToolResult(message)) yield { start: index - 1, end: index + 1 };
    }
  },
};

/** In a broken list a call may have no result: it is not moved in front of others than it stood in front of. */
const openCalls: LegalityProperty = {
  name: 'open-calls',
  why: 'a call without a result stays with the message that follows it',
  *bonds(messages, links) {
    for (const { message } of links.unanswered) {
      if (message + 1 < messages.length) yield { start: message, end: message + 2 };
    }
  },
};

/** All records of one response stay together, whatever stands between them. */
export const sameResponse: LegalityProperty = {
  name: 'same-response',
  why: 'the records of one response stay together',
  *bonds(messages) {
    let last: { id: string; index: number } | undefined;
    for (const [index, message] of messages.entries()) {
      if (message.role !== 'assistant') continue;
      const id = message.responseId;
      if (id !== undefined && last?.id === id) yield { start: last.index, end: index + 1 };
      last = id === undefined ? undefined : { id, index };
    }
  },
};

/** Adjacent assistant messages without ids are one response: parallel calls and reasoning with what follows it. */
export const batch: LegalityProperty = {
  name: 'batch',
  why: 'parallel calls, and reasoning with the items it led to, stay together',
  *bonds(messages) {
    for (let index = 1; index < messages.length; index++) {
      const before = messages[index - 1];
      const after = messages[index];
      if (before?.role !== 'assistant' || after?.role !== 'assistant') continue;
      if (before.responseId !== undefined && after.responseId !== undefined) continue;
      if (isUnfinished(before) || isUnfinished(after)) yield { start: index - 1, end: index + 1 };
    }
  },
};

function isUnfinished(message: Message): boolean {
  return message.blocks.some((block) => block.type === 'reasoning' || block.type === 'tool-call');
}

/** The provider ignores what stands before its own summary, so nothing may be cut, or put, in front of it. */
export const opaqueBorder: LegalityProperty = {
  name: 'opaque-border',
  why: "the provider's own summary is a hard left border",
  *bonds(messages) {
    const border = messages.findLastIndex((message) =>
      message.blocks.some((block) => block.type === 'compaction'),
    );
    if (border >= 0) yield { start: 0, end: border + 1 };
  },
};

/** A cut is legal where every one of these allows it. */
export const legalityProperties: readonly LegalityProperty[] = [
  pairing,
  sharedIds,
  resultsFollow,
  openCalls,
  sameResponse,
  batch,
  opaqueBorder,
];

/**
 * Every index where the list may be cut in two, ascending, 0 and the length included. Each half of a legal list is
 * legal again once a user message stands in front of it.
 */
export function legalCuts(
  messages: readonly Message[],
  properties: readonly LegalityProperty[] = legalityProperties,
): readonly number[] {
  // Depth of bonds over each index, as differences: +1 behind a bond's first message, -1 at its end.
  const change = new Int32Array(messages.length + 2);
  const links = linkTools(messages);
  for (const property of properties) {
    for (const { start, end } of property.bonds(messages, links)) {
      if (end - start < 2) continue;
      change[start + 1] = (change[start + 1] ?? 0) + 1;
      change[end] = (change[end] ?? 0) - 1;
    }
  }
  const cuts: number[] = [];
  let depth = 0;
  for (let index = 0; index <= messages.length; index++) {
    depth += change[index] ?? 0;
    if (depth === 0) cuts.push(index);
  }
  return cuts;
}

/** The properties that forbid a cut at this index; empty when it is legal. */
export function whyNotCut(messages: readonly Message[], index: number): readonly LegalityProperty[] {
  const links = linkTools(messages);
  return legalityProperties.filter((property) => {
    for (const { start, end } of property.bonds(messages, links)) {
      if (start < index && index < end) return true;
    }
    return false;
  });
}
