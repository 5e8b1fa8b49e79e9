import {
  DummyDriver,
  Kysely,
  type Dialect as KyselyDialect,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely';
import type { Dialect } from './dialect.ts';
import type { Tables } from './tables.ts';

/** Builds and compiles statements; connections run them. */
export function createQueryBuilder({ name, schema }: Dialect): Kysely<Tables> {
  const builder = new Kysely<Tables>({ dialect: name === 'sqlite' ? sqlite : postgres });
  return schema === undefined ? builder : builder.withSchema(schema);
}

const sqlite: KyselyDialect = {
  createAdapter: () => new SqliteAdapter(),
  createDriver: () => new DummyDriver(),
  createIntrospector: (builder) => new SqliteIntrospector(builder),
  createQueryCompiler: () => new SqliteQueryCompiler(),
};

const postgres: KyselyDialect = {
  createAdapter: () => new PostgresAdapter(),
  createDriver: () => new DummyDriver(),
  createIntrospector: (builder) => new PostgresIntrospector(builder),
  createQueryCompiler: () => new PostgresQueryCompiler(),
};
