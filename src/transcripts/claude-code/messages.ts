import { asString, isObject } from '../../conversation/json.ts';
import type { Origin } from '../transcript.ts';
import type { MessagePart, SessionRecord } from './record.ts';
import type { TreeNode } from './tree.ts';

/** A message as it goes to the provider. */
export interface WireMessage {
  readonly role: 'user' | 'assistant';
  readonly content: string | readonly unknown[];
}

/** A message with its origin and the node it begins with. */
export interface ComposedMessage {
  readonly message: WireMessage;
  readonly origin: Origin;
  readonly first: TreeNode;
}

/** One piece of a message: a node of which it is known that it carries one. */
interface Piece {
  readonly node: TreeNode;
  readonly part: MessagePart;
}

/** A response with the results of its calls, or a user message that answers nothing. */
interface Exchange {
  readonly index: number;
  readonly response: Piece[];
  readonly answers: Piece[];
}

/**
 * Makes messages of the records of one stretch: all records of a response become one assistant message, and all
 * results of its calls one user message directly after it, results first and in the order of the calls. Results whose
 * call is not among the records stay where they are.
 */
export function composeMessages(nodes: readonly TreeNode[]): readonly ComposedMessage[] {
  return exchangesOf(nodes).flatMap(composeExchange);
}

/** The ids of the calls that a record of a response makes. */
export function askedCalls(part: SessionRecord['part']): readonly string[] {
  return part?.type === 'message' && part.role === 'assistant' ? idsIn(part, 'tool_use', 'id') : [];
}

/** The ids of the calls that a record of the user answers. */
export function answeredCalls(part: SessionRecord['part']): readonly string[] {
  return part?.type === 'message' && part.role === 'user' ? idsIn(part, 'tool_result', 'tool_use_id') : [];
}

function idsIn({ content }: MessagePart, type: string, key: string): readonly string[] {
  if (typeof content === 'string') return [];
  return content.flatMap((block) =>
    isObject(block) && block['type'] === type ? (asString(block[key]) ?? []) : [],
  );
}

function exchangesOf(nodes: readonly TreeNode[]): Exchange[] {
  const exchanges: Exchange[] = [];
  const byResponse = new Map<string, Exchange>();
  const byCall = new Map<string, Exchange>();
  const begin = (): Exchange => {
    const exchange = { index: exchanges.length, response: [], answers: [] };
    exchanges.push(exchange);
    return exchange;
  };
  for (const node of nodes) {
    const { part } = node.record;
    if (part?.type !== 'message') continue;
    const piece = { node, part };
    if (part.role === 'user') {
      const asked = newest(answeredCalls(part).flatMap((call) => byCall.get(call) ?? []));
      (asked ?? begin()).answers.push(piece);
      continue;
    }
    const { responseId } = part;
    const exchange = (responseId === undefined ? undefined : byResponse.get(responseId)) ?? begin();
    exchange.response.push(piece);
    if (responseId !== undefined) byResponse.set(responseId, exchange);
    for (const call of askedCalls(part)) byCall.set(call, exchange);
  }
  return exchanges;
}

function newest(exchanges: readonly Exchange[]): Exchange | undefined {
  return exchanges.reduce<Exchange | undefined>(
    (latest, exchange) => (latest === undefined || exchange.index > latest.index ? exchange : latest),
    undefined,
  );
}

function composeExchange({ response, answers }: Exchange): ComposedMessage[] {
  const order = new Map(response.flatMap(({ part }) => askedCalls(part)).map((call, index) => [call, index]));
  const results = answers.toSorted((a, b) => a.node.position - b.node.position);
  return [...compose(response, contentOf(response)), ...compose(results, answerContent(results, order))];
}

function compose(pieces: readonly Piece[], content: WireMessage['content']): ComposedMessage[] {
  const [first] = pieces;
  if (first === undefined) return [];
  const { role, timestamp, responseId } = first.part;
  // Every record of a response repeats its usage; only the last one is final.
  const usage = pieces.findLast(({ part }) => part.usage !== undefined)?.part.usage;
  const origin = { place: first.node.record.place, timestamp, responseId, usage };
  return [{ message: { role, content }, origin, first: first.node }];
}

/** The content as it was recorded where there is one record, and all blocks in a row where there are several. */
function contentOf(pieces: readonly Piece[]): WireMessage['content'] {
  const [first] = pieces;
  return first !== undefined && pieces.length === 1 ? first.part.content : pieces.flatMap(blocksOf);
}

function blocksOf({ part }: Piece): readonly unknown[] {
  return typeof part.content === 'string' ? [{ type: 'text', text: part.content }] : part.content;
}

/** Results first, in the order of their calls; then everything else in the order of the file. */
function answerContent(pieces: readonly Piece[], order: ReadonlyMap<string, number>): WireMessage['content'] {
  if (order.size === 0) return contentOf(pieces);
  const rank = (block: unknown): number => {
    if (!isObject(block) || block['type'] !== 'tool_result') return order.size + 1;
    return order.get(asString(block['tool_use_id']) ?? '') ?? order.size;
  };
  return pieces
    .flatMap(blocksOf)
    .map((block) => ({ block, rank: rank(block) }))
    .sort((a, b) => a.rank - b.rank)
    .map(({ block }) => block);
}
