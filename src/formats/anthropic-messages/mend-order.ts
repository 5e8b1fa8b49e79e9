/**
 * Repairs the order of Anthropic messages: provider summaries, server tools, system messages, last turn, cache
 * breakpoints.
 */

import { asList, isObject, type JsonObject } from '../../conversation/json.ts';
import type { Block, Message, Role, ToolCallBlock } from '../../conversation/message.ts';
import { PLACEHOLDER_TEXT } from '../../conversation/pairing.ts';
import {
  isGiven,
  LEFT_OUT,
  type MendContext,
  replaceEntries,
  SYSTEM_MARK,
  withoutFields,
} from '../mend/shaping.ts';

/** What a model of Anthropic's takes, as far as mending depends on it. */
interface ModelHabits {
  /** An answer may stand last and be continued. */
  readonly takesPrefill: boolean;
  /** Instructions may stand among the messages. */
  readonly takesSystemMessages: boolean;
}

/** From which version on a family takes instructions among the messages; families that are not named here never do. */
const SYSTEM_MESSAGES_SINCE: ReadonlyMap<string, number> = new Map([
  ['opus', 4.8],
  ['sonnet', 5.5],
  ['fable', 5],
  ['mythos', 5],
]);

const LAST_PREFILL_VERSION = 4.5;

/** What a model takes, by whatever name a platform gives it. An unknown model is assumed to take everything. */
function modelHabits(model: string | undefined): ModelHabits {
  const name = (model ?? '').slice(-200).toLowerCase().replaceAll('.', '-');
  if (/claude-3-/.test(name)) return { takesPrefill: true, takesSystemMessages: false };
  const found = /claude-([a-z]{1,12})-(\d{1,2})(?:-(\d{1,2}))?(?!\d)/.exec(name);
  if (found === null) return { takesPrefill: true, takesSystemMessages: true };
  const version = Number(`${found[2]}.${found[3] ?? 0}`);
  const since = SYSTEM_MESSAGES_SINCE.get(found[1] ?? '') ?? Number.POSITIVE_INFINITY;
  return { takesPrefill: version <= LAST_PREFILL_VERSION, takesSystemMessages: version >= since };
}

/**
 * A summary that the provider has signed stands first and alone: what it summarises may not stand before it, and no other
 * summary beside it. Of several the newest counts, since it covers the others. Unsigned ones may stand anywhere.
 */
export function beginAtSummary(
  messages: readonly Message[],
  { format, log }: MendContext,
): readonly Message[] {
  if (!messages.some(({ blocks }) => blocks.some(isSigned))) return messages;
  const start = messages.findLastIndex(({ blocks }) => blocks.some(isSummary));
  const first = messages[start];
  const position = first?.blocks.findLastIndex(isSummary) ?? -1;
  if (first === undefined || (start === 0 && position === 0)) return messages;
  if (start > 0) log.add("message before the provider's own summary", LEFT_OUT, start);
  if (position > 0) log.add("block before the provider's own summary", LEFT_OUT, position);
  const opening = position === 0 ? first : format.withBlocks(first, first.blocks.slice(position));
  return [opening, ...messages.slice(start + 1)];
}

function isSummary(block: Block): boolean {
  return block.type === 'compaction';
}

function isSigned(block: Block): boolean {
  return block.type === 'compaction' && isObject(block.raw) && isGiven(block.raw['signature']);
}

/** Tools of the provider's of which a call may wait only while they are offered, with the definition that offers them. */
const OFFERED_BY: ReadonlyMap<string, string> = new Map([
  ['web_search', 'web_search'],
  ['web_fetch', 'web_fetch'],
  ['advisor', 'advisor'],
  ['code_execution', 'code_execution'],
  ['bash_code_execution', 'code_execution'],
  ['text_editor_code_execution', 'code_execution'],
  ['tool_search_tool_bm25', 'tool_search_tool_bm25'],
  ['tool_search_tool_regex', 'tool_search_tool_regex'],
]);

/**
 * Takes out what is left of a provider's own tool when its other half is missing. A call may wait for its result as long as
 * the user sends nothing but tool results.
 */
export function dropBrokenServerTools(
  messages: readonly Message[],
  context: MendContext,
): readonly Message[] {
  const broken = findBrokenServerTools(messages, context);
  if (broken.size === 0) return messages;
  const { format, log } = context;
  log.add("call or result of a provider's own tool without its other half", LEFT_OUT, broken.size);
  return replaceEntries(messages, (message) => {
    const blocks = message.blocks.filter((block) => !broken.has(block));
    if (blocks.length === message.blocks.length) return [message];
    return blocks.length === 0 ? [] : [format.withBlocks(message, blocks)];
  });
}

function findBrokenServerTools(
  messages: readonly Message[],
  { frame, isRequest }: MendContext,
): ReadonlySet<Block> {
  const broken = new Set<Block>();
  const open = new Map<string | undefined, ToolCallBlock>();
  for (const { role, blocks } of messages) {
    if (role === 'assistant') for (const block of blocks) pairServerBlock(block, open, broken);
    if (role !== 'user' || blocks.every(({ type }) => type === 'tool-result')) continue;
    for (const call of open.values()) broken.add(call);
    open.clear();
  }
  const offered = new Set(frame.tools.map(({ name }) => name));
  for (const call of isRequest ? open.values() : []) {
    const tool = OFFERED_BY.get(call.name);
    if (tool !== undefined && !offered.has(tool)) broken.add(call);
  }
  return broken;
}

function pairServerBlock(
  block: Block,
  open: Map<string | undefined, ToolCallBlock>,
  broken: Set<Block>,
): void {
  if (block.type === 'tool-call' && block.runBy === 'server') {
    const before = open.get(block.id);
    if (before !== undefined) broken.add(before);
    open.set(block.id, block);
  }
  const isResult = block.type === 'tool-result' && block.runBy === 'server';
  if (isResult && !open.delete(block.callId)) broken.add(block);
}

/**
 * System messages stand directly behind a user message (or behind the result of a provider's own tool), and last or before
 * an answer. One that a user message follows goes behind that; any other, and all of them for models that take none, becomes
 * a user message that says what it was.
 */
export function placeSystemMessages(messages: readonly Message[], context: MendContext): readonly Message[] {
  if (!messages.some(({ role }) => role === 'system')) return messages;
  const placer = new SystemPlacer(context);
  const followers = rolesThatFollow(messages);
  for (const [index, message] of messages.entries()) placer.add(message, followers[index]);
  return placer.end();
}

/** For each message who speaks next, system messages not counted; undefined at the end. */
function rolesThatFollow(messages: readonly Message[]): readonly (Role | undefined)[] {
  const roles: (Role | undefined)[] = [];
  let next: Role | undefined;
  for (const { role } of messages.toReversed()) {
    roles.push(next);
    if (role !== 'system') next = role;
  }
  return roles.reverse();
}

class SystemPlacer {
  private readonly context: MendContext;
  private readonly isRefused: boolean;
  private readonly placed: Message[] = [];
  /** Messages of the answer that is going on; the words of a system message may have to go in front of it. */
  private answer: Message[] = [];
  /** System messages that wait for a place. */
  private waiting: Message[] = [];
  private openServerCalls = 0;

  constructor(context: MendContext) {
    this.context = context;
    this.isRefused = context.isRequest && !modelHabits(context.model).takesSystemMessages;
  }

  add(message: Message, next: Role | undefined): void {
    if (message.role === 'system') {
      this.waiting.push(message);
      if (next !== 'user') this.settle();
    } else if (message.role === 'user') {
      this.flush();
      this.placed.push(message);
      if (this.waiting.length > 0 && next !== 'user') this.settleMoved();
    } else {
      this.answer.push(message);
      this.openServerCalls += countServerCalls(message);
    }
  }

  end(): readonly Message[] {
    this.flush();
    return this.placed;
  }

  private flush(): void {
    for (const message of this.answer) this.placed.push(message);
    this.answer = [];
    this.openServerCalls = 0;
  }

  /** No user message follows: they stay where they are if they may, else they speak as the user. */
  private settle(): void {
    const before = this.answer.at(-1) ?? this.placed.at(-1);
    // Behind another system message it is part of a group that has its place.
    const isPlaced = before?.role === 'user' || before?.role === 'system';
    const mayStay = isPlaced || (before !== undefined && endsWithServerResult(before));
    if (mayStay && !this.isRefused) this.answer.push(...this.waiting);
    else if (this.openServerCalls > 0) this.placed.push(...this.spoken());
    else this.answer.push(...this.spoken());
    this.waiting = [];
  }

  private settleMoved(): void {
    const { log } = this.context;
    if (this.isRefused) this.placed.push(...this.spoken());
    else {
      log.add('system message in the wrong place', 'moved behind the next user message', this.waiting.length);
      this.placed.push(...this.waiting);
    }
    this.waiting = [];
  }

  private spoken(): readonly Message[] {
    const { format, log } = this.context;
    log.add('system message in the middle', 'turned into a marked user message', this.waiting.length);
    return this.waiting.flatMap(({ blocks }) =>
      format.userMessages([format.textBlock(SYSTEM_MARK), ...blocks]),
    );
  }
}

function endsWithServerResult({ blocks }: Message): boolean {
  const last = blocks.at(-1);
  return last?.type === 'tool-result' && last.runBy === 'server';
}

function countServerCalls({ blocks }: Message): number {
  const count = (type: Block['type']) =>
    blocks.filter((block) => block.type === type && 'runBy' in block && block.runBy === 'server').length;
  return count('tool-call') - count('tool-result');
}

/** A user message in front, unless a summary of the provider's opens the list. */
export function startWithUser(
  messages: readonly Message[],
  { format, log }: MendContext,
): readonly Message[] {
  const [first] = messages;
  if (first?.role !== 'assistant' || first.blocks[0]?.type === 'compaction') return messages;
  log.add('list that begins with an answer', 'given a user message in front');
  return [...format.userMessages([format.textBlock(PLACEHOLDER_TEXT)]), ...messages];
}

/** What asks a model to go on that refuses to continue its own words. */
const CONTINUE_TEXT = '[continue]';

/** A request ends with the user, or with words of the model's that it may continue; these do not end in blanks. */
export function endAsAllowed(messages: readonly Message[], context: MendContext): readonly Message[] {
  const { format, frame, model, isRequest, log } = context;
  const last = messages.at(-1);
  const asksForSummary = isObject(frame.body) && isGiven(frame.body['compaction']);
  if (!isRequest || last?.role !== 'assistant' || asksForSummary || last.blocks.some(goesOn)) return messages;
  if (!modelHabits(model).takesPrefill) {
    log.add('request that ends with an answer', 'given a user message behind it');
    return [...messages, ...format.userMessages([format.textBlock(CONTINUE_TEXT)])];
  }
  const final = last.blocks.at(-1);
  if (final?.type !== 'text' || final.text === final.text.trimEnd()) return messages;
  log.add('blank at the end of the last answer', 'removed');
  const text = final.text.trimEnd();
  const trimmed: Block = { type: 'text', text, raw: isObject(final.raw) ? { ...final.raw, text } : text };
  return messages.with(-1, format.withBlocks(last, last.blocks.with(-1, trimmed)));
}

/** A turn that the provider has not finished is resumed and no prefill. */
function goesOn(block: Block): boolean {
  if (block.type === 'compaction' || block.type === 'tool-call') return true;
  if (block.type === 'tool-result') return block.runBy === 'server';
  return block.type === 'other' && block.wireType === 'fallback';
}

const MAX_BREAKPOINTS = 4;

/**
 * At most four cache breakpoints, and none of an hour behind one of five minutes. The breakpoints of the frame stay; of those
 * in the messages the last ones do, which cover the others.
 */
export function markAtMostFour(messages: readonly Message[], context: MendContext): readonly Message[] {
  const { format, frame, isRequest, log } = context;
  const body: JsonObject = isRequest && isObject(frame.body) ? frame.body : {};
  const marked = messages.flatMap(({ raw }) => (isObject(raw) ? markedBlocks(raw['content']) : []));
  if (marked.length === 0) return messages;
  const outer = [...markedBlocks(body['tools']), ...markedBlocks(body['system'])];
  const slots = MAX_BREAKPOINTS - outer.length - (isGiven(body['cache_control']) ? 1 : 0);
  const excess = marked.length - Math.max(slots, 0);
  const changes: MarkChanges = new Map();
  let isShort = outer.some((block) => !isLong(block));
  for (const [index, block] of marked.entries()) {
    if (index < excess) changes.set(block, 'drop');
    else if (isLong(block) && isShort) changes.set(block, 'shorten');
    else isShort ||= !isLong(block);
  }
  if (changes.size === 0) return messages;
  log.add('cache breakpoint that is not allowed', 'removed or shortened', changes.size);
  return messages.map((message) => {
    const raw = isObject(message.raw) ? withMarksInside(message.raw, changes) : message.raw;
    const { responseId, usage } = message;
    return raw === message.raw ? message : { ...format.readMessage(raw), responseId, usage };
  });
}

type MarkChanges = Map<JsonObject, 'drop' | 'shorten'>;

/** The blocks of a list that carry a breakpoint, those inside of results included. */
function markedBlocks(list: unknown): readonly JsonObject[] {
  return asList(list).flatMap((block) => {
    if (!isObject(block)) return [];
    const inner = block['type'] === 'tool_result' ? markedBlocks(block['content']) : [];
    return isGiven(block['cache_control']) ? [...inner, block] : inner;
  });
}

function isLong({ cache_control: control }: JsonObject): boolean {
  return isObject(control) && control['ttl'] === '1h';
}

/** The message or result with other breakpoints on the blocks of its content; the very same one when none changes. */
function withMarksInside(holder: JsonObject, changes: MarkChanges): JsonObject {
  if (!Array.isArray(holder['content'])) return holder;
  const content = replaceEntries<unknown>(holder['content'], (block) =>
    isObject(block) ? [withMark(block, changes)] : [block],
  );
  return content === holder['content'] ? holder : { ...holder, content };
}

function withMark(block: JsonObject, changes: MarkChanges): JsonObject {
  const inner = block['type'] === 'tool_result' ? withMarksInside(block, changes) : block;
  const change = changes.get(block);
  if (change === undefined) return inner;
  if (change === 'drop') return withoutFields(inner, (name) => name === 'cache_control');
  return { ...inner, cache_control: { type: 'ephemeral' } };
}
