import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { writeAgentHome } from '../../../test/support/agent-home.ts';
import { temporaryFolder } from '../../../test/support/temporary-folder.ts';
import { type Recording, readRecordingsOf } from '../recordings.ts';

const folder = temporaryFolder();

async function readAll(path: string): Promise<readonly Recording[]> {
  const found: Recording[] = [];
  for await (const recording of readRecordingsOf(path)) found.push(recording);
  return found;
}

describe('the database of OpenCode', () => {
  it('is read session by session', async () => {
    const { files } = writeAgentHome(join(folder.path, 'home'));
    const [recording, ...others] = await readAll(files.opencode);

    expect(others).toEqual([]);
    expect(recording?.transcript).toMatchObject({
      reader: 'opencode',
      session: { id: 'ses_1', folder: '/pier', version: '1.18.33', provider: 'anthropic' },
      charges: [{ inputTokens: 100, cacheReadTokens: 1000, cacheWriteTokens: 2000, outputTokens: 60 }],
    });
    expect(recording?.conversations[0]?.messages.map(({ role }) => role)).toEqual(['user', 'assistant']);
  });

  it('is told from another database, with what to name instead', async () => {
    const path = join(folder.path, 'other.db');
    const database = new DatabaseSync(path);
    database.exec('CREATE TABLE notes (text TEXT)');
    database.close();

    await expect(readAll(path)).rejects.toMatchObject({
      code: 'input-not-understood',
      remedy: expect.stringContaining('opencode.db'),
    });
  });

  it('without a session holds no conversation', async () => {
    const path = join(folder.path, 'empty.db');
    const database = new DatabaseSync(path);
    database.exec(`CREATE TABLE session (id TEXT, time_created INTEGER);
      CREATE TABLE message (id TEXT, session_id TEXT, time_created INTEGER, data TEXT);
      CREATE TABLE part (id TEXT, message_id TEXT, data TEXT)`);
    database.close();

    await expect(readAll(path)).rejects.toMatchObject({ code: 'input-not-understood' });
  });
});
