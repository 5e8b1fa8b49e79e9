import { describe, expect, it } from 'vitest';
import { RoundfoldError } from '../conversation/errors.ts';
import { openStore, storeKinds } from './registry.ts';

describe('openStore', () => {
  it.each([
    ['memory:', 'memory'],
    ['store.sqlite', 'sqlite'],
    ['/var/lib/roundfold/store', 'sqlite'],
    ['./memory:', 'sqlite'],
    ['sqlite:store.db', 'sqlite'],
    ['C:\\data\\store.db', 'sqlite'],
    ['postgres://user:password@host:5432/database', 'postgres'],
    ['postgresql://host/database', 'postgres'],
  ])('takes %s for a %s store, and opens nothing', (address, name) => {
    expect(openStore(address).name).toBe(name);
  });

  it.each(['', 'redis://user:hunter2@host', 'https://user:hunter2@host/', 'mongodb+srv://user:hunter2@host'])(
    'refuses %s and does not repeat it',
    (address) => {
      let error: unknown;
      try {
        openStore(address);
      } catch (caught) {
        error = caught;
      }
      expect(error).toMatchObject({ code: 'usage' });
      expect(String(error)).not.toContain('hunter2');
      for (const kind of storeKinds) expect((error as RoundfoldError).remedy).toContain(kind.address);
      expect(RoundfoldError.is(error)).toBe(true);
    },
  );
});
