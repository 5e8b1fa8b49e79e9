import { describe, expect, it } from 'vitest';
import { checkpointOf } from '../../test/support/store-records.ts';
import { createChains, nameOfConversation } from '../conversation/identity.ts';
import { openaiChat } from '../formats/openai-chat/format.ts';
import { memoryStore } from '../stores/memory.ts';
import type { Checkpoint, CheckpointLookup } from '../stores/store.ts';
import { findCheckpoint, isTrueOf } from './checkpoints.ts';

const chains = createChains();
const chainOf = (texts: readonly string[]) =>
  chains.chainOf(openaiChat.read(texts.map((content) => ({ role: 'user', content }))));
const chain = chainOf(['a', 'b', 'c', 'd', 'e', 'f']);
const owner = { tenant: 'tenant', configuration: 'configuration' };

const all = [1, 2, 3, 4, 5, 6];

function checkpointAt(boundary: number, changes: Partial<Checkpoint> = {}): Checkpoint {
  const conversation = nameOfConversation(chain);
  return checkpointOf({ ...owner, conversation, boundary, chain: chain.linkAt(boundary), ...changes });
}

async function storeWith(...checkpoints: readonly Checkpoint[]) {
  const store = memoryStore();
  await store.restore(checkpoints.map((checkpoint) => ({ checkpoint })));
  return store;
}

describe('findCheckpoint', () => {
  it('takes the longest that ends where the conversation may be cut', async () => {
    const store = await storeWith(...[2, 4, 5].map((boundary) => checkpointAt(boundary)));
    const found = async (cuts: readonly number[]) =>
      (await findCheckpoint(store, { ...owner, chain, cuts }))?.boundary;
    expect(await found(all)).toBe(5);
    expect(await found([1, 2, 3, 4, 6])).toBe(4);
    expect(await found([2, 3, 6])).toBe(2);
    expect(await found([3, 6])).toBeUndefined();
    expect(await found([])).toBeUndefined();
  });

  it('asks the store once, and again only where the conversation may not be cut behind the longest', async () => {
    const store = await storeWith(checkpointAt(2), checkpointAt(4));
    let asked = 0;
    const counting = {
      ...store,
      find(lookup: CheckpointLookup) {
        asked++;
        return store.find(lookup);
      },
    };
    await findCheckpoint(counting, { ...owner, chain, cuts: all });
    expect(asked).toBe(1);
    await findCheckpoint(counting, { ...owner, chain, cuts: [1, 2, 3] });
    expect(asked).toBe(3);
    await findCheckpoint(counting, { ...owner, chain, cuts: [5] });
    expect(asked).toBe(4);
    const nobody = chainOf(['other']);
    await findCheckpoint(counting, { ...owner, chain: nobody, cuts: [1] });
    expect(asked).toBe(5);
  });

  it('takes what is true of a branch, and nothing behind where it branches', async () => {
    const store = await storeWith(...[2, 4, 5].map((boundary) => checkpointAt(boundary)));
    const branch = chainOf(['a', 'b', 'c', 'd', 'other', 'f']);
    expect((await findCheckpoint(store, { ...owner, chain: branch, cuts: all }))?.boundary).toBe(4);
    const early = chainOf(['a', 'b', 'other', 'd']);
    expect(await findCheckpoint(store, { ...owner, chain: early, cuts: [1, 2, 3, 4] })).toBeUndefined();
  });

  it('finds what was stored when the conversation had too few messages for its name', async () => {
    const short = checkpointAt(2, { conversation: chain.linkAt(2) });
    const store = await storeWith(short);
    expect(await findCheckpoint(store, { ...owner, chain, cuts: all })).toEqual(short);
  });

  it('gives the very value that is known while it is the longest that is stored', async () => {
    const store = await storeWith(checkpointAt(2), checkpointAt(4));
    const known = checkpointAt(4);
    expect(await findCheckpoint(store, { ...owner, chain, cuts: all, known })).toBe(known);
    await store.restore({ checkpoint: checkpointAt(6) });
    expect((await findCheckpoint(store, { ...owner, chain, cuts: all, known }))?.boundary).toBe(6);
    const behind = { ...owner, chain, cuts: [1, 2, 3, 5], known };
    expect(await findCheckpoint(await storeWith(checkpointAt(2), known), behind)).toBeUndefined();
    await store.forget({ tenant: owner.tenant, conversation: known.conversation });
    expect(await findCheckpoint(store, { ...owner, chain, cuts: all, known })).toBeUndefined();
  });

  it('believes no store that gives what was not asked for', async () => {
    const honest = await storeWith();
    const wrong = [
      checkpointAt(4, { tenant: 'somebody else' }),
      checkpointAt(4, { configuration: 'another' }),
      checkpointAt(4, { chain: chain.linkAt(3) }),
      checkpointAt(0),
      checkpointAt(7, { chain: chain.linkAt(6) }),
    ];
    const anywhere = [0, ...all, 7];
    for (const checkpoint of wrong) {
      expect(isTrueOf(checkpoint, { ...owner, chain, cuts: anywhere })).toBe(false);
      const lying = { ...honest, find: async () => checkpoint };
      expect(await findCheckpoint(lying, { ...owner, chain, cuts: anywhere })).toBeUndefined();
    }
  });
});
