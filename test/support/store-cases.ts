import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { storeKinds } from '../../src/stores/registry.ts';
import type { Store, StoreOptions } from '../../src/stores/store.ts';
import { type PostgresServer, startPostgres } from './postgres.ts';

export const SECRET = 'a secret of more than sixteen bytes';

/** A kind of store under test, plain or sealed. */
export interface StoreCase {
  readonly name: string;
  readonly kind: string;
  readonly isShared: boolean;
  readonly isSql: boolean;
  /** Whether it is a file of this machine. */
  readonly isFile: boolean;
  readonly isSealed: boolean;
}

/** Every kind of the registry, and once more with a secret where records are kept outside of the process. */
export const storeCases: readonly StoreCase[] = storeKinds.flatMap(({ name, isShared, isSql, fileOf }) => {
  const plain = { name, kind: name, isShared, isSql, isFile: fileOf !== undefined, isSealed: false };
  return isShared ? [plain, { ...plain, name: `${name}, sealed`, isSealed: true }] : [plain];
});

/** Opens stores for tests, each of its own unless they share an address. */
export interface StoreBench {
  /** The address of a store that does not exist yet. */
  address(kind: string): Promise<string>;
  open(storeCase: StoreCase, options?: StoreOptions & { readonly address?: string }): Promise<Store>;
  /** Closes every store and removes what they kept. */
  end(): Promise<void>;
}

/** The server is started with the first store that needs it. */
export function storeBench(): StoreBench {
  const folder = mkdtempSync(join(tmpdir(), 'roundfold-stores-'));
  const stores: Store[] = [];
  let server: Promise<PostgresServer> | undefined;

  const addresses: Readonly<Record<string, () => Promise<string> | string>> = {
    memory: () => 'memory:',
    sqlite: () => join(folder, `${randomUUID()}.sqlite`),
    postgres: async () => {
      server ??= startPostgres();
      return (await server).createDatabase();
    },
  };

  async function address(kind: string): Promise<string> {
    const make = addresses[kind];
    if (make === undefined) throw new Error(`say here how a test gets a ${kind} store`);
    return make();
  }

  return {
    address,

    async open({ kind, isSealed }, { address: given, ...options } = {}) {
      const found = storeKinds.find(({ name }) => name === kind);
      if (found === undefined) throw new Error(`no ${kind} store`);
      const store = found.open(given ?? (await address(kind)), {
        ...options,
        ...(isSealed ? { secret: SECRET } : {}),
      });
      stores.push(store);
      return store;
    },

    async end() {
      await Promise.all(stores.map((store) => store.close()));
      await (await server)?.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
