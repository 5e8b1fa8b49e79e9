import { describe, expect, it } from 'vitest';
import { memoryStore } from '../../src/stores/memory.ts';
import type { Wishes } from '../../src/stores/store.ts';
import { keeping, session } from '../support/keeping.ts';

const sizes = { windowTokens: 20_000, trigger: 6000, target: 2500 };

/** A keeper with a conversation that has been folded, and wishes that can be changed. */
async function folded() {
  const store = memoryStore();
  const asked: string[] = [];
  let wishes: Wishes | undefined;
  const { keeper } = keeping({ ...sizes, store });
  const wishesFor = (name: string) => {
    asked.push(name);
    return wishes;
  };
  const send = async (rounds: number) => {
    const prepared = await keeper.prepare(session(rounds), { wishesFor });
    await keeper.settle();
    return prepared;
  };
  await send(40);
  const first = await send(41);
  const wish = (given: Wishes | undefined) => {
    wishes = given;
  };
  return { store, asked, send, first, wish };
}

describe('wishes for a conversation', () => {
  it('undo a fold: the whole goes out again and nothing new is folded, until the wish is taken back', async () => {
    const { send, first, wish, store } = await folded();
    expect(first.status).toBe('folded');
    wish({ foldedUpTo: 0 });

    for (const rounds of [42, 43, 44]) {
      const { status, value } = await send(rounds);
      expect(status).toBe('unchanged');
      expect(value).toEqual(session(rounds));
    }
    const key = { tenant: 'a', conversation: first.checkpoint?.conversation ?? '' };
    expect(await store.checkpoints(key)).toHaveLength(1);

    wish(undefined);
    expect(await send(45)).toMatchObject({
      status: 'folded',
      checkpoint: { chain: first.checkpoint?.chain },
    });
  });

  it('go back to the fold before', async () => {
    const { send, first, wish } = await folded();
    await send(80);
    const second = await send(81);
    expect(second.checkpoint?.parent).toBe(first.checkpoint?.chain);
    wish({ foldedUpTo: first.checkpoint?.boundary });

    expect((await send(82)).checkpoint?.chain).toBe(first.checkpoint?.chain);
    expect((await send(83)).checkpoint?.chain).toBe(first.checkpoint?.chain);
  });

  it('yield to the window: what does not fit is folded rather than sent with something left out', async () => {
    const { send, wish } = await folded();
    wish({ foldedUpTo: 0 });
    // About 40,000 tokens, twice the window.
    const prepared = await send(200);

    expect(prepared.status).toBe('folded');
  });

  it('pin a message: it is folded anew, and that message stays word for word with its round', async () => {
    const { send, first, wish } = await folded();
    const place = 31;
    const isKept = (parts: NonNullable<typeof first.checkpoint>['parts'] | undefined) =>
      parts?.some((part) => 'from' in part && part.from <= place && place < part.from + part.count);
    expect(isKept(first.checkpoint?.parts)).toBe(false);

    wish({ pinned: [place] });
    expect((await send(42)).status).toBe('unchanged');
    const anew = await send(43);
    expect(anew.status).toBe('folded');
    expect(isKept(anew.checkpoint?.parts)).toBe(true);
    expect(anew.value).toContainEqual(session(43)[place]);
    // Its result came with it.
    expect(anew.value).toContainEqual(session(43)[place + 1]);

    wish(undefined);
    expect((await send(44)).checkpoint?.chain).toBe(first.checkpoint?.chain);
  });

  it('are asked for under every name that the conversation can have', async () => {
    const { asked } = await folded();
    expect(new Set(asked).size).toBe(4);
  });
});
