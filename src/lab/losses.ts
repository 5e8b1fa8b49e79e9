/** Says in words what a compaction lost that later work needed. */

import type { Message, ToolCallBlock } from '../conversation/message.ts';
import { groupRounds } from '../conversation/rounds.ts';
import { type BlockPosition, linkTools } from '../conversation/tool-links.ts';
import type { EntityKind } from '../memory/facts/entities.ts';
import { callTarget } from '../memory/model/render-transcript.ts';
import type { LineNeed, NameNeed } from './needs.ts';
import type { Probe } from './probes.ts';
import type { Missed } from './score.ts';
import { textsOf } from './texts.ts';
import type { Cut } from './trajectory.ts';

/** Something that a compaction lost and later work needed, in words. Plain data. */
export interface Loss {
  /** `path`, `identifier`, `number`, …, `edit line`, `demand` or `probe`. */
  readonly kind: string;
  readonly what: string;
  /** Where the prefix showed it last: `message 12, result of Read src/a.ts`. */
  readonly stoodIn: string;
  /** The later call that needed it; of a demand, that it always holds; of a probe, what would have answered it. */
  readonly neededBy: string;
  /** The response with that call, counted from the cut; undefined for a demand or a probe. */
  readonly roundsLater: number | undefined;
}

/** Longer words are cut: these are for a line of a table. */
const LONGEST_TARGET = 40;
const LONGEST_TEXT = 200;

/** Kinds of names that a reader does not tell apart, under one word. */
const KIND_WORDS: Readonly<Partial<Record<EntityKind, string>>> = {
  camel: 'identifier',
  pascal: 'identifier',
  snake: 'identifier',
  caps: 'identifier',
  'proper-name': 'name',
};

/** What was missed that losses tell of. */
export type MissedByReader = Pick<Missed, 'probes' | 'demands' | 'editLines' | 'names'>;

/** What was missed: probes, demands, then names and lines of edits by the call that needs them, the soonest first. */
export function lossesOf(cut: Cut, { probes, names, editLines, demands }: MissedByReader): readonly Loss[] {
  const places = placesOf(cut);
  const describe = ({ sourceBlock, usedAt, usedBy }: NameNeed | LineNeed) => ({
    stoodIn: places.sources[sourceBlock] ?? '',
    neededBy: callWords(usedBy),
    roundsLater: places.responses[usedAt],
  });
  const needed = [
    ...editLines.map((need) => ({ kind: 'edit line', what: shown(need.line.trim()), ...describe(need) })),
    ...names.map((need) => ({
      kind: KIND_WORDS[need.kind] ?? need.kind,
      what: shown(need.name),
      ...describe(need),
    })),
  ];
  return [
    ...probes.map((probe) => probeLoss(cut, probe)),
    ...demands.map((text) => ({
      kind: 'demand',
      what: shown(text),
      stoodIn: placeOfText(cut, text),
      neededBy: 'holds throughout',
      roundsLater: undefined,
    })),
    ...needed.toSorted((left, right) => (left.roundsLater ?? 0) - (right.roundsLater ?? 0)),
  ];
}

/** Words for the places of one cut, made once. */
interface Places {
  /** For each block with text of the prefix. */
  readonly sources: readonly string[];
  /** For each message of the future, the number of the response it belongs to, from 1. */
  readonly responses: readonly number[];
}

const remembered = new WeakMap<Cut, Places>();

function placesOf(cut: Cut): Places {
  const known = remembered.get(cut);
  if (known !== undefined) return known;
  const places = { sources: describeSources(cut.prefix.messages), responses: countResponses(cut.future) };
  remembered.set(cut, places);
  return places;
}

function describeSources(messages: readonly Message[]): readonly string[] {
  const blockAt = ({ message, block }: BlockPosition) => messages[message]?.blocks[block];
  const calls = new Map(linkTools(messages).pairs.map((pair) => [blockAt(pair.result), blockAt(pair.call)]));
  return messages.flatMap((message, index) =>
    textsOf(message).map(({ source, block }) => {
      const call = block.type === 'tool-result' ? calls.get(block) : undefined;
      const words = call?.type === 'tool-call' ? `result of ${callWords(call)}` : SOURCE_WORDS[source];
      return `message ${index + 1}, ${block.type === 'tool-call' ? `call of ${callWords(block)}` : words}`;
    }),
  );
}

const SOURCE_WORDS = {
  system: 'instructions',
  user: 'text of the user',
  result: 'result of a tool',
  assistant: 'text of the model',
  reasoning: 'reasoning',
  call: 'a call',
} as const;

/** A question that nobody can answer any more. */
function probeLoss(cut: Cut, { question, answer, evidence }: Probe): Loss {
  return {
    kind: 'probe',
    what: shown(question),
    stoodIn: placeOfText(cut, evidence[0]?.[0] ?? ''),
    neededBy: shown(`whoever takes over: ${answer}`),
    roundsLater: undefined,
  };
}

/** The first text that holds it; where none does as it stands, nobody knows more than that it was there. */
function placeOfText({ prefix }: Cut, wanted: string): string {
  for (const [index, message] of prefix.messages.entries()) {
    const found = textsOf(message).find(({ text }) => text.includes(wanted));
    if (found !== undefined) return `message ${index + 1}, ${SOURCE_WORDS[found.source]}`;
  }
  return 'what came before';
}

function countResponses(future: readonly Message[]): readonly number[] {
  let response = 0;
  return groupRounds(future).flatMap(({ kind, start, end }) => {
    if (kind === 'response') response++;
    return future.slice(start, end).map(() => response);
  });
}

function callWords(call: ToolCallBlock): string {
  const target = callTarget(call);
  if (target === '') return call.name;
  if (target.length <= LONGEST_TARGET) return `${call.name} ${target}`;
  // Of a path the end tells more, of a command the beginning.
  const isPath = !target.includes(' ');
  return `${call.name} ${isPath ? `…${target.slice(1 - LONGEST_TARGET)}` : shown(target, LONGEST_TARGET)}`;
}

function shown(text: string, longest = LONGEST_TEXT): string {
  return text.length > longest ? `${text.slice(0, longest - 1)}…` : text;
}
