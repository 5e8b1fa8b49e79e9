import { isObject } from '../../conversation/json.ts';
import {
  type Block,
  type Message,
  type ToolCallBlock,
  type ToolResultBlock,
  textOf,
} from '../../conversation/message.ts';
import { MISSING_RESULT_TEXT, placeAnswers } from '../../conversation/pairing.ts';
import { isClientCall, isClientResult, isSameList, toJson } from '../content.ts';
import { LegalNames } from '../legal-names.ts';
import { AS_TEXT, type IdRules, LEFT_OUT, type MendContext, type Mender } from './shaping.ts';

/** Every call of the client's gets its own id and one result in its place; a result without a call becomes text. */
export function pairTools(
  messages: readonly Message[],
  mender: Mender,
  context: MendContext,
): readonly Message[] {
  const named = nameCalls(messages, mender, context);
  const owes = mender.owesResult?.(named) ?? (() => true);
  const { format, log } = context;
  let isMadeUp = false;
  const placed = placeAnswers(named, format, {
    mayShareAnswer: mender.mayShareAnswer === true,
    answerFor(call) {
      if (!owes(call)) return undefined;
      isMadeUp = true;
      log.add('tool call without a result', 'given one that says so');
      return format.failedResult(call, MISSING_RESULT_TEXT);
    },
  });
  const moved = countMoved(named, placed, format.tools.resultsStand === 'next-message');
  if (moved > 0) log.add('tool result in the wrong place', 'moved to its call', moved);
  if (!isMadeUp && isSameList(placed, named)) return named;
  // What came without content is for others to judge; what moving has emptied is not needed any more.
  const old = new Set(named);
  return placed.filter((one) => one.blocks.length > 0 || old.has(one));
}

/** How many results stand elsewhere than before: behind another block or, where it matters, in another message. */
function countMoved(before: readonly Message[], after: readonly Message[], isOneMessage: boolean): number {
  const places = placesOfResults(before, isOneMessage);
  let moved = 0;
  for (const [raw, place] of placesOfResults(after, isOneMessage)) {
    const old = places.get(raw);
    if (old !== undefined && !isSameList(old, place)) moved++;
  }
  return moved;
}

/** For each result the last value before it that is no result, and how many messages are between them. */
function placesOfResults(messages: readonly Message[], isOneMessage: boolean) {
  const places = new Map<unknown, readonly [behind: unknown, distance: number]>();
  let behind: unknown;
  let distance = 0;
  for (const { blocks } of messages) {
    if (isOneMessage) distance++;
    for (const block of blocks) {
      if (isClientResult(block)) places.set(block.raw, [behind, distance]);
      else {
        behind = block.raw;
        distance = 0;
      }
    }
  }
  return places;
}

/** A block and where it stands: one and the same value may stand in a list twice. */
interface Found<Kind extends Block> {
  readonly block: Kind;
  readonly message: number;
  readonly position: number;
}

type FoundResult = Found<ToolResultBlock>;

interface FoundCall extends Found<ToolCallBlock> {
  /** Number of the answer it is part of: a run of the model's messages. */
  readonly run: number;
  /** Whether another call of the same id was open when it was made. */
  readonly isAmbiguous: boolean;
  result: FoundResult | undefined;
}

/**
 * Finds for every result of the client's the call that it most likely answers, also where ids are used twice or missing and
 * where the result stands in front of its call. A result goes to the newest answer that has an open call of its id, and
 * within that answer to the first such call.
 */
class Linker {
  readonly calls: FoundCall[] = [];
  /** Results that no call before them is found for. */
  private readonly early: FoundResult[] = [];
  /** Open calls by id: a queue for each answer, the newest answer last. */
  private readonly byId = new Map<string, FoundCall[][]>();
  private readonly byName = new Map<string, FoundCall[]>();
  /** Calls without an id, in order, for results that have neither id nor name. */
  private readonly unnamed: FoundCall[] = [];
  private run = 0;

  constructor(messages: readonly Message[]) {
    for (const [message, { role, blocks }] of messages.entries()) {
      if (role === 'assistant' && messages[message - 1]?.role !== 'assistant') this.run++;
      for (const [position, block] of blocks.entries()) {
        if (isClientCall(block)) this.open({ block, message, position });
        if (!isClientResult(block)) continue;
        const result = { block, message, position };
        if (!this.close(result)) this.early.push(result);
      }
    }
  }

  /** Pairs results that stand in front of their calls. Gives those, and the results that no call is found for. */
  pairEarly(): { readonly early: ReadonlySet<FoundResult>; readonly orphans: readonly FoundResult[] } {
    const early = new Set(this.early.filter((result) => this.close(result)));
    return { early, orphans: this.early.filter((result) => !early.has(result)) };
  }

  private open(found: Found<ToolCallBlock>): void {
    const { id, name } = found.block;
    const runs = id === undefined ? [] : listUnder(this.byId, id);
    const call: FoundCall = { ...found, run: this.run, isAmbiguous: runs.length > 0, result: undefined };
    this.calls.push(call);
    if (id === undefined) {
      listUnder(this.byName, name).push(call);
      this.unnamed.push(call);
    } else if (runs.at(-1)?.[0]?.run === this.run) runs.at(-1)?.push(call);
    else runs.push([call]);
  }

  private close(result: FoundResult): boolean {
    const { callId, name } = result.block;
    const runs = callId === undefined ? undefined : this.byId.get(callId);
    const newest = runs?.at(-1);
    const call = newest?.shift() ?? firstOpen(name === undefined ? this.unnamed : this.byName.get(name));
    if (newest?.length === 0) runs?.pop();
    if (call !== undefined) call.result = result;
    return call !== undefined;
  }
}

function firstOpen(queue: FoundCall[] = []): FoundCall | undefined {
  let call = queue.shift();
  while (call?.result !== undefined) call = queue.shift();
  return call;
}

function listUnder<Key, Item>(lists: Map<Key, Item[]>, key: Key): Item[] {
  const known = lists.get(key);
  if (known !== undefined) return known;
  const list: Item[] = [];
  lists.set(key, list);
  return list;
}

/** Calls that are an exact copy of another one in the same answer, and that nothing answers. */
function findCopies(calls: readonly FoundCall[]): ReadonlySet<FoundCall> {
  const byId = new Map<string, FoundCall[]>();
  for (const call of calls) {
    if (call.block.id !== undefined) listUnder(byId, `${call.run} ${call.block.id}`).push(call);
  }
  const copies = new Set<FoundCall>();
  for (const [id, group] of byId) {
    if (group.length === 1) continue;
    const kept = new Map<string, FoundCall>();
    for (const call of group) {
      const key = `${id} ${call.block.name} ${toJson(call.block.input) ?? ''}`;
      const other = kept.get(key);
      if (other === undefined) kept.set(key, call);
      else if (call.result === undefined) copies.add(call);
      else if (other.result === undefined) {
        copies.add(other);
        kept.set(key, call);
      }
    }
  }
  return copies;
}

/** Blocks in place of blocks, by message and position, and results that are brought to the message of their call. */
class BlockEdits {
  readonly replaced = new Map<number, Map<number, readonly Block[]>>();
  readonly brought = new Map<number, ToolResultBlock[]>();

  replace({ message, position }: Found<Block>, blocks: readonly Block[]): void {
    const known = this.replaced.get(message);
    if (known === undefined) this.replaced.set(message, new Map([[position, blocks]]));
    else known.set(position, blocks);
  }
}

/** Calls with legal ids of their own, results that name them, and no result without a call. */
function nameCalls(messages: readonly Message[], mender: Mender, context: MendContext): readonly Message[] {
  const { format, log } = context;
  const linker = new Linker(messages);
  const { early, orphans } = linker.pairEarly();
  const rules = mender.ids?.(context);
  const edits = new BlockEdits();
  const copies = findCopies(linker.calls);
  for (const copy of copies) {
    log.add('copy of a tool call', LEFT_OUT);
    edits.replace(copy, []);
  }
  for (const orphan of orphans) edits.replace(orphan, orphanBlocks(orphan.block, mender, context));
  const calls = linker.calls.filter((call) => !copies.has(call));
  const newIds = rules === undefined ? undefined : chooseIds(calls, rules, context);
  for (const call of calls) {
    const newId = newIds?.get(call);
    if (newId !== undefined && rules !== undefined) {
      log.add('call id', call.block.id === undefined ? 'added' : 'made legal');
      edits.replace(call, [renameCall(call.block, newId, rules)]);
    }
    const { result } = call;
    if (result === undefined) continue;
    const answer = renameAnswer(result.block, newId ?? call.block.id, rules);
    if (early.has(result)) {
      log.add('tool result in front of its call', 'moved behind it');
      edits.replace(result, []);
      listUnder(edits.brought, call.message).push(answer);
    } else if (answer !== result.block) {
      log.add('call id of a tool result', 'made legal');
      edits.replace(result, [answer]);
    }
  }
  if (edits.replaced.size === 0) return messages;
  return messages.flatMap((message, index) => {
    const brought = edits.brought.get(index);
    const rebuilt = rebuild(message, edits.replaced.get(index), mender, context);
    return brought === undefined ? rebuilt : [...rebuilt, ...format.userMessages(brought)];
  });
}

/** The ids of calls that cannot keep theirs. */
function chooseIds(
  calls: readonly FoundCall[],
  rules: IdRules,
  { format }: MendContext,
): ReadonlyMap<FoundCall, string> {
  const isUniqueAmongAll = format.tools.callIdsUniqueAmong === 'all-calls';
  const names = new LegalNames(rules.maxLength ?? 64, 'call');
  const seen = new Set<string>();
  const odd: FoundCall[] = [];
  for (const call of calls) {
    const { id } = call.block;
    const isTaken = id !== undefined && seen.has(id) && (isUniqueAmongAll || call.isAmbiguous);
    if (id === undefined ? rules.needsId(call.block) : isTaken || rules.isLegal?.(id) === false)
      odd.push(call);
    else if (id !== undefined && !seen.has(id)) {
      seen.add(id);
      names.take(id);
    }
  }
  return new Map(odd.map((call) => [call, names.take(call.block.id)]));
}

function renameCall(call: ToolCallBlock, id: string, rules: IdRules): ToolCallBlock {
  return { ...call, id, raw: isObject(call.raw) ? rules.withCallId(call.raw, id) : call.raw };
}

function renameAnswer(
  result: ToolResultBlock,
  id: string | undefined,
  rules: IdRules | undefined,
): ToolResultBlock {
  // A result that names its call by the name of the tool alone may go on doing so.
  if (rules === undefined || id === undefined || result.callId === id || !isObject(result.raw)) return result;
  return { ...result, callId: id, raw: rules.withAnsweredId(result.raw, id) };
}

/** What a result without a call says, and pictures as they are where the user may show them. */
function orphanBlocks(
  { content }: ToolResultBlock,
  mender: Mender,
  { format, log }: MendContext,
): readonly Block[] {
  const isKept = ({ type }: Block) => type === 'media' && mender.resultMediaFitsUser === true;
  const words = content
    .filter((inner) => !isKept(inner))
    .map((inner) => textOf(inner) || (toJson(inner.raw) ?? ''))
    .filter((text) => text.trim() !== '');
  const media = content.filter(isKept);
  const isEmpty = words.length === 0 && media.length === 0;
  log.add('tool result without a call', isEmpty ? LEFT_OUT : AS_TEXT);
  return isEmpty
    ? []
    : [format.textBlock(['[result of an earlier tool call]', ...words].join('\n')), ...media];
}

/** The message with other blocks, where needed as several messages; none when nothing is left of it. */
function rebuild(
  message: Message,
  replaced: ReadonlyMap<number, readonly Block[]> | undefined,
  mender: Mender,
  { format, log }: MendContext,
): readonly Message[] {
  if (replaced === undefined) return [message];
  const blocks = message.blocks.flatMap((block, position) => replaced.get(position) ?? [block]);
  if (!format.reasoningStandsAlone && blocks.every(({ type }) => type === 'reasoning')) {
    if (blocks.length > 0) log.add('reasoning of a call that is left out', LEFT_OUT, blocks.length);
    return [];
  }
  if (blocks.length === 0) return [];
  const calling = mender.withCalls?.(message, replaced);
  if (calling !== undefined) return [calling];
  if (format.tools.resultsStand === 'next-message') return [format.withBlocks(message, blocks)];
  // Here results stand in messages of their own kind, which hold nothing else.
  const isWord = ({ type }: Block) =>
    message.blocks.some(isClientResult) && (type === 'text' || type === 'media');
  const held = blocks.filter((block) => !isWord(block));
  const words = blocks.filter(isWord);
  return [
    ...(held.length === 0 ? [] : [withHeld(message, held, format)]),
    ...(words.length === 0 ? [] : format.userMessages(words)),
  ];
}

function withHeld(message: Message, held: readonly Block[], format: MendContext['format']): Message {
  const [only] = held;
  // An item that is a call is that one value.
  const isItem = message.blocks.length === 1 && message.blocks[0]?.raw === message.raw;
  return isItem && only?.type === 'tool-call'
    ? format.readMessage(only.raw)
    : format.withBlocks(message, held);
}
