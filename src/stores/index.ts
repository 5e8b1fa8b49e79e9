/**
 * What is kept between turns: `roundfold/stores`.
 * @module
 */
export { defaultStorePath } from './default-path.ts';
export { memoryStore } from './memory.ts';
export type { StoreOptions } from './options.ts';
export type { PostgresClient, PostgresPool, PostgresResult } from './postgres/connection.ts';
export { type PostgresStoreOptions, postgresStore } from './postgres.ts';
export { openStore, type StoreKind, storeKinds } from './registry.ts';
export { type SqliteStoreOptions, sqliteStore } from './sqlite.ts';
