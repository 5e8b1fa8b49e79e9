import { asString, isObject } from '../../conversation/json.ts';
import type { RecordedCompaction, Segment, Transcript } from '../transcript.ts';
import { liveStretches, type Stretch } from './chain.ts';
import { type ComposedMessage, composeMessages } from './messages.ts';
import type { LeftOut, SessionRecord } from './record.ts';
import { type Conversation, growTree, type TreeNode } from './tree.ts';

/** A conversation in which something was said. */
interface LiveConversation extends Conversation {
  readonly stretches: readonly Stretch[];
  readonly newest: TreeNode;
}

/**
 * The conversations of a file: the one that was continued last, then the other main ones and the side chains, each in
 * file order. `fileNotes` go with the first of them.
 */
export function toTranscripts(records: readonly SessionRecord[], fileNotes: readonly string[]): Transcript[] {
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
    index === 0 ? { ...transcript, notes: [...transcript.notes, ...fileNotes] } : transcript,
  );
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
    notes: notesOn(conversation),
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
  const firstNew = messages.findIndex((message) => !isCarried(message));
  const summary = messages.find(({ first }) => isSummary(first) && first.position >= opener.position);
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
const leftOutNotes: ReadonlyMap<LeftOut, (count: number) => string> = new Map([
  ['synthetic', (count) => `${amount(count, 'synthetic message')} left out`],
  ['hidden', (count) => `${amount(count, 'message')} left out that only the user saw`],
  ['blank', (count) => `${amount(count, 'blank text')} left out, which the provider would refuse`],
  [
    'attachment',
    (count) => `${amount(count, 'attachment')} left out: the wording on the wire is not recorded`,
  ],
  [
    'local-command',
    (count) => `${amount(count, 'local command')} left out: the wording on the wire is not recorded`,
  ],
  ['microcompaction', (count) => `${amount(count, 'microcompaction')}: cleared tool results are still here`],
]);

function notesOn({ nodes, stretches, joined, beginsInTheMiddle }: LiveConversation): string[] {
  const notes: string[] = [];
  if (beginsInTheMiddle) notes.push('begins in the middle: the record before the first one is missing');
  if (joined > 0) notes.push(`${amount(joined, 'record')} with a missing parent joined to the record before`);
  const used = new Set(stretches.flatMap((stretch) => stretch.nodes));
  const abandoned = nodes.filter((node) => node.record.part?.type === 'message' && !used.has(node)).length;
  if (abandoned > 0) notes.push(`${amount(abandoned, 'record')} of abandoned branches left out`);
  const leftOut = Map.groupBy(nodes, ({ record }) => record.leftOut);
  for (const [reason, note] of leftOutNotes) {
    const count = leftOut.get(reason)?.length ?? 0;
    if (count > 0) notes.push(note(count));
  }
  return notes;
}

function amount(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
