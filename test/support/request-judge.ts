import { findContract } from '../../src/contracts/registry.ts';
import { frameworks } from './framework-conversations.ts';
import { listOf } from './random-bodies.ts';
import {
  compactionsIn,
  currentTurnStart,
  holdsCompaction,
  holdsMedia,
  marksOf,
  speakerOf,
} from './raw-messages.ts';

/** What a compaction must keep true, by name. Reports and the command line speak of them so. */
export const properties = {
  answers: 'nothing is thrown, and nothing that was given is changed',
  legal: 'a legal request stays legal',
  repaired: 'whatever is given to `roundfold compact`, a legal request comes out',
  'current-turn': 'the request ends with the current turn, the very same messages',
  order: 'messages that stay keep their order',
  'made-in-front': 'nothing that was made stands behind the beginning of the kept tail',
  'provider-summaries': 'summaries of the provider stay where they are',
  alternation: 'a chat in which user and assistant alternate goes on alternating',
  'one-path': 'automatic and manual runs give the same bytes',
} as const;

export type PropertyName = keyof typeof properties;

/** A property that does not hold, and how. */
export interface Fault {
  readonly property: PropertyName;
  readonly detail: string;
}

/** Why the provider, or the framework, would refuse a request; empty when it would not. */
export async function refusals(format: string, body: unknown): Promise<readonly string[]> {
  const contract = findContract(format);
  if (contract !== undefined)
    return contract
      .check(body, { scope: Array.isArray(body) ? 'messages' : 'request' })
      .filter(({ severity }) => severity === 'error')
      .map(({ rule, path, message }) => `${rule} at ${path}: ${message}`);
  return frameworkRefusals(format, listOf(format, body));
}

/** Ids that several messages share, where messages have ids; whoever stores messages takes them for keys. */
export function sharedIds(format: string, body: unknown): readonly string[] {
  if (format !== 'ai-sdk-ui' && format !== 'langchain') return [];
  const ids = listOf(format, body).map((message) => String((message as { readonly id?: unknown }).id));
  const shared = new Set(ids.filter((id, index) => id !== 'undefined' && ids.indexOf(id) < index));
  return [...shared].map((id) => `several messages have the id ${id}`);
}

async function frameworkRefusals(format: string, list: readonly unknown[]): Promise<readonly string[]> {
  const name = format === 'langchain' ? 'plain messages of LangChain' : 'UI messages of the AI SDK';
  try {
    return (await frameworks[name]?.judge(list)) ?? [];
  } catch (error) {
    return [String(error)];
  }
}

/** A request before and after a compaction. */
export interface Pair {
  readonly format: string;
  readonly before: unknown;
  readonly after: unknown;
  /** Whether the current turn alone is more than the window, so that it may be shortened. */
  readonly isOversized: boolean;
}

/** Every property that the pair itself breaks, legality apart. */
export function pairFaults({ format, before, after, isOversized }: Pair): readonly Fault[] {
  if (before === after) return [];
  const given = listOf(format, before);
  const left = listOf(format, after);
  const places = placesOf(given, left);
  return [
    ...turnFaults(given, left, isOversized),
    ...orderFaults(given, left),
    ...madeFaults(given, left, places),
    ...summaryFaults(given, left, places),
    ...(format === 'openai-chat' ? alternationFaults(given, left) : []),
  ];
}

function turnFaults(
  given: readonly unknown[],
  left: readonly unknown[],
  isOversized: boolean,
): readonly Fault[] {
  const turn = given.slice(currentTurnStart(given));
  const end = left.slice(Math.max(0, left.length - turn.length));
  if (turn.every((message, index) => message === end[index])) return [];
  const last = marksOf(given.at(-1));
  if (isOversized && marksOf(left.at(-1)).some((mark) => last.includes(mark))) return [];
  const detail = `the turn is [${outline(turn)}], the result ends with [${outline(end)}]`;
  return [{ property: 'current-turn', detail }];
}

function orderFaults(given: readonly unknown[], left: readonly unknown[]): readonly Fault[] {
  const indices = new Map(given.map((message, index) => [message, index]));
  let last = -1;
  for (const message of left) {
    const index = indices.get(message);
    if (index === undefined) continue;
    if (index <= last)
      return [{ property: 'order', detail: `message ${index} stands behind message ${last}` }];
    last = index;
  }
  return [];
}

/**
 * Which message of the input each one of the output is, the same or written anew; undefined for one that was made. Clients
 * use ids again, so several messages may bear the marks of one that was written anew: it is the first of them behind the
 * message that stands before it. Taking the last for it would move the beginning of the tail to the front of the list.
 */
function placesOf(given: readonly unknown[], left: readonly unknown[]): readonly (number | undefined)[] {
  const indices = new Map(given.map((message, index) => [message, index]));
  let marks: ReadonlyMap<string, readonly number[]> | undefined;
  let last = -1;
  return left.map((message) => {
    const index = indices.get(message);
    if (index === undefined) marks ??= placesByMark(given);
    const place = index ?? placeOfMarks(marksOf(message), marks ?? new Map(), last);
    last = place ?? last;
    return place;
  });
}

function placesByMark(given: readonly unknown[]): ReadonlyMap<string, readonly number[]> {
  const places = new Map<string, number[]>();
  for (const [place, message] of given.entries()) {
    for (const mark of marksOf(message)) {
      const known = places.get(mark);
      if (known === undefined) places.set(mark, [place]);
      else known.push(place);
    }
  }
  return places;
}

function placeOfMarks(
  marks: readonly string[],
  places: ReadonlyMap<string, readonly number[]>,
  last: number,
): number | undefined {
  const found = marks.map((mark) => places.get(mark)).find((each) => each !== undefined);
  return found?.find((place) => place > last) ?? found?.at(-1);
}

/** The tail is the longest end of the input that is whole in the output. */
function madeFaults(
  given: readonly unknown[],
  left: readonly unknown[],
  places: readonly (number | undefined)[],
): readonly Fault[] {
  const at = new Map(places.map((place, index) => [place, index]));
  let tail: number | undefined;
  for (let place = given.length - 1; place >= 0 && at.has(place); place--) tail = at.get(place);
  const start = tail ?? left.length;
  const made = places.findIndex((place, index) => place === undefined && index > start);
  if (made === -1) return [];
  const detail = `message ${made} of [${outline(left)}] was made, and the tail begins at ${start}`;
  return [{ property: 'made-in-front', detail }];
}

function summaryFaults(
  given: readonly unknown[],
  left: readonly unknown[],
  places: readonly (number | undefined)[],
): readonly Fault[] {
  const wanted = compactionsIn(given);
  if (wanted.length === 0) return [];
  const found = compactionsIn(left);
  const fault = (detail: string): readonly Fault[] => [{ property: 'provider-summaries', detail }];
  if (wanted.join() !== found.join()) return fault(`${wanted.length} were there, ${found.length} are left`);
  if (holdsCompaction(given[0]) && !holdsCompaction(left[0]))
    return fault('the first message was one, and is none');
  const isPreceded =
    places.indexOf(undefined) !== -1 && places.indexOf(undefined) < left.findLastIndex(holdsCompaction);
  return isPreceded ? fault('something was put in front of one, where nobody reads it') : [];
}

function alternationFaults(given: readonly unknown[], left: readonly unknown[]): readonly Fault[] {
  if (hasNeighbours(given, isUser) || !hasNeighbours(left, isUserText)) return [];
  return [{ property: 'alternation', detail: `now [${outline(left)}]` }];
}

function hasNeighbours(list: readonly unknown[], isOne: (message: unknown) => boolean): boolean {
  return list.some((message, index) => isOne(message) && index > 0 && isOne(list[index - 1]));
}

function isUser(message: unknown): boolean {
  return speakerOf(message) === 'user';
}

/** A message that holds more than text cannot be joined with another one. */
function isUserText(message: unknown): boolean {
  return isUser(message) && !holdsMedia(message);
}

/** Who speaks in a list, in order. */
function outline(list: readonly unknown[]): string {
  return list.map(speakerOf).join(' ');
}
