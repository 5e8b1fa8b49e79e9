import type { Conversation } from '../conversation/format.ts';
import type { Message } from '../conversation/message.ts';
import { readSummaryMessage } from '../conversation/summary-message.ts';
import { ChangeLog, type ConversionChange } from '../formats/change-log.ts';
import { convertConversation } from '../formats/convert/convert.ts';
import type { AgentEnvironment } from './agent-folders.ts';
import type { SessionFacts } from './transcript.ts';
import { withoutBoundReasoning } from './unsealed.ts';

/** Writes new session files of one agent, so that the agent itself can go on with them. */
export interface SessionWriter {
  /** As its reader is called. */
  readonly name: string;
  /** One line for help and docs. */
  readonly summary: string;
  /** Wire formats whose messages it takes as they are. Everything else is converted to the first. */
  readonly formats: readonly string[];
  write(conversation: Conversation, about: NewSession, log: ChangeLog): SessionText;
  /** Where the agent looks for such a file, and how to go on with it. */
  locate(session: WrittenSession, about: NewSession, environment: AgentEnvironment): SessionPlace;
}

/** What is known of a session before it is written. */
export interface NewSession {
  /** The working directory. */
  readonly folder: string;
  readonly model: string | undefined;
  /** What the recording said about itself; undefined when another program wrote it. */
  readonly recorded: SessionFacts | undefined;
  readonly now: Date;
  /** A new UUID each time. */
  readonly createId: () => string;
  /** So many messages at the beginning are those of the recording, as they were. Default 0. */
  readonly unchanged?: number | undefined;
  /** What the conversation had before it was made smaller, where that is known. */
  readonly tokensBefore?: number | undefined;
  /** What it has now, where that is known. */
  readonly tokensAfter?: number | undefined;
  /** The file of the session that it goes on from, where the same agent keeps it. */
  readonly source?: string | undefined;
}

/** The text of a new session file, and the name that the agent knows it by. */
export interface SessionText {
  readonly id: string;
  readonly text: string;
}

export interface WrittenSession extends SessionText {
  /** What the agent's file has no place for. */
  readonly changes: readonly ConversionChange[];
}

export interface SessionPlace {
  readonly path: string;
  /** What to type to go on, after going to the folder of the session. */
  readonly command: string;
}

/** Writes a conversation as a new session, converted where the agent speaks another format. */
export function writeSession(
  writer: SessionWriter,
  conversation: Conversation,
  about: NewSession,
): WrittenSession {
  const isTaken = writer.formats.includes(conversation.format.name);
  const target = isTaken ? conversation.format.name : (writer.formats[0] ?? conversation.format.name);
  const converted = convertConversation(conversation, target);
  const log = new ChangeLog();
  for (const { what, became, count } of converted.changes) log.add(what, became, count);
  const kinship = { isSameAgent: about.recorded !== undefined, unchanged: about.unchanged ?? 0 };
  const left = withoutBoundReasoning(converted.conversation, kinship, log);
  const session = writer.write(left, about, log);
  return { ...session, changes: log.list() };
}

/** Index of the newest message that stands for earlier ones; -1 where there is none. */
export function findMemory(messages: readonly Message[]): number {
  return messages.findLastIndex((message) => readSummaryMessage(message) !== undefined);
}

/** Records as lines of JSON. */
export function toLines(records: readonly object[]): string {
  return records.map((record) => `${JSON.stringify(record)}\n`).join('');
}

/** Times that rise from record to record, so that whoever sorts by them keeps the order. */
export function createClock(start: Date): () => Date {
  let time = start.getTime();
  return () => new Date(time++);
}

/** A word as a shell takes it. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
