import { afterEach, describe, expect, it, vi } from 'vitest';
import { checkpointOf, commitAlone } from '../../../test/support/store-records.ts';
import { memoryStore } from '../../stores/memory.ts';
import type { ConversationWishes, Store } from '../../stores/store.ts';
import { createWishes } from './wishes.ts';

const key = { tenant: 'tenant', conversation: 'conversation' };

/** Two books over one store, as two proxies have them, and a clock for both. */
async function twoBooks() {
  const store = memoryStore();
  await commitAlone(store, checkpointOf(key));
  let time = 0;
  const now = () => time;
  const pass = (milliseconds: number) => {
    time += milliseconds;
  };
  return { store, pass, here: createWishes({ store, now }), there: createWishes({ store, now }) };
}

describe('wishes', () => {
  afterEach(() => void vi.useRealTimers());

  it('hold at once where they were made, and a second later for everybody on the store', async () => {
    const { here, there, pass } = await twoBooks();
    expect(await there.of('tenant')).toEqual([]);
    const asked = [{ conversation: 'conversation', foldedUpTo: 4, pinned: [7] }];

    expect(await here.change(key, () => ({ foldedUpTo: 4, pinned: [7] }))).toEqual({
      foldedUpTo: 4,
      pinned: [7],
    });
    expect(await here.of('tenant')).toEqual(asked);
    expect(here.latest('tenant')).toEqual(asked);
    expect(await here.of('another tenant')).toEqual([]);
    pass(999);
    expect(await there.of('tenant')).toEqual([]);
    pass(1);
    expect(await there.of('tenant')).toEqual(asked);
  });

  it('change what was asked elsewhere in the meantime, and do not undo it', async () => {
    const { here, there, pass } = await twoBooks();
    await here.change(key, (now) => ({ ...now, pinned: [1] }));
    await there.change(key, ({ pinned = [] }) => ({ pinned: [...pinned, 2] }));
    pass(1000);
    expect(await here.of('tenant')).toEqual([{ conversation: 'conversation', pinned: [1, 2] }]);
  });

  it('are asked for once, however many requests come at the same time', async () => {
    let asked = 0;
    const wishes = async (): Promise<readonly ConversationWishes[]> => {
      asked++;
      return [];
    };
    const book = createWishes({ store: { ...memoryStore(), wishes } as Store, now: () => 0 });
    await Promise.all(Array.from({ length: 10 }, () => book.of('tenant')));
    await book.of('tenant');
    expect(asked).toBe(1);
  });

  it('are what they were while the store does not answer, which is asked once in a second', async () => {
    const { store, here, pass } = await twoBooks();
    await here.change(key, () => ({ pinned: [1] }));
    let failures = 0;
    store.wishes = async () => {
      failures++;
      throw new Error('gone');
    };
    pass(1000);
    expect(await here.of('tenant')).toMatchObject([{ pinned: [1] }]);
    expect(await here.of('tenant')).toMatchObject([{ pinned: [1] }]);
    expect(failures).toBe(1);
  });

  it('that came before a change are not remembered after it', async () => {
    const { store, here } = await twoBooks();
    const ask = store.wishes.bind(store);
    const gate = Promise.withResolvers<void>();
    store.wishes = async (tenant) => {
      const before = await ask(tenant);
      await gate.promise;
      return before;
    };
    const early = here.of('tenant');
    store.wishes = ask;
    await here.change(key, () => ({ pinned: [3] }));
    gate.resolve();
    expect(await early).toEqual([]);
    expect(await here.of('tenant')).toMatchObject([{ pinned: [3] }]);
  });

  it('are refused for what nothing is stored of, and by a store that fails', async () => {
    const { store, here } = await twoBooks();
    const unknown = { tenant: 'tenant', conversation: 'unknown' };
    expect(await here.change(unknown, () => ({ pinned: [1] }))).toBeUndefined();
    store.wish = async () => {
      throw new Error('gone');
    };
    await expect(here.change(key, () => ({ pinned: [1] }))).rejects.toThrow('gone');
    expect(await here.of('tenant')).toEqual([]);
  });

  it('are what they were while the store hangs', async () => {
    vi.useFakeTimers();
    const store = memoryStore();
    store.wishes = () => new Promise<never>(() => {});
    const asked = createWishes({ store, now: () => 0 }).of('tenant');
    await vi.advanceTimersByTimeAsync(2000);
    expect(await asked).toEqual([]);
  });
});
