import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { resolve } from 'node:path';
import { RoundfoldError } from '../conversation/errors.ts';
import type { Conversation } from '../conversation/format.ts';
import type { Message } from '../conversation/message.ts';
import { conversionTargets } from '../formats/convert/convert.ts';
import type { AgentEnvironment } from '../transcripts/agent-folders.ts';
import type { Recording } from '../transcripts/recordings.ts';
import { sessionWriters } from '../transcripts/registry.ts';
import {
  type NewSession,
  type SessionPlace,
  type SessionWriter,
  shellWord,
  type WrittenSession,
  writeSession,
} from '../transcripts/session-writer.ts';
import type { GivenArguments, OptionDefinition } from './command.ts';
import { makePrivateFolder, writePrivateFile } from './files.ts';

/** What `--as` takes: wire formats, and agents whose session files can be written. */
export const targetNames: readonly string[] = [
  ...conversionTargets,
  ...sessionWriters.map(({ name }) => name),
];

/** The option that puts a session where its agent looks. */
export const resumeOption: OptionDefinition = {
  flags: '--resume',
  help: 'put the new session where its agent looks, and print the command to go on (default agent: the one that wrote the file)',
};

/** Where this user's agents keep their sessions. */
export function agentEnvironment(): AgentEnvironment {
  return { home: homedir(), variables: process.env };
}

/** A new session of an agent, and what was decided about it. */
export interface SessionOutput {
  readonly writer: SessionWriter;
  readonly about: NewSession;
  readonly written: WrittenSession;
  readonly place: SessionPlace;
  /** The recorded folder, where it is not on this machine and another one had to do. */
  readonly missingFolder: string | undefined;
}

/**
 * The writer that the command line asks for; undefined when it asks for a wire format.
 * @throws RoundfoldError `usage` for what cannot be resumed
 */
export function findSessionWriter(
  given: GivenArguments,
  { transcript }: Recording,
): SessionWriter | undefined {
  const isResumed = given.flag('resume');
  const name = given.text('as') ?? (isResumed ? transcript.reader : undefined);
  const writer = sessionWriters.find((each) => each.name === name);
  if (!isResumed) return writer;
  const agents = sessionWriters.map((each) => each.name).join(', ');
  if (writer === undefined) {
    const what =
      given.text('as') === undefined
        ? `--resume cannot write a session of ${name}`
        : `--resume needs an agent, and ${name} is none`;
    throw new RoundfoldError('usage', what, {
      remedy: `Name an agent to go on in with --as: ${agents}.`,
    });
  }
  if (given.text('out') === undefined) return writer;
  throw new RoundfoldError('usage', '--resume and --out both say where to write', {
    remedy: 'Leave one of them out: --resume puts the file where the agent looks.',
  });
}

/** Writes the conversation as a new session of the agent, in memory. */
export function createSessionOutput(
  writer: SessionWriter,
  conversation: Conversation,
  { transcript, conversations }: Recording,
  facts: Pick<NewSession, 'model' | 'tokensBefore' | 'tokensAfter'> & { readonly file: string },
): SessionOutput {
  const recordedFolder = transcript.session?.folder;
  const isHere = recordedFolder !== undefined && existsSync(recordedFolder);
  const { file, ...rest } = facts;
  const isSameAgent = transcript.reader === writer.name;
  const about: NewSession = {
    ...rest,
    folder: isHere ? recordedFolder : process.cwd(),
    recorded: isSameAgent ? transcript.session : undefined,
    now: new Date(),
    createId: randomUUID,
    unchanged: commonBeginning(conversations.at(-1)?.messages ?? [], conversation.messages),
    source: isSameAgent && file !== '-' ? resolve(file) : undefined,
  };
  const written = writeSession(writer, conversation, about);
  return {
    writer,
    about,
    written,
    place: writer.locate(written, about, agentEnvironment()),
    missingFolder: isHere ? undefined : recordedFolder,
  };
}

/** How many messages two lists begin with in common. */
function commonBeginning(left: readonly Message[], right: readonly Message[]): number {
  const first = right.findIndex(({ raw }, index) => raw !== left[index]?.raw);
  return first === -1 ? right.length : first;
}

/**
 * Puts the session where its agent looks.
 * @throws RoundfoldError `usage` when it cannot be written, or when a file is there already
 */
export function placeSession({ place: { path }, written }: SessionOutput): void {
  makePrivateFolder(path);
  writePrivateFile(path, written.text, { kind: 'conversation', isForced: false });
}

/** What to type to go on. */
export function resumeCommand({ about: { folder }, place: { command } }: SessionOutput): string {
  return `cd ${shellWord(folder)} && ${command}`;
}
