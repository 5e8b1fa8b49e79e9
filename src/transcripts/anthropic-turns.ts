/** Puts records of a session file together as Anthropic messages: readers hand in pieces, tool results find their turn. */

import { asString, isObject, type JsonObject } from '../conversation/json.ts';
import type { Origin, RecordedCompaction, Segment } from './transcript.ts';

/** What one record adds to a conversation in the Anthropic format: a message, or one of the results of a turn. */
export type Piece = MessagePiece | ResultPiece;

export interface MessagePiece {
  readonly role: 'user' | 'assistant';
  readonly content: string | readonly unknown[];
  readonly origin: Origin;
}

export interface ResultPiece {
  readonly role: 'result';
  /** A `tool_result` block. */
  readonly block: JsonObject;
  readonly origin: Origin;
}

/** The pieces of a segment: what its compaction put at the head, and what came later. */
export interface SegmentPieces<Kind = Piece> {
  readonly compaction?: Omit<RecordedCompaction, 'carried'> | undefined;
  readonly carried: readonly Kind[];
  readonly later: readonly Kind[];
}

/**
 * A segment as Anthropic messages. Results that were recorded one by one become one user message directly behind the
 * turn that asked for them, in the order of its calls. A result nobody asked for keeps its place, and a call without
 * a result stays without one.
 */
export function anthropicSegment({ compaction, carried, later }: SegmentPieces): Segment {
  const turns = assemble([...carried, ...later]);
  return {
    body: turns.map(({ message }) => message),
    origins: turns.map(({ origin }) => origin),
    opening: compaction === undefined ? undefined : { ...compaction, carried: assemble(carried).length },
  };
}

interface Turn {
  readonly message: JsonObject;
  readonly origin: Origin;
}

/** Room for the results of a turn, in the order of its calls. */
interface Answers {
  readonly awaited: Map<string, number[]>;
  readonly results: (ResultPiece | undefined)[];
}

function assemble(pieces: readonly Piece[]): readonly Turn[] {
  const slots: (Turn | Answers)[] = [];
  let open: Answers | undefined;
  let strays: Answers | undefined;
  for (const piece of pieces) {
    if (piece.role !== 'result') {
      const { role, content, origin } = piece;
      slots.push({ message: { role, content }, origin });
      strays = undefined;
      if (role === 'assistant') {
        open = answersTo(content);
        slots.push(open);
      }
      continue;
    }
    const position = nextPosition(open, piece.block);
    if (open !== undefined && position !== undefined) {
      open.results[position] = piece;
      continue;
    }
    if (strays === undefined) {
      strays = { awaited: new Map(), results: [] };
      slots.push(strays);
    }
    strays.results.push(piece);
  }
  return slots.flatMap((slot) => ('message' in slot ? [slot] : answerTurn(slot)));
}

function answersTo(content: string | readonly unknown[]): Answers {
  const awaited = new Map<string, number[]>();
  let count = 0;
  for (const block of typeof content === 'string' ? [] : content) {
    if (!isObject(block) || block['type'] !== 'tool_use') continue;
    const id = asString(block['id']) ?? '';
    const positions = awaited.get(id);
    if (positions === undefined) awaited.set(id, [count]);
    else positions.push(count);
    count++;
  }
  return { awaited, results: Array.from({ length: count }) };
}

/** Takes the place of a result in its turn; undefined when no call with its id still waits. */
function nextPosition(open: Answers | undefined, block: JsonObject): number | undefined {
  return open?.awaited.get(asString(block['tool_use_id']) ?? '')?.shift();
}

function answerTurn({ results }: Answers): readonly Turn[] {
  const given = results.filter((result) => result !== undefined);
  const [first] = given;
  if (first === undefined) return [];
  return [{ message: { role: 'user', content: given.map(({ block }) => block) }, origin: first.origin }];
}
