import { RoundfoldError } from '../../conversation/errors.ts';
import type { Database } from './database.ts';
import type { Migration } from './migrations/migration.ts';
import { allRows } from './operation.ts';
import { rawStatement } from './prepared.ts';

/**
 * Brings the tables to the newest version, once, whoever comes first.
 * @throws `store` when they come from a newer version of roundfold
 */
export async function migrate(database: Database, migrations: readonly Migration[]): Promise<void> {
  const newest = Math.max(...migrations.map(({ version }) => version));
  const found = await database.read(() => database.version());
  refuseNewer(found, newest);
  if (found === newest) return;
  await database.write(function* () {
    yield* database.beginMigration();
    const current = yield* database.version();
    refuseNewer(current, newest);
    // Somebody else was faster.
    if (current === newest) return;
    for (const { version, statements } of migrations) {
      if (version <= current) continue;
      for (const text of statements(database.dialect)) yield* allRows(rawStatement(text));
    }
    yield* database.endMigration(newest);
  });
}

function refuseNewer(found: number, newest: number): void {
  if (found <= newest) return;
  throw new RoundfoldError(
    'store',
    `the store has tables of version ${found}, and this version of roundfold knows them up to version ${newest}`,
    { remedy: 'Update roundfold, or use another store.' },
  );
}
