/**
 * What is kept between turns: `roundfold/stores`.
 * @module
 */
export { memoryStore } from './memory.ts';
export {
  type PostgresClient,
  type PostgresPool,
  type PostgresResult,
  type PostgresStoreOptions,
  postgresStore,
} from './postgres.ts';
export { openStore, type StoreKind, storeKinds } from './registry.ts';
export { type SqliteStoreOptions, sqliteStore } from './sqlite.ts';
export { defaultStorePath } from './sqlite-file.ts';
export type { StoreOptions } from './store.ts';
