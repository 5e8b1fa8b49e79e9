/** Recognises the compaction calls that clients make themselves, which must pass whole. */

import type { Conversation } from '../conversation/format.ts';
import { asString, isObject } from '../conversation/json.ts';
import { hasToolCall, hasToolResult, type Message } from '../conversation/message.ts';

/** The client whose compaction call it is, and the signs by which it is recognised. */
interface ClientCompaction {
  readonly client: string;
  isCall(request: Request): boolean;
}

/** What of a request tells whether it is one. */
interface Request {
  readonly conversation: Conversation;
  /** The raw value of the last message that is no system message. */
  readonly lastRaw: unknown;
  /** How the text begins that the request ends with; empty where somebody else than the user speaks last. */
  readonly asked: string;
  /** How the instructions begin: those of the request, or else the first system message. */
  readonly instructions: string;
  /** No tools, and nobody but the user has said anything: the history is told in a text. */
  readonly isFresh: boolean;
}

/** One row a client. What they write is their protocol: other words are another client's, or a person's. */
const clients: readonly ClientCompaction[] = [
  {
    client: 'codex',
    isCall: ({ conversation, lastRaw, asked }) =>
      (isObject(lastRaw) && lastRaw['type'] === 'compaction_trigger') ||
      codexRequestKind(conversation) === 'compaction' ||
      asked.startsWith('You are performing a CONTEXT CHECKPOINT COMPACTION'),
  },
  {
    client: 'claude-code',
    isCall: ({ asked }) =>
      asked.startsWith('CRITICAL: Respond with TEXT ONLY.') ||
      asked.startsWith('Your task is to create a detailed summary of the conversation so far'),
  },
  {
    client: 'opencode',
    isCall: ({ isFresh, asked }) =>
      isFresh && /^Here is the conversation so far:\s{1,9}<conversation>/.test(asked),
  },
  {
    client: 'pi',
    isCall: ({ isFresh, instructions }) =>
      isFresh && instructions.startsWith('You are a context summarization assistant'),
  },
];

/**
 * The client whose own compaction a request asks for: it has to be answered from all of the history, since the client goes
 * on from the answer alone. Undefined for every other request. A person who asks for a summary is no client: that request
 * has to fit its window like any other.
 */
export function clientCompaction(conversation: Conversation): string | undefined {
  const { frame, messages } = conversation;
  const last = messages.findLast(({ role }) => role !== 'system');
  const request: Request = {
    conversation,
    lastRaw: last?.raw,
    asked: last?.role === 'user' ? lastText(last) : '',
    instructions: firstText(frame.system) || firstText(messages.find(isSystem)?.blocks ?? []),
    isFresh: frame.tools.length === 0 && messages.every(isFreshMessage),
  };
  return clients.find(({ isCall }) => isCall(request))?.client;
}

/** Enough to tell a beginning by: histories can be long. */
const BEGINNING = 200;

function lastText({ blocks }: Message): string {
  const block = blocks.at(-1);
  return block?.type === 'text' ? beginningOf(block.text) : '';
}

function firstText([block]: Message['blocks']): string {
  return block?.type === 'text' ? beginningOf(block.text) : '';
}

function beginningOf(text: string): string {
  return text.slice(0, BEGINNING).trimStart();
}

function isSystem({ role }: Message): boolean {
  return role === 'system';
}

function isFreshMessage(message: Message): boolean {
  return message.role !== 'assistant' && !hasToolCall(message) && !hasToolResult(message);
}

/** Longer metadata is not Codex's. */
const LONGEST_METADATA = 20_000;

/** What Codex says of each request: `turn`, `compaction` or `prewarm`, as JSON inside a field. */
function codexRequestKind({ frame: { body } }: Conversation): string | undefined {
  const metadata = isObject(body) && isObject(body['client_metadata']) ? body['client_metadata'] : {};
  const told = asString(metadata['x-codex-turn-metadata']);
  if (told === undefined || told.length > LONGEST_METADATA) return undefined;
  try {
    const turn: unknown = JSON.parse(told);
    return isObject(turn) ? asString(turn['request_kind']) : undefined;
  } catch {
    return undefined;
  }
}
