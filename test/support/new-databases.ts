import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { type PostgresServer, startPostgres } from './postgres.ts';
import { temporaryFolder } from './temporary-folder.ts';

/** Addresses of new, empty databases of each kind that processes can share. What they need ends with the file of tests. */
export function newDatabases(): readonly (readonly [name: string, address: () => Promise<string>])[] {
  const folder = temporaryFolder();
  let server: PostgresServer | undefined;
  afterAll(async () => server?.stop());
  return [
    ['SQLite', async () => join(folder.path, `${randomUUID()}.sqlite`)],
    [
      'PostgreSQL',
      async () => {
        server ??= await startPostgres();
        return server.createDatabase();
      },
    ],
  ];
}
