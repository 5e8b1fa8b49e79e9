import type { DatabaseSync } from 'node:sqlite';
import { RoundfoldError } from '../../conversation/errors.ts';
import { asString, isObject, type JsonObject } from '../../conversation/json.ts';
import type { Reject, Transcript } from '../transcript.ts';
import { opencode } from './reader.ts';

/**
 * The sessions in OpenCode's own database, one after the other, the oldest first. It is only read.
 * @throws RoundfoldError `input-not-understood` when it is no database of OpenCode's
 */
export async function* readOpencodeDatabase(path: string, reject: Reject): AsyncGenerator<Transcript> {
  const { DatabaseSync } = await import('node:sqlite');
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(path, { readOnly: true });
    for (const session of sessionsIn(database)) {
      const fold = opencode.open(reject);
      const place = { source: path, path: `session ${asString(session['id']) ?? ''}` };
      const value = { info: infoOf(session), messages: [...messagesOf(database, session['id'])] };
      if (value.messages.length > 0) yield* fold.add({ kind: 'document', value, place, document: 0 });
    }
  } catch (cause) {
    if (RoundfoldError.is(cause)) throw cause;
    // biome-ignore lint/style/useErrorCause: the cause is passed, in the third argument
    throw new RoundfoldError('input-not-understood', `${path} is no database of OpenCode`, {
      cause,
      remedy: 'Name the file opencode.db of OpenCode, or the output of `opencode export`.',
    });
  } finally {
    database?.close();
  }
}

function sessionsIn(database: DatabaseSync): Iterable<JsonObject> {
  return database.prepare('SELECT * FROM session ORDER BY time_created').iterate() as Iterable<JsonObject>;
}

function infoOf(session: JsonObject): JsonObject {
  return {
    id: session['id'],
    directory: session['directory'],
    version: session['version'],
    ...(typeof session['parent_id'] === 'string' ? { parentID: session['parent_id'] } : {}),
  };
}

function* messagesOf(database: DatabaseSync, sessionId: unknown): Iterable<JsonObject> {
  const messages = database
    .prepare('SELECT id, data FROM message WHERE session_id = ? ORDER BY time_created, id')
    .all(String(sessionId)) as readonly JsonObject[];
  const partsOf = database.prepare('SELECT data FROM part WHERE message_id = ? ORDER BY id');
  for (const { id, data } of messages) {
    const parts = partsOf.all(String(id)) as readonly JsonObject[];
    yield {
      info: { ...parse(data), id, sessionID: sessionId },
      parts: parts.map((part) => parse(part['data'])),
    };
  }
}

function parse(text: unknown): JsonObject {
  try {
    const value: unknown = JSON.parse(asString(text) ?? '');
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}
