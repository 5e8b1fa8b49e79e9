/** Reads messages into events, in order: what the user said, what the agent said and did, and what came of it. */

import { type Message, type ToolCallBlock, type ToolResultBlock, textOf } from '../conversation/message.ts';
import { readOpenings, readSummaryMessage } from '../conversation/summary-message.ts';
import { linkTools } from '../conversation/tool-links.ts';
import { type Action, actionOf } from './actions.ts';
import { kindOf } from './sayings/kinds.ts';
import { readResult, type ToolOutput } from './tool-output.ts';
import { piecesOf } from './words/demands.ts';
import { isHandover, ownWords, segmentsOf } from './words/own-words.ts';

interface Placed {
  /** Index of its message in the conversation. */
  readonly at: number;
  /** Whether its message stays in the request: it is no part of the memory, but tells what matters. */
  readonly isKept: boolean;
}

/** Something the user said: in a message, in answer to a question, or in refusing a call. */
export interface Said extends Placed {
  readonly type: 'said';
  readonly text: string;
  /** What it answers: the questions of the agent, or the call that was refused. */
  readonly answers?: string | undefined;
  /** The number that an earlier memory has given it. */
  readonly number?: number | undefined;
}

/** A text that came in the user's message, but that somebody else wrote: a document, a paste, an earlier summary. */
export interface Given extends Placed {
  readonly type: 'given';
  readonly text: string;
  readonly isHandover: boolean;
}

/** Something the agent said. */
export interface Told extends Placed {
  readonly type: 'told';
  readonly text: string;
  /** Whether it ends a turn: the user, or nobody, spoke next. */
  readonly isClosing: boolean;
  /** The turn under which an earlier memory tells it, and the page. */
  readonly turn?: number | undefined;
  readonly page?: string | undefined;
}

/** An event that is known only from an earlier memory, with the lines that tell it there. */
export interface Past extends Placed {
  readonly type: 'past';
  readonly lines: readonly string[];
  readonly turn: number;
  readonly page: string | undefined;
}

/** Something the agent did, with what came of it. */
export interface Did extends Placed {
  readonly type: 'did';
  readonly name: string;
  readonly action: Action;
  /** Undefined while there is no result. */
  readonly result: ToolOutput | undefined;
  readonly isFailed: boolean;
  /** Whether the user refused it, so that it never happened. */
  readonly isRefused: boolean;
}

export type Happening = Said | Given | Told | Did | Past;

/**
 * Reads messages into what happened, in order. Nothing is judged here.
 * @param earlier what an earlier memory tells: it comes in the place of that memory, or first where that is not in the list
 */
export function readEvents(
  messages: readonly Message[],
  isKept: (message: Message) => boolean,
  earlier: readonly Happening[] = [],
): readonly Happening[] {
  const results = linkResults(messages);
  const memoryAt = messages.findIndex((message) => readSummaryMessage(message) !== undefined);
  const events = messages.flatMap((message, at): readonly Happening[] => {
    if (at === memoryAt) return [...readQuoted(message, at), ...earlier];
    if (message.role === 'system' || readSummaryMessage(message) !== undefined) return [];
    return readMessage(message, { at, isKept: isKept(message) }, results);
  });
  return withoutHarness(joinPolls(memoryAt === -1 ? [...earlier, ...events] : events));
}

/** Longer texts with headings that come while the agent works are no remarks that somebody types. */
const MANUAL = { characters: 1500, headings: 2 } as const;
/** A statement that came so often, but for a path, is written by a program. */
const OFTEN = 3;
const SOME_PATH = /\S{0,400}\/\S{1,400}\/\S{1,400}/g;

/** Texts that stand in the user's name though a harness wrote them: instructions of a command, notices. */
function withoutHarness(events: readonly Happening[]): readonly Happening[] {
  const shapes = events.map((event) => (event.type === 'said' ? noticeShape(event.text) : undefined));
  const counts = Map.groupBy(shapes, (shape) => shape);
  return events.map((event, index) => {
    if (event.type !== 'said' || event.number !== undefined || event.isKept) return event;
    const shape = shapes[index];
    const isNotice = shape !== undefined && (counts.get(shape)?.length ?? 0) >= OFTEN;
    const isManual = events[index - 1]?.type === 'did' && isStructured(event.text);
    const { text, at, isKept } = event;
    return isNotice || isManual ? { type: 'given', text, isHandover: false, at, isKept } : event;
  });
}

/** What a line that states something about a path says, whatever the path; undefined for everything else. */
function noticeShape(text: string): string | undefined {
  const shape = text.length > MANUAL.characters ? text : text.replaceAll(SOME_PATH, '/');
  if (shape === text || text.includes('\n')) return undefined;
  return piecesOf(text).every((piece) => kindOf(piece) === 'statement') ? shape : undefined;
}

function isStructured(text: string): boolean {
  return text.length > MANUAL.characters && (text.match(/^#{1,4} \S/gm)?.length ?? 0) >= MANUAL.headings;
}

/** Texts of the user's that stand in front of a memory, and go on standing there. */
function readQuoted(message: Message, at: number): readonly Said[] {
  const openings = readOpenings(message) ?? [];
  return openings.flatMap(({ kind, text }) =>
    kind === 'said' ? [{ type: 'said', text: ownWords(text), at, isKept: true }] : [],
  );
}

function readMessage(
  { role, blocks }: Message,
  place: Placed,
  results: ReadonlyMap<ToolCallBlock, ToolResultBlock>,
): readonly Happening[] {
  return blocks.flatMap((block): readonly Happening[] => {
    switch (block.type) {
      case 'text':
        return role === 'assistant' ? readAgentText(block.text, place) : readUserText(block.text, place);
      case 'tool-call':
        return readCall(block, results.get(block), place);
      case 'media':
        return readGiven(block.text ?? '', { isHandover: false, ...place });
      case 'compaction':
        return readGiven(block.text, { isHandover: true, ...place });
      default:
        return [];
    }
  });
}

function readGiven(text: string, about: Omit<Given, 'type' | 'text'>): readonly Given[] {
  return text === '' ? [] : [{ type: 'given', text, ...about }];
}

function readAgentText(text: string, place: Placed): readonly Told[] {
  return text.trim() === '' ? [] : [{ type: 'told', text: text.trim(), isClosing: true, ...place }];
}

/** What a later look at a process shows belongs to the command that has started it. */
function joinPolls(events: readonly Happening[]): readonly Happening[] {
  const joined: (Happening | undefined)[] = [...events];
  const started = new Map<string, number>();
  for (const [index, event] of events.entries()) {
    if (event.type !== 'did') continue;
    const run = event.action.kind === 'poll' ? started.get(event.action.session) : undefined;
    const before = run === undefined ? undefined : joined[run];
    if (
      run !== undefined &&
      before?.type === 'did' &&
      before.isKept === event.isKept &&
      event.result !== undefined
    ) {
      const text = event.result.text === '' ? (before.result?.text ?? '') : event.result.text;
      joined[run] = { ...before, result: { ...event.result, text }, isFailed: event.isFailed };
      joined[index] = undefined;
    } else if (event.result?.running !== undefined) started.set(event.result.running, index);
  }
  return joined.filter((event) => event !== undefined);
}

function linkResults(messages: readonly Message[]): ReadonlyMap<ToolCallBlock, ToolResultBlock> {
  const results = new Map<ToolCallBlock, ToolResultBlock>();
  for (const { call, result } of linkTools(messages).pairs) {
    const asked = messages[call.message]?.blocks[call.block];
    const answered = messages[result.message]?.blocks[result.block];
    if (asked?.type === 'tool-call' && answered?.type === 'tool-result') results.set(asked, answered);
  }
  return results;
}

function readUserText(text: string, place: Placed): readonly Happening[] {
  if (isHandover(text)) return [{ type: 'given', text, isHandover: true, ...place }];
  const events: Happening[] = [];
  for (const { by, text: part } of segmentsOf(text)) {
    if (part.trim() === '') continue;
    const last = events.at(-1);
    if (by === 'own' && last?.type === 'said')
      events[events.length - 1] = { ...last, text: `${last.text}\n${part.trim()}` };
    else if (by === 'own') events.push({ type: 'said', text: part.trim(), ...place });
    else events.push({ type: 'given', text: part, isHandover: false, ...place });
  }
  return events;
}

const REFUSED =
  /the user (?:doesn't|does not|didn't|did not) want to (?:proceed|take|do)|(?:tool use|request|call|command|edit) was (?:rejected|denied|declined)|user (?:rejected|denied|declined|cancelled|canceled)/i;
const USER_SAID =
  /(?:the user said|user(?:'s)? (?:feedback|response|answer|comment|said)|provided (?:the following )?feedback)\b[^\n:]{0,80}:?\s{0,4}(?:<feedback>)?/i;
const FEEDBACK = /<feedback>([\s\S]{1,8000}?)<\/feedback>/;
const ANSWERED = /^(?:The )?user (?:has )?(?:answered|responded|selected|replied|chose)\b/i;

function readCall(
  call: ToolCallBlock,
  block: ToolResultBlock | undefined,
  place: Placed,
): readonly Happening[] {
  const action = actionOf(call);
  const raw = block === undefined ? undefined : block.content.map(textOf).join('\n');
  const result = raw === undefined ? undefined : readResult(raw);
  const isRefused = raw !== undefined && REFUSED.test(raw.slice(0, 400));
  const isFailed =
    !isRefused && (block?.isError === true || (result?.exitCode ?? 0) !== 0 || isErrorText(action, result));
  const did: Did = { type: 'did', name: call.name, action, result, isFailed, isRefused, ...place };
  const words = raw === undefined ? undefined : userWordsIn(raw, action, isRefused);
  if (words === undefined) return [did];
  return [did, { type: 'said', text: words, answers: describeAsked(action, isRefused), ...place }];
}

/** Whether the text of a result says that the tool failed: some tools set no error flag. */
function isErrorText(action: Action, result: ToolOutput | undefined): boolean {
  const head = result?.text.slice(0, HEAD_OF_RESULT) ?? '';
  if (action.kind === 'look' || action.kind === 'search') return false;
  if (action.kind === 'change' && CHANGE_REFUSED.test(head) && !CHANGED.test(head)) return true;
  return /^\s{0,8}(?:error|fatal|traceback|exception|failed)\b/i.test(head.slice(0, 60));
}

const HEAD_OF_RESULT = 400;
/** Words in the result of an edit that was not made. */
const CHANGE_REFUSED =
  /\b(?:error|failed|denied|forbidden|cannot|can['’]t|could not|unable|refused|rejected|blocked|invalid|no such|not (?:found|allowed|permitted|been read|unique|exist)|does not exist|must (?:be|first|read)|outside)\b|Error\b/i;
const CHANGED =
  /\b(?:updated|edited|created|wrote|written|replaced|modified|applied|saved|success\w{0,6})\b/i;

/** What the user said where a harness hands it on as the result of a call. */
function userWordsIn(raw: string, action: Action, isRefused: boolean): string | undefined {
  if (action.kind === 'ask') return raw.slice(0, 4000).trim();
  const feedback = FEEDBACK.exec(raw.slice(0, 10_000))?.[1]?.trim();
  if (feedback !== undefined && feedback !== '') return feedback;
  if (!isRefused) return ANSWERED.test(raw.slice(0, 60)) ? raw.slice(0, 4000).trim() : undefined;
  const said = USER_SAID.exec(raw.slice(0, 2000));
  const words = said === null ? '' : raw.slice(said.index + said[0].length).trim();
  return words === '' ? undefined : words;
}

function describeAsked(action: Action, isRefused: boolean): string | undefined {
  if (!isRefused) return '';
  switch (action.kind) {
    case 'run':
      return action.command;
    case 'change':
      return `change of ${action.files.map(({ path }) => path).join(', ')}`;
    default:
      return action.kind;
  }
}

/** Marks which texts of the agent ended a turn: those after which the user spoke, and the very last one. */
export function markClosings(events: readonly Happening[]): readonly Happening[] {
  let isOpen = true;
  const marked: Happening[] = [...events];
  for (let index = events.length - 1; index >= 0; index--) {
    const event = events[index];
    if (event === undefined) continue;
    if (event.type === 'said' || event.type === 'given') isOpen = true;
    else if (event.type === 'told') {
      marked[index] = { ...event, isClosing: isOpen };
      isOpen = false;
    } else isOpen = event.type === 'did' && event.action.kind === 'finish';
  }
  return marked;
}
