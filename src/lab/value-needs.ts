import { callArguments, type Message, type ToolCallBlock } from '../conversation/message.ts';
import { type EntityKind, scanText } from '../memory/facts/entities.ts';
import { type TextSource, textsOf } from './message-texts.ts';
import { findNeeds, type Needs } from './needs.ts';
import { createPatternFinder } from './pattern-finder.ts';
import type { Cut } from './trajectory.ts';

/**
 * What the future of a service dialogue needs: whole values of later calls (ids, names, dates, amounts) that the user
 * named or a tool returned in the prefix. Values that instructions spell out are no memory and are left out.
 */
export function findValueNeeds(cut: Cut): Needs {
  const needs = findNeeds(cut, new Set(), valuesOf);
  const names = needs.names.map(({ name }) => name);
  const { messages } = cut.prefix;
  const told = foundIn(messages, names, new Set(['user', 'result']));
  const instructed = foundIn(messages, names, new Set(['system']));
  return {
    ...needs,
    names: needs.names.filter((_, index) => told.has(index) && !instructed.has(index)),
  };
}

function foundIn(
  messages: readonly Message[],
  names: readonly string[],
  sources: ReadonlySet<TextSource>,
): ReadonlySet<number> {
  const found = new Set<number>();
  const finder = createPatternFinder(names, { wholeWords: true });
  for (const { source, text } of messages.flatMap(textsOf)) {
    if (sources.has(source)) finder.find(text, (name) => found.add(name));
  }
  return found;
}

/** A longer argument is free text, of which only the names in it count. */
const LONGEST_VALUE = 60;
const MOST_WORDS = 5;
const MAXIMUM_DEPTH = 12;

/** The values of a call's arguments that identify something, each whole. */
function valuesOf(call: ToolCallBlock, take: (name: string, kind: EntityKind) => void): void {
  const visit = (value: unknown, depth: number): void => {
    if (typeof value === 'number') takeNumber(value, take);
    else if (typeof value === 'string') takeText(value.trim(), take);
    else if (typeof value === 'object' && value !== null && depth < MAXIMUM_DEPTH) {
      for (const inner of Object.values(value)) visit(inner, depth + 1);
    }
  };
  visit(callArguments(call), 0);
}

/** Small numbers are counts, which stand everywhere. */
const SMALLEST_AMOUNT = 10;

function takeNumber(value: number, take: (name: string, kind: EntityKind) => void): void {
  if (Math.abs(value) >= SMALLEST_AMOUNT) take(String(Math.abs(value)), 'amount');
}

function takeText(text: string, take: (name: string, kind: EntityKind) => void): void {
  if (text.length > LONGEST_VALUE || text.split(' ').length > MOST_WORDS) scanText(text, { entity: take });
  else if (/^\d{4}-\d{2}-\d{2}$/.test(text)) take(text, 'date');
  else if (/^-?\d+(?:\.\d+)?$/.test(text)) takeNumber(Number(text), take);
  else if (/\d/.test(text)) take(text, 'code');
  else if (/^\p{Lu}/u.test(text) && text.length > 1) take(text, 'proper-name');
}
