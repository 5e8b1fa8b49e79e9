import { asString, isObject, type JsonObject } from '../../conversation/json.ts';
import { claudeCodeCharge, type RecordedCharge } from '../charges.ts';
import type { JsonEntry } from '../input/json-values.ts';
import { count, fillNote, listCounts } from '../records.ts';
import type {
  Origin,
  RecordedCompaction,
  Reject,
  Segment,
  SessionFacts,
  Transcript,
  TranscriptFold,
  TranscriptReader,
} from '../transcript.ts';
import {
  answeredCalls,
  askedCalls,
  bookkeepingTypes,
  type LeftOut,
  type MessagePart,
  readRecord,
  type SessionRecord,
} from './record.ts';
import { type Conversation, growTree, liveStretches, type Stretch, type TreeNode } from './tree.ts';

/**
 * Session files of Claude Code, as Anthropic messages. The records form a tree: the conversation is the chain from
 * the newest leaf, sub-agents are side chains of their own, and each compaction opens a segment. All transcripts come
 * at the end, because any later record may move the leaf: the live conversation first, then earlier conversations of
 * the file that are not linked to it, then the side chains.
 */
export const claudeCode: TranscriptReader = {
  name: 'claude-code',
  product: 'Claude Code',
  summary: 'Claude Code session (JSONL)',
  location: '~/.claude/projects/<project>/<session>.jsonl',
  recognise: (sample) => sample.some(({ value }) => isObject(value) && isSessionRecord(value)),
  open: openSession,
};

/** Keys, all of them texts, that tell a record of this type from whatever else has such a type. */
const telltaleKeys = new Map<string, readonly string[]>([
  ['ai-title', ['sessionId']],
  ['custom-title', ['sessionId']],
  ['file-history-snapshot', ['messageId']],
  ['last-prompt', ['sessionId']],
  ['mode', ['sessionId']],
  ['permission-mode', ['sessionId']],
  ['pr-link', ['sessionId']],
  ['queue-operation', ['sessionId']],
  ['summary', ['summary', 'leafUuid']],
]);

function isSessionRecord(value: JsonObject): boolean {
  const type = asString(value['type']) ?? '';
  const keys = telltaleKeys.get(type);
  if (keys?.every((key) => typeof value[key] === 'string')) return true;
  if (Object.hasOwn(value, 'parentUuid')) return type !== '' && typeof value['uuid'] === 'string';
  return (
    (type === 'user' || type === 'assistant') &&
    isObject(value['message']) &&
    typeof value['sessionId'] === 'string'
  );
}

/** What is known of a file besides its records. */
interface Session {
  readonly reject: Reject;
  readonly records: SessionRecord[];
  readonly uuids: Set<string>;
  repeated: number;
  readonly unknownTypes: Map<string, number>;
  facts: SessionFacts;
  /** By response: every record of one repeats its usage, and only the last is final. */
  readonly charges: Map<string, RecordedCharge>;
}

function openSession(reject: Reject): TranscriptFold {
  const session: Session = {
    reject,
    records: [],
    uuids: new Set(),
    repeated: 0,
    unknownTypes: new Map(),
    facts: {},
    charges: new Map(),
  };
  return {
    add(entry) {
      addEntry(session, entry);
      return [];
    },
    end: () =>
      toTranscripts(session.records, notesOnFile(session), damageOfFile(session)).map(
        (transcript, index) => ({
          ...transcript,
          session: session.facts,
          ...(index === 0 ? { charges: [...session.charges.values()] } : {}),
        }),
      ),
  };
}

function addEntry(session: Session, { value, place }: JsonEntry): void {
  const type = isObject(value) ? asString(value['type']) : undefined;
  if (!isObject(value) || type === undefined) {
    session.reject(place, 'a record must be an object with a type');
    return;
  }
  session.facts = factsOf(value, session.facts);
  const counted = type === 'assistant' ? claudeCodeCharge(value) : undefined;
  if (counted !== undefined) session.charges.set(counted.response, counted.charge);
  const record = readRecord(value, place, (reason) => session.reject(place, reason));
  const hasMeaning = record.isTurn || record.leftOut !== undefined || bookkeepingTypes.has(type);
  if (!hasMeaning) count(session.unknownTypes, type);
  if (record.uuid !== undefined && session.uuids.has(record.uuid)) {
    session.repeated++;
    return;
  }
  if (record.uuid === undefined && !record.isTurn) return;
  if (record.uuid !== undefined) session.uuids.add(record.uuid);
  session.records.push(record);
}

/** What the newest records say: a session may move to another folder, branch or version. */
function factsOf(value: JsonObject, known: SessionFacts): SessionFacts {
  const folder = asString(value['cwd']);
  if (folder === undefined) return known;
  return {
    id: asString(value['sessionId']) ?? known.id,
    folder,
    version: asString(value['version']) ?? known.version,
    branch: asString(value['gitBranch']) ?? known.branch,
  };
}

function damageOfFile({ repeated }: Session): string[] {
  return repeated > 0 ? [fillNote('{n} repeated record{s} left out', repeated)] : [];
}

/** Notes on the file as a whole; they go with its first transcript. */
function notesOnFile({ unknownTypes }: Session): string[] {
  const notes: string[] = [];
  if (unknownTypes.size > 0) notes.push(`records of unknown type left out: ${listCounts(unknownTypes)}`);
  return notes;
}

/** A conversation in which something was said. */
interface LiveConversation extends Conversation {
  readonly stretches: readonly Stretch[];
  readonly newest: TreeNode;
}

/**
 * The conversations of a file: the one that was continued last, then the other main ones and the side chains, each in
 * file order. `fileNotes` go with the first of them.
 */
function toTranscripts(
  records: readonly SessionRecord[],
  fileNotes: readonly string[],
  fileDamage: readonly string[],
): Transcript[] {
  const live = growTree(records).flatMap(findLive);
  const sides = live.filter(({ newest }) => newest.record.isSide);
  const mains = live.filter(({ newest }) => !newest.record.isSide);
  const current = mains.toSorted((a, b) => a.newest.position - b.newest.position).at(-1);
  const earlier = mains.filter((conversation) => conversation !== current);
  const transcripts = [
    ...(current === undefined ? [] : [toTranscript(current, 'main')]),
    ...earlier.map((conversation, index) => toTranscript(conversation, `earlier conversation ${index + 1}`)),
    ...sides.map((conversation, index) => toTranscript(conversation, sideTitle(conversation, index))),
  ];
  return transcripts.map((transcript, index) =>
    index === 0 ? withFileNotes(transcript, fileNotes, fileDamage) : transcript,
  );
}

function withFileNotes(
  transcript: Transcript,
  fileNotes: readonly string[],
  fileDamage: readonly string[],
): Transcript {
  const notes = [...transcript.notes, ...fileDamage, ...fileNotes];
  return { ...transcript, notes, damage: [...(transcript.damage ?? []), ...fileDamage] };
}

function findLive(conversation: Conversation): LiveConversation[] {
  const stretches = liveStretches(conversation);
  const newest = conversation.nodes.at(-1);
  return newest === undefined || stretches.length === 0 ? [] : [{ ...conversation, stretches, newest }];
}

function sideTitle({ newest }: LiveConversation, index: number): string {
  const { agentId } = newest.record;
  return agentId === undefined ? `side chain ${index + 1}` : `side chain ${index + 1} (agent ${agentId})`;
}

function toTranscript(conversation: LiveConversation, title: string): Transcript {
  return {
    reader: 'claude-code',
    format: 'anthropic-messages',
    title,
    kind: conversation.newest.record.isSide ? 'side-chain' : 'main',
    model: newestModel(conversation),
    segments: conversation.stretches.map(toSegment),
    notes: [...damageOf(conversation), ...notesOn(conversation)],
    damage: damageOf(conversation),
  };
}

function newestModel({ stretches }: LiveConversation): string | undefined {
  return stretches
    .flatMap(({ nodes }) => nodes)
    .map(({ record }) => (record.part?.type === 'message' ? record.part.model : undefined))
    .findLast((model) => model !== undefined);
}

function toSegment({ opener, nodes }: Stretch): Segment {
  const messages = composeMessages(nodes);
  return {
    body: messages.map(({ message }) => message),
    origins: messages.map(({ origin }) => origin),
    opening: opener === undefined ? undefined : readOpening(opener, messages),
  };
}

function readOpening(opener: TreeNode, messages: readonly ComposedMessage[]): RecordedCompaction {
  const { part } = opener.record;
  const boundary = part?.type === 'boundary' ? part : undefined;
  const isCarried = ({ first }: ComposedMessage) => isSummary(first) || first.position < opener.position;
  // What stands in front of the summary was put there with it.
  const summaryAt = messages.findIndex(({ first }) => isSummary(first) && first.position >= opener.position);
  const summary = messages[summaryAt];
  const firstNew = messages.findIndex((message, index) => index > summaryAt && !isCarried(message));
  return {
    trigger: boundary?.trigger,
    tokensBefore: boundary?.tokensBefore,
    tokensAfter: boundary?.tokensAfter,
    summary: summary === undefined ? undefined : textOf(summary.message.content),
    carried: firstNew === -1 ? messages.length : firstNew,
  };
}

function isSummary({ record }: TreeNode): boolean {
  return record.part?.type === 'message' && record.part.isSummary;
}

function textOf(content: string | readonly unknown[]): string {
  if (typeof content === 'string') return content;
  const texts = content.map((block) => (isObject(block) ? asString(block['text']) : undefined));
  return texts.filter((text) => text !== undefined).join('\n');
}

/** What to say of the records that are in the file and not in the messages. */
const leftOutNotes: ReadonlyMap<LeftOut, string> = new Map([
  ['synthetic', '{n} synthetic message{s} left out'],
  ['hidden', '{n} message{s} left out that only the user saw'],
  ['blank', '{n} blank text{s} left out, which the provider would refuse'],
  ['attachment', '{n} attachment{s} left out: the wording on the wire is not recorded'],
  ['local-command', '{n} local command{s} left out: the wording on the wire is not recorded'],
  ['microcompaction', '{n} microcompaction{s}: cleared tool results are still here'],
]);

function damageOf({ joined, beginsInTheMiddle }: LiveConversation): string[] {
  return [
    ...(beginsInTheMiddle ? ['begins in the middle: the record before the first one is missing'] : []),
    ...(joined > 0
      ? [fillNote('{n} record{s} with a missing parent joined to the record before', joined)]
      : []),
  ];
}

function notesOn({ nodes, stretches }: LiveConversation): string[] {
  const notes: string[] = [];
  const used = new Set(stretches.flatMap((stretch) => stretch.nodes));
  const abandoned = nodes.filter((node) => node.record.part?.type === 'message' && !used.has(node)).length;
  if (abandoned > 0) notes.push(fillNote('{n} record{s} of abandoned branches left out', abandoned));
  const leftOut = Map.groupBy(nodes, ({ record }) => record.leftOut);
  for (const [reason, note] of leftOutNotes) {
    const times = leftOut.get(reason)?.length ?? 0;
    if (times > 0) notes.push(fillNote(note, times));
  }
  return notes;
}

/** A message as it goes to the provider. */
interface WireMessage {
  readonly role: 'user' | 'assistant';
  readonly content: string | readonly unknown[];
}

/** A message with its origin and the node it begins with. */
interface ComposedMessage {
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
function composeMessages(nodes: readonly TreeNode[]): readonly ComposedMessage[] {
  return exchangesOf(nodes).flatMap(composeExchange);
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
