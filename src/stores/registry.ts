import { RoundfoldError } from '../conversation/errors.ts';
import { memoryStore } from './memory.ts';
import { postgresStore } from './postgres.ts';
import { sqliteStore } from './sqlite.ts';
import type { Store, StoreOptions } from './store.ts';

/** A kind of store that an address can name. */
export interface StoreKind {
  readonly name: string;
  /** How its addresses look, for help texts. */
  readonly address: string;
  readonly summary: string;
  /** Whether other processes can open what one has stored. What is not shared ends with its process. */
  readonly isShared: boolean;
  /** Whether its records are the tables of `schema.ts`. */
  readonly isSql: boolean;
  /** The file at such an address, as it is written there; left out where a store is no file. */
  fileOf?(address: string): string;
  recognises(address: string): boolean;
  open(address: string, options: StoreOptions): Store;
}

/**
 * Every kind of store. An address belongs to the first that recognises it. A new kind stands in front of `sqlite`, which
 * takes every address without `://` for a path.
 */
export const storeKinds: readonly StoreKind[] = [
  {
    name: 'memory',
    address: 'memory:',
    summary: 'ends with the process',
    isShared: false,
    isSql: false,
    recognises: (address) => address === 'memory:',
    open: (_address, options) => memoryStore(options),
  },
  {
    name: 'postgres',
    address: 'postgres://user@host:5432/database',
    summary: 'a PostgreSQL server, for several machines',
    isShared: true,
    isSql: true,
    recognises: (address) => /^postgres(ql)?:\/\//.test(address),
    open: (address, options) => postgresStore({ ...options, connectionString: address }),
  },
  {
    name: 'sqlite',
    address: 'sqlite:PATH, or PATH',
    summary: 'a file, for the processes of one machine',
    isShared: true,
    isSql: true,
    fileOf: sqlitePath,
    recognises: (address) => address !== '' && !/^[a-z][a-z0-9+.-]*:\/\//i.test(address),
    open: (address, options) => sqliteStore({ ...options, path: sqlitePath(address) }),
  },
];

function sqlitePath(address: string): string {
  return address.replace(/^sqlite:/, '');
}

/** The kind of store that has such addresses, or undefined. */
export function findStoreKind(address: string): StoreKind | undefined {
  return storeKinds.find(({ recognises }) => recognises(address));
}

/**
 * The store that an address names: `memory:`, a path or `sqlite:PATH`, `postgres://…`. Nothing is opened before the first
 * call.
 * @throws `usage` when no kind of store has such addresses
 */
export function openStore(address: string, options: StoreOptions = {}): Store {
  const kind = findStoreKind(address);
  if (kind === undefined) {
    // Not repeated: it may hold a password.
    throw new RoundfoldError('usage', 'no kind of store has such an address', {
      remedy: `Use one of: ${storeKinds.map((known) => known.address).join('; ')}.`,
    });
  }
  return kind.open(address, options);
}
