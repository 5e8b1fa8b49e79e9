import type { Place } from '../../conversation/errors.ts';
import { asCount, asList, asString, isObject, type JsonObject } from '../../conversation/json.ts';
import type { Usage } from '../../conversation/message.ts';

/**
 * What a session record means to the conversation, without the bookkeeping that came with it. Records of every type
 * are links of the tree, so that a chain does not break where a record has nothing to say.
 */
export interface SessionRecord {
  readonly uuid: string | undefined;
  /** `null` when the record says that it has none; undefined when it says nothing. */
  readonly parentUuid: string | null | undefined;
  readonly place: Place;
  readonly isSide: boolean;
  readonly agentId: string | undefined;
  /** Who writes: one session's main conversation, or one sub-agent of it. */
  readonly lane: string;
  /** Whether the conversation moved on with this record, so that it may be the newest leaf. */
  readonly isTurn: boolean;
  readonly part: MessagePart | BoundaryPart | undefined;
  readonly leftOut: LeftOut | undefined;
}

/** A message, or one piece of it. */
export interface MessagePart {
  readonly type: 'message';
  readonly role: 'user' | 'assistant';
  readonly content: string | readonly unknown[];
  readonly timestamp: string | undefined;
  readonly responseId: string | undefined;
  readonly usage: Usage | undefined;
  readonly model: string | undefined;
  /** Written by the harness in the user's name. Such messages are sent. */
  readonly isMeta: boolean;
  readonly isSummary: boolean;
}

/** The border that a compaction leaves behind. */
export interface BoundaryPart {
  readonly type: 'boundary';
  /** The last record before the compaction. */
  readonly logicalParentUuid: string | undefined;
  readonly trigger: 'auto' | 'manual' | undefined;
  readonly tokensBefore: number | undefined;
  readonly tokensAfter: number | undefined;
  readonly kept: KeptRecords | undefined;
}

/** Records before a boundary that stay in the context after it, right behind the anchor. */
export interface KeptRecords {
  readonly anchorUuid: string | undefined;
  /** Either every record, oldest first, or the first and the last one of a chain. */
  readonly uuids: readonly string[];
  readonly ends: { readonly headUuid: string; readonly tailUuid: string } | undefined;
}

/** Why a record that might be taken for a message is none. `blank`: only the blank text in it is left out. */
export type LeftOut = 'synthetic' | 'hidden' | 'blank' | 'attachment' | 'local-command' | 'microcompaction';

/** Record types that never carry a message; everything else without a meaning is counted as unknown. */
export const bookkeepingTypes: ReadonlySet<string> = new Set([
  'agent-name',
  'ai-title',
  'custom-title',
  'file-history-snapshot',
  'last-prompt',
  'mode',
  'permission-mode',
  'pr-link',
  'progress',
  'queue-operation',
  'summary',
  'system',
  'tag',
]);

/** The model name of messages that the harness makes up itself: errors and interruptions. */
const syntheticModel = '<synthetic>';

const systemRecords = new Map<string, LeftOut>([
  ['local_command', 'local-command'],
  ['microcompact_boundary', 'microcompaction'],
]);

/** Reads a record of whatever type. `onFault` hears why a user or assistant record holds no message. */
export function readRecord(
  record: JsonObject,
  place: Place,
  onFault: (reason: string) => void,
): SessionRecord {
  const { uuid, parentUuid, type } = record;
  const isSide = record['isSidechain'] === true;
  const agentId = isSide ? asString(record['agentId']) : undefined;
  const isMessage = type === 'user' || type === 'assistant';
  const isBoundary = type === 'system' && record['subtype'] === 'compact_boundary';
  const leftOut = isMessage ? reasonToHide(record) : reasonToIgnore(record);
  return {
    uuid: asString(uuid),
    parentUuid: parentUuid === null ? null : asString(parentUuid),
    place,
    isSide,
    agentId,
    lane: [isSide ? 'side' : 'main', asString(record['sessionId']) ?? '', agentId ?? ''].join('\n'),
    isTurn: isMessage || isBoundary,
    part: isBoundary
      ? readBoundary(record)
      : isMessage && (leftOut === undefined || leftOut === 'blank')
        ? readMessage(record, onFault)
        : undefined,
    leftOut,
  };
}

function reasonToHide(record: JsonObject): LeftOut | undefined {
  const { message } = record;
  if (isObject(message) && message['model'] === syntheticModel) return 'synthetic';
  if (record['isVisibleInTranscriptOnly'] === true && record['isCompactSummary'] !== true) return 'hidden';
  const content = isObject(message) ? message['content'] : undefined;
  return asList(content).some(isBlankText) ? 'blank' : undefined;
}

/** Models write line breaks in front of a call as a text of its own. It is recorded, and refused if it is sent back. */
function isBlankText(block: unknown): boolean {
  return isObject(block) && block['type'] === 'text' && asString(block['text'])?.trim() === '';
}

function reasonToIgnore(record: JsonObject): LeftOut | undefined {
  if (record['type'] === 'attachment') return 'attachment';
  return record['type'] === 'system' ? systemRecords.get(asString(record['subtype']) ?? '') : undefined;
}

function readMessage(record: JsonObject, onFault: (reason: string) => void): MessagePart | undefined {
  const role = record['type'] === 'assistant' ? 'assistant' : 'user';
  const { message } = record;
  if (!isObject(message)) return refuse(onFault, 'the message of a record must be an object');
  const { content } = message;
  if (typeof content !== 'string' && !Array.isArray(content)) {
    return refuse(onFault, 'the content of a message must be a text or a list of blocks');
  }
  if (message['role'] !== undefined && message['role'] !== role) {
    return refuse(onFault, `the role of the message must be the type of its record, ${role}`);
  }
  const isBlank = typeof content !== 'string' && content.some(isBlankText);
  const said = isBlank ? content.filter((block) => !isBlankText(block)) : content;
  if (isBlank && said.length === 0) return undefined;
  return {
    type: 'message',
    role,
    content: said,
    timestamp: asString(record['timestamp']),
    responseId: role === 'assistant' ? asString(message['id']) : undefined,
    usage: role === 'assistant' ? readUsage(message['usage']) : undefined,
    model: asString(message['model']),
    isMeta: record['isMeta'] === true,
    isSummary: record['isCompactSummary'] === true,
  };
}

function refuse(onFault: (reason: string) => void, reason: string): undefined {
  onFault(reason);
  return undefined;
}

function readUsage(usage: unknown): Usage | undefined {
  if (!isObject(usage)) return undefined;
  const { input_tokens, cache_creation_input_tokens, cache_read_input_tokens, output_tokens } = usage;
  return {
    promptTokens:
      asCount(input_tokens) + asCount(cache_creation_input_tokens) + asCount(cache_read_input_tokens),
    outputTokens: asCount(output_tokens),
  };
}

function readBoundary(record: JsonObject): BoundaryPart {
  const recorded = record['compactMetadata'];
  const metadata = isObject(recorded) ? recorded : {};
  const trigger = metadata['trigger'];
  return {
    type: 'boundary',
    logicalParentUuid: asString(record['logicalParentUuid']),
    trigger: trigger === 'auto' || trigger === 'manual' ? trigger : undefined,
    tokensBefore: asCount(metadata['preTokens']) || undefined,
    tokensAfter: asCount(metadata['postTokens']) || undefined,
    kept: readKept(metadata),
  };
}

/** Newer versions list the kept messages one by one, older ones name the ends of their chain. */
function readKept({ preservedMessages: list, preservedSegment: chain }: JsonObject): KeptRecords | undefined {
  if (isObject(list)) {
    const uuids = asList(list['uuids']).filter((uuid) => typeof uuid === 'string');
    return { anchorUuid: asString(list['anchorUuid']), uuids, ends: undefined };
  }
  if (!isObject(chain)) return undefined;
  const headUuid = asString(chain['headUuid']);
  const tailUuid = asString(chain['tailUuid']);
  if (headUuid === undefined || tailUuid === undefined) return undefined;
  return { anchorUuid: asString(chain['anchorUuid']), uuids: [], ends: { headUuid, tailUuid } };
}

/** The ids of the calls that a record of a response makes. */
export function askedCalls(part: SessionRecord['part']): readonly string[] {
  return part?.type === 'message' && part.role === 'assistant' ? idsIn(part, 'tool_use', 'id') : [];
}

/** The ids of the calls that a record of the user answers. */
export function answeredCalls(part: SessionRecord['part']): readonly string[] {
  return part?.type === 'message' && part.role === 'user' ? idsIn(part, 'tool_result', 'tool_use_id') : [];
}

function idsIn({ content }: MessagePart, type: string, key: string): readonly string[] {
  if (typeof content === 'string') return [];
  return content.flatMap((block) =>
    isObject(block) && block['type'] === type ? (asString(block[key]) ?? []) : [],
  );
}
