import { lstatSync } from 'node:fs';
import { RoundfoldError } from '../../conversation/errors.ts';
import { openStore, storeKinds } from '../../stores/registry.ts';
import { defaultStorePath } from '../../stores/sqlite-file.ts';
import type { Store, StoreFault } from '../../stores/store.ts';

/** The store that a command was told to use. */
export interface StoreAccess {
  /** What messages call it. Holds no password. */
  readonly name: string;
  /** Undefined while there is nothing to read: asking makes no file. */
  forReading(): Store | undefined;
  /** Made with the first call, if it does not exist. */
  forWriting(): Store;
  /** The records that could not be served since the last time. */
  takeFaults(): readonly StoreFault[];
  close(): Promise<void>;
}

/** What the environment says about stores. */
export type StoreEnvironment = Readonly<Record<string, string | undefined>>;

/**
 * Finds the store of a command. Nothing is opened before it is used.
 * @throws `usage` for an address or a secret that no store could have
 */
export function openAccess(given: string | undefined, environment: StoreEnvironment): StoreAccess {
  const address = given ?? (environment['ROUNDFOLD_STORE'] || defaultStorePath(environment));
  const faults: StoreFault[] = [];
  const store = openStore(address, {
    secret: environment['ROUNDFOLD_STORE_SECRET'] || undefined,
    onFault: (fault) => faults.push(fault),
  });
  const path = pathOf(address, store.name);
  return {
    name: path ?? `the store in ${store.name}`,
    forReading: () => (path === undefined || isThere(path) ? store : undefined),
    forWriting: () => store,
    takeFaults: () => faults.splice(0),
    close: () => store.close(),
  };
}

/** The file of a store, for those that are one. */
function pathOf(address: string, kind: string): string | undefined {
  if (kind === 'memory') {
    throw new RoundfoldError('usage', 'a store in memory ends with the command that opens it', {
      remedy: `Use one of: ${storeKinds
        .filter(({ name }) => name !== 'memory')
        .map((known) => known.address)
        .join('; ')}.`,
    });
  }
  if (kind !== 'sqlite') return undefined;
  const path = address.replace(/^sqlite:/, '');
  if (path !== '') return path;
  throw new RoundfoldError('usage', 'the address of the store names no file', {
    remedy: 'Give a path, such as sqlite:store.sqlite.',
  });
}

function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    // Whoever opens it says why it cannot be.
    return true;
  }
}
