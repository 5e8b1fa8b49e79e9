import { describe, expect, it } from 'vitest';
import { storeKinds } from '../stores/registry.ts';
import { idLength, storeOption } from './store.ts';

describe('short forms', () => {
  it.each([
    [[], 12],
    [['a', 'a'], 12],
    [['0123456789abcdef', '0123456789abcdxx'], 15],
    [['0123456789abcdef', '0123456789abcdef0', 'b'], 17],
  ])('of ids %j: %d letters', (ids, length) => {
    expect(idLength(ids)).toBe(length);
  });
});

// The text is written by hand: the registry would be loaded for every --help, with all stores.
it.each(storeKinds.filter(({ isShared }) => isShared))('--store says how to address $name', ({ address }) => {
  expect(storeOption.help).toContain(address.slice(0, address.indexOf(':') + 1));
});
