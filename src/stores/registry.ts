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
  recognises(address: string): boolean;
  open(address: string, options: StoreOptions): Store;
}

/** Every kind of store. An address belongs to the first that recognises it. */
export const storeKinds: readonly StoreKind[] = [
  {
    name: 'memory',
    address: 'memory:',
    summary: 'ends with the process',
    recognises: (address) => address === 'memory:',
    open: (_address, options) => memoryStore(options),
  },
  {
    name: 'postgres',
    address: 'postgres://user@host:5432/database',
    summary: 'a PostgreSQL server, for several machines',
    recognises: (address) => /^postgres(ql)?:\/\//.test(address),
    open: (address, options) => postgresStore({ ...options, connectionString: address }),
  },
  {
    name: 'sqlite',
    address: 'sqlite:PATH, or PATH',
    summary: 'a file, for the processes of one machine',
    recognises: (address) => address !== '' && !/^[a-z][a-z0-9+.-]*:\/\//i.test(address),
    open: (address, options) => sqliteStore({ ...options, path: address.replace(/^sqlite:/, '') }),
  },
];

/**
 * The store that an address names: `memory:`, a path or `sqlite:PATH`, `postgres://…`. Nothing is opened before the first
 * call.
 * @throws `usage` when no kind of store has such addresses
 */
export function openStore(address: string, options: StoreOptions = {}): Store {
  const kind = storeKinds.find(({ recognises }) => recognises(address));
  if (kind === undefined) {
    // Not repeated: it may hold a password.
    throw new RoundfoldError('usage', 'no kind of store has such an address', {
      remedy: `Use one of: ${storeKinds.map((known) => known.address).join('; ')}.`,
    });
  }
  return kind.open(address, options);
}
