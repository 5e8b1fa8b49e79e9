import { isObject } from '../../conversation/json.ts';
import {
  type Block,
  type Message,
  type ToolCallBlock,
  type ToolResultBlock,
  textOf,
} from '../../conversation/message.ts';
import { MISSING_RESULT_TEXT } from '../../conversation/pairing.ts';
import { placeAnswers } from '../../conversation/pairing-answers.ts';
import { toJson } from '../content.ts';
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
  const isSame = !isMadeUp && placed.length === named.length && placed.every((one, at) => one === named[at]);
  if (isSame) return named;
  // What came without content is for others to judge; what moving has emptied is not needed any more.
  const old = new Set(named);
  return placed.filter((one) => one.blocks.length > 0 || old.has(one));
}

/** What is done to single blocks before anything is moved. */
interface BlockEdits {
  /** Blocks in place of a block, by message and position. */
  readonly replaced: Map<number, Map<number, readonly Block[]>>;
  /** Results that are brought to the message of their call. */
  readonly brought: Map<number, ToolResultBlock[]>;
}

/** Calls with legal ids of their own, results that name them, and no result without a call. */
function nameCalls(messages: readonly Message[], mender: Mender, context: MendContext): readonly Message[] {
  const linkage = findLinkage(messages);
  const rules = mender.idRules?.(context);
  const edits: BlockEdits = { replaced: new Map(), brought: new Map() };
  const dropped = dropCopies(linkage, { edits, context });
  for (const orphan of linkage.orphans) replaceOrphan(orphan, mender, { edits, context });
  const newIds =
    rules === undefined ? new Map<FoundCall, string>() : chooseIds(linkage, dropped, rules, context);
  for (const call of linkage.calls) {
    if (!dropped.has(call))
      renameCall(call, newIds.get(call), { rules, edits, isEarly: isEarly(call, linkage), context });
  }
  if (edits.replaced.size === 0) return messages;
  return messages.flatMap((message, index) => [
    ...rebuild(message, edits.replaced.get(index), mender, context),
    ...bring(edits.brought.get(index), context),
  ]);
}

function isEarly({ result }: FoundCall, { early }: ToolLinkage): boolean {
  return result !== undefined && early.has(result);
}

interface Editing {
  readonly edits: BlockEdits;
  readonly context: MendContext;
}

/** Copies of a call go. */
function dropCopies({ calls }: ToolLinkage, { edits, context }: Editing): ReadonlySet<FoundCall> {
  const dropped = findRepeats(calls);
  for (const call of dropped) {
    context.log.add('copy of a tool call', LEFT_OUT);
    edit(edits, call, []);
  }
  return dropped;
}

/** The ids of calls that cannot keep theirs. */
function chooseIds(
  { calls }: ToolLinkage,
  dropped: ReadonlySet<FoundCall>,
  rules: IdRules,
  { format }: MendContext,
): ReadonlyMap<FoundCall, string> {
  const isUniqueAmongAll = format.tools.callIdsUniqueAmong === 'all-calls';
  const names = new LegalNames(rules.maxLength, 'call');
  const seen = new Set<string>();
  const odd: FoundCall[] = [];
  for (const call of calls) {
    if (dropped.has(call)) continue;
    const { id } = call.block;
    const isTaken = id !== undefined && seen.has(id) && (isUniqueAmongAll || call.isAmbiguous);
    if (id === undefined ? rules.needsId(call.block) : isTaken || !rules.isLegal(id)) odd.push(call);
    else if (id !== undefined && !seen.has(id)) {
      seen.add(id);
      names.take(id);
    }
  }
  return new Map(odd.map((call) => [call, names.take(call.block.id)]));
}

function renameCall(
  call: FoundCall,
  newId: string | undefined,
  {
    rules,
    edits,
    isEarly: isMoved,
    context,
  }: Editing & { readonly rules: IdRules | undefined; readonly isEarly: boolean },
): void {
  const { block, result } = call;
  const id = newId ?? block.id;
  if (newId !== undefined && rules !== undefined) {
    context.log.add('call id', block.id === undefined ? 'added' : 'made legal');
    const raw = isObject(block.raw) ? rules.withCallId(block.raw, newId) : block.raw;
    edit(edits, call, [{ ...block, id: newId, raw }]);
  }
  if (result === undefined) return;
  const answer = nameAnswer(result.block, id, rules);
  if (isMoved) {
    context.log.add('tool result in front of its call', 'moved behind it');
    edit(edits, result, []);
    const known = edits.brought.get(call.message);
    if (known === undefined) edits.brought.set(call.message, [answer]);
    else known.push(answer);
  } else if (answer !== result.block) {
    context.log.add('call id of a tool result', 'made legal');
    edit(edits, result, [answer]);
  }
}

function nameAnswer(
  result: ToolResultBlock,
  id: string | undefined,
  rules: IdRules | undefined,
): ToolResultBlock {
  // A result that names its call by the name of the tool alone may go on doing so.
  if (rules === undefined || id === undefined || result.callId === id || !isObject(result.raw)) return result;
  return { ...result, callId: id, raw: rules.withAnsweredId(result.raw, id) };
}

function replaceOrphan(
  { block, message, position }: FoundResult,
  mender: Mender,
  { edits, context }: Editing,
): void {
  const isKept = (inner: Block) => inner.type === 'media' && mender.resultMediaFitsUser === true;
  const words = block.content
    .filter((inner) => !isKept(inner))
    .map((inner) => textOf(inner) || (toJson(inner.raw) ?? ''))
    .filter((text) => text.trim() !== '');
  const media = block.content.filter(isKept);
  const isEmpty = words.length === 0 && media.length === 0;
  context.log.add('tool result without a call', isEmpty ? LEFT_OUT : AS_TEXT);
  const text = context.format.textBlock(['[result of an earlier tool call]', ...words].join('\n'));
  edit(edits, { message, position }, isEmpty ? [] : [text, ...media]);
}

function edit(
  { replaced }: BlockEdits,
  { message, position }: { readonly message: number; readonly position: number },
  blocks: readonly Block[],
): void {
  const known = replaced.get(message);
  if (known === undefined) replaced.set(message, new Map([[position, blocks]]));
  else known.set(position, blocks);
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
  const isOfResults = message.blocks.some(isClientResult);
  const held = blocks.filter((block) => !isOfResults || !isContent(block));
  const words = isOfResults ? blocks.filter(isContent) : [];
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

function bring(results: readonly ToolResultBlock[] | undefined, { format }: MendContext): readonly Message[] {
  return results === undefined ? [] : format.userMessages(results);
}

function isContent({ type }: Block): boolean {
  return type === 'text' || type === 'media';
}

function isClientResult(block: Block): boolean {
  return block.type === 'tool-result' && block.runBy === 'client';
}

/** A result and where it stands. */
export interface FoundResult {
  readonly block: ToolResultBlock;
  readonly message: number;
  readonly position: number;
}

/** A call, where it stands, and the result that belongs to it. */
export interface FoundCall {
  readonly block: ToolCallBlock;
  readonly message: number;
  readonly position: number;
  /** Number of the answer it is part of: a run of the model's messages. */
  readonly run: number;
  /** Whether another call of the same id was open when it was made. */
  readonly isAmbiguous: boolean;
  result: FoundResult | undefined;
}

export interface ToolLinkage {
  readonly calls: readonly FoundCall[];
  /** Results that stand before the call they answer. */
  readonly early: ReadonlySet<FoundResult>;
  /** Results that no call is found for. */
  readonly orphans: readonly FoundResult[];
}

/**
 * Finds for every result of the client's the call that it most likely answers, also where ids are used twice or missing and
 * where the result stands in front of its call. A result goes to the newest answer that has an open call of its id, and
 * within that answer to the first such call.
 */
export function findLinkage(messages: readonly Message[]): ToolLinkage {
  const linker = new Linker();
  for (const [index, message] of messages.entries()) linker.add(message, index);
  return linker.end();
}

/** Calls that are an exact copy of another one in the same answer, and that nothing answers. */
export function findRepeats(calls: readonly FoundCall[]): ReadonlySet<FoundCall> {
  const known = new Map<string, FoundCall>();
  const repeats = new Set<FoundCall>();
  const shared = sharedIds(calls);
  for (const call of calls) {
    const { id, name, input } = call.block;
    if (id === undefined || !shared.has(`${call.run} ${id}`)) continue;
    const key = `${call.run} ${id} ${name} ${toJson(input) ?? ''}`;
    const other = known.get(key);
    if (other === undefined) known.set(key, call);
    else if (call.result === undefined) repeats.add(call);
    else if (other.result === undefined) {
      repeats.add(other);
      known.set(key, call);
    }
  }
  return repeats;
}

function sharedIds(calls: readonly FoundCall[]): ReadonlySet<string> {
  const seen = new Set<string>();
  const shared = new Set<string>();
  for (const { run, block } of calls) {
    const key = `${run} ${block.id}`;
    if (seen.has(key)) shared.add(key);
    seen.add(key);
  }
  return shared;
}

/** Open calls of one answer under one id, first come first served. */
interface OpenRun {
  readonly run: number;
  readonly calls: FoundCall[];
  next: number;
}

class Linker {
  private readonly calls: FoundCall[] = [];
  private readonly early: FoundResult[] = [];
  private readonly byId = new Map<string, OpenRun[]>();
  private readonly byName = new Map<string, OpenRun>();
  /** Calls without an id, in order, for results that have neither id nor name. */
  private readonly unnamed: OpenRun = { run: 0, calls: [], next: 0 };
  private run = 0;
  private isAnswering = false;

  add(message: Message, index: number): void {
    const isAnswer = message.role === 'assistant';
    if (isAnswer && !this.isAnswering) this.run++;
    this.isAnswering = isAnswer;
    for (const [position, block] of message.blocks.entries()) {
      if (block.type === 'tool-call' && block.runBy === 'client') this.open(block, index, position);
      if (block.type === 'tool-result' && block.runBy === 'client') {
        this.close({ block, message: index, position });
      }
    }
  }

  end(): ToolLinkage {
    const early = new Set<FoundResult>();
    const orphans: FoundResult[] = [];
    for (const result of this.early) {
      const call = this.take(result.block);
      if (call === undefined) orphans.push(result);
      else {
        call.result = result;
        early.add(result);
      }
    }
    return { calls: this.calls, early, orphans };
  }

  private open(block: ToolCallBlock, message: number, position: number): void {
    const runs = block.id === undefined ? undefined : this.byId.get(block.id);
    while (runs !== undefined && runs.length > 0 && isDone(runs.at(-1))) runs.pop();
    const isAmbiguous = runs !== undefined && runs.length > 0;
    const call: FoundCall = { block, message, position, run: this.run, isAmbiguous, result: undefined };
    this.calls.push(call);
    if (block.id === undefined) {
      const queue = this.byName.get(block.name);
      if (queue === undefined) this.byName.set(block.name, { run: 0, calls: [call], next: 0 });
      else queue.calls.push(call);
      this.unnamed.calls.push(call);
    } else if (runs === undefined) {
      this.byId.set(block.id, [{ run: this.run, calls: [call], next: 0 }]);
    } else {
      const newest = runs.at(-1);
      if (newest?.run === this.run) newest.calls.push(call);
      else runs.push({ run: this.run, calls: [call], next: 0 });
    }
  }

  private close(result: FoundResult): void {
    const call = this.take(result.block);
    if (call === undefined) this.early.push(result);
    else call.result = result;
  }

  private take({ callId, name }: ToolResultBlock): FoundCall | undefined {
    const runs = callId === undefined ? undefined : this.byId.get(callId);
    while (runs !== undefined && runs.length > 0) {
      const call = nextOpen(runs.at(-1));
      if (call !== undefined) return call;
      runs.pop();
    }
    return nextOpen(name === undefined ? this.unnamed : this.byName.get(name));
  }
}

function isDone(queue: OpenRun | undefined): boolean {
  return queue !== undefined && queue.next >= queue.calls.length;
}

/** The first call of a queue that nothing answers yet. */
function nextOpen(queue: OpenRun | undefined): FoundCall | undefined {
  while (queue !== undefined) {
    const call = queue.calls[queue.next];
    if (call === undefined) return undefined;
    queue.next++;
    if (call.result === undefined) return call;
  }
  return undefined;
}

/** How many results stand elsewhere than before: behind something else or, where it matters, in another message. */
export function countMoved(
  before: readonly Message[],
  after: readonly Message[],
  isOneMessage: boolean,
): number {
  const places = placesOfResults(before, isOneMessage);
  let moved = 0;
  for (const [raw, place] of placesOfResults(after, isOneMessage)) {
    const old = places.get(raw);
    if (old !== undefined && (old.behind !== place.behind || old.distance !== place.distance)) moved++;
  }
  return moved;
}

interface ResultPlace {
  /** The last value before it that is no result. */
  readonly behind: unknown;
  readonly distance: number;
}

function placesOfResults(
  messages: readonly Message[],
  isOneMessage: boolean,
): ReadonlyMap<unknown, ResultPlace> {
  const places = new Map<unknown, ResultPlace>();
  let behind: unknown;
  let distance = 0;
  for (const { blocks } of messages) {
    if (isOneMessage) distance++;
    for (const block of blocks) {
      if (isClientResult(block)) places.set(block.raw, { behind, distance });
      else {
        behind = block.raw;
        distance = 0;
      }
    }
  }
  return places;
}
