import { addBond, type Bond, cutsBetween } from './bond.ts';
import { hasToolResult, type Message } from './message.ts';
import { type BlockPosition, linkTools, type ToolLinks } from './tool-links.ts';

/** One reason why messages may not be parted, as the stretches it binds. */
export interface LegalityProperty {
  readonly name: string;
  readonly why: string;
  bonds(messages: readonly Message[], links: ToolLinks): Iterable<Bond>;
}

/** Looks at the messages of a list one after another, and says which bond each of them closes. */
export type BondWatcher = (message: Message, index: number) => Bond | undefined;

/** A property that needs no look ahead: the bonds of a list stay true when the list grows. */
export interface StepwiseProperty extends LegalityProperty {
  watch(): BondWatcher;
}

function stepwise(name: string, why: string, watch: () => BondWatcher): StepwiseProperty {
  return {
    name,
    why,
    watch,
    *bonds(messages) {
      const bondAt = watch();
      for (const [index, message] of messages.entries()) {
        const bond = bondAt(message, index);
        if (bond !== undefined) yield bond;
      }
    },
  };
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
export const resultsFollow = stepwise(
  'results-follow',
  'a message with tool results never comes first',
  () => (message, index) =>
    index > 0 && hasToolResult(message) ? { start: index - 1, end: index + 1 } : undefined,
);

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
export const sameResponse = stepwise('same-response', 'the records of one response stay together', () => {
  let last: { id: string; index: number } | undefined;
  return ({ role, responseId: id }, index) => {
    if (role !== 'assistant') return undefined;
    const start = id !== undefined && last?.id === id ? last.index : undefined;
    last = id === undefined ? undefined : { id, index };
    return start === undefined ? undefined : { start, end: index + 1 };
  };
});

/** Adjacent assistant messages without ids are one response: parallel calls, and reasoning with all that follows it. */
export const batch = stepwise(
  'batch',
  'parallel calls, and reasoning with the items it led to, stay together',
  () => {
    let before: Message | undefined;
    // One thought leads to several items, the search of a provider's and the answer to it: each of them asks for it.
    let hasThought = false;
    return (message, index) => {
      const isJoined =
        before !== undefined &&
        isOneResponse(before, message) &&
        (hasThought || isUnfinished(before) || isUnfinished(message));
      hasThought = (isJoined && hasThought) || message.blocks.some(({ type }) => type === 'reasoning');
      before = message;
      return isJoined ? { start: index - 1, end: index + 1 } : undefined;
    };
  },
);

function isOneResponse(before: Message, after: Message): boolean {
  const hasBothIds = before.responseId !== undefined && after.responseId !== undefined;
  return before.role === 'assistant' && after.role === 'assistant' && !hasBothIds;
}

function isUnfinished(message: Message): boolean {
  return message.blocks.some((block) => block.type === 'reasoning' || block.type === 'tool-call');
}

/** The provider ignores what stands before its own summary, so nothing may be cut, or put, in front of it. */
export const opaqueBorder = stepwise(
  'opaque-border',
  "the provider's own summary is a hard left border",
  () => (message, index) =>
    message.blocks.some((block) => block.type === 'compaction') ? { start: 0, end: index + 1 } : undefined,
);

/** The properties of a list whose calls and results all have their other half, apart from `pairing` itself. */
export const stepwiseProperties: readonly StepwiseProperty[] = [
  resultsFollow,
  sameResponse,
  batch,
  opaqueBorder,
];

/** A cut is legal where every one of these allows it. */
export const legalityProperties: readonly LegalityProperty[] = [
  pairing,
  sharedIds,
  openCalls,
  ...stepwiseProperties,
];

/**
 * Every index where the list may be cut in two, ascending, 0 and the length included. Each half of a legal list is
 * legal again once a user message stands in front of it.
 */
export function legalCuts(
  messages: readonly Message[],
  properties: readonly LegalityProperty[] = legalityProperties,
): readonly number[] {
  // Every step of a compaction asks for the cuts of the same list.
  const known = properties === legalityProperties ? knownCuts.get(messages) : undefined;
  if (known?.length === messages.length) return known.cuts;
  const cuts = findCuts(messages, properties);
  if (properties === legalityProperties) knownCuts.set(messages, { length: messages.length, cuts });
  return cuts;
}

const knownCuts = new WeakMap<
  readonly Message[],
  { readonly length: number; readonly cuts: readonly number[] }
>();

function findCuts(messages: readonly Message[], properties: readonly LegalityProperty[]): readonly number[] {
  const depths = new Int32Array(messages.length + 2);
  const links = linkTools(messages);
  for (const property of properties) {
    for (const bond of property.bonds(messages, links)) addBond(depths, bond);
  }
  return cutsBetween(depths, messages.length);
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
