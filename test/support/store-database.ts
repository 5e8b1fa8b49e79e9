import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';

/** Another program with the database of a store. */
export interface RawDatabase {
  run(sql: string, values?: (string | number | Uint8Array)[]): Promise<Record<string, unknown>[]>;
  close(): Promise<void>;
}

/** Opens the database behind an address. Values are numbered `$1`. */
export async function openRaw(address: string): Promise<RawDatabase> {
  if (!address.startsWith('postgres:')) {
    const connection = new DatabaseSync(address);
    return {
      run: async (sql, values = []) => {
        const numbered = Object.fromEntries(values.map((value, index) => [`$${index + 1}`, value]));
        return values.length === 0 ? connection.prepare(sql).all() : connection.prepare(sql).all(numbered);
      },
      close: async () => connection.close(),
    };
  }
  const client = new pg.Client({ connectionString: address, options: '-c search_path=roundfold' });
  await client.connect();
  return {
    run: async (sql, values = []) => (await client.query(sql, values)).rows,
    close: () => client.end(),
  };
}
