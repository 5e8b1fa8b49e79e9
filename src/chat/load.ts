/** Reads the conversation of any file into the format of the chat. */

import { RoundfoldError } from '../conversation/errors.ts';
import { withMessages } from '../conversation/format.ts';
import { ensureToolResultPairing } from '../conversation/pairing.ts';
import { convertConversation } from '../formats/convert/convert.ts';
import { fileSource } from '../transcripts/input/source.ts';
import { type Recording, readRecordings } from '../transcripts/recordings.ts';
import { readSession } from './session-file.ts';

/** The messages of a file, in the format that was asked for. */
export interface LoadedMessages {
  readonly messages: readonly unknown[];
  /** What could not stay as it was, for people. */
  readonly changes: readonly string[];
}

/**
 * Reads the last conversation of a file: a chat, a session of an agent, a request, a list of messages. Calls that were left
 * open are closed, so that it can go on.
 * @throws RoundfoldError `input-not-understood` when there is none in it, `usage` when there is no such file
 */
export async function loadMessages(path: string, format: string): Promise<LoadedMessages> {
  const saved = readSession(path);
  if (saved !== undefined && saved.format === format) return { messages: saved.messages, changes: [] };
  let last: Recording | undefined;
  for await (const recording of readRecordings(await fileSource(path))) last = recording;
  const live = last?.conversations.at(-1);
  if (live === undefined)
    throw new RoundfoldError('input-not-understood', 'a recording without a conversation');
  const own = withMessages(
    live,
    live.messages.filter(({ role }) => role !== 'system'),
  );
  const { conversation, changes } = convertConversation(own, format);
  const paired = ensureToolResultPairing(conversation);
  return {
    messages: paired.messages.map(({ raw }) => raw),
    changes: changes.map(({ what, became, count }) => `${count} × ${what}: ${became}`),
  };
}
