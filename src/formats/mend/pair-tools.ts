import { isObject } from '../../conversation/json.ts';
import { type Block, type Message, type ToolResultBlock, textOf } from '../../conversation/message.ts';
import { MISSING_RESULT_TEXT, placeAnswers } from '../../conversation/pairing.ts';
import { LegalNames } from '../convert/legal-names.ts';
import { toJson } from '../result-content.ts';
import type { IdRules, MendContext, Mender } from './mender.ts';
import { countMoved } from './moved-results.ts';
import { AS_TEXT, LEFT_OUT } from './raw-message.ts';
import {
  type FoundCall,
  type FoundResult,
  findLinkage,
  findRepeats,
  type ToolLinkage,
} from './tool-linkage.ts';

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
