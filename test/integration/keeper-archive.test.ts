import { describe, expect, it } from 'vitest';
import { keeping, noncesIn, session, telling } from '../support/keeping.ts';

const HANDLE = /rf:[0-9a-f]{32}/g;
const handlesIn = (value: unknown) => JSON.stringify(value).match(HANDLE) ?? [];
const limits = { windowTokens: 20_000, trigger: 3000, target: 1500 };

/** The view of a conversation once it was compacted. */
async function compacted(options: Parameters<typeof keeping>[0], list: readonly unknown[]) {
  const kept = keeping({ ...limits, ...options });
  await kept.keeper.prepare(list);
  await kept.keeper.settle();
  const { value, checkpoint } = await kept.keeper.prepare(list);
  if (checkpoint === undefined) throw new Error('nothing was compacted');
  return { ...kept, value, checkpoint };
}

describe('what leaves a view', () => {
  it('can be read again byte for byte by the handle in the summary', async () => {
    const list = session(24);
    const { value, checkpoint, store } = await compacted({ summarizer: telling().summarizer }, list);
    const [handle = ''] = handlesIn(value);
    const span = await store.recall({ tenant: 'a', handle });

    const covered = checkpoint.receipt.runs.filter(({ fate }) => fate === 'summarised');
    const originals = covered.flatMap(({ start, end }) => list.slice(start, end));
    expect(new TextDecoder().decode(span?.body)).toBe(JSON.stringify(originals));
    expect(new Set(handlesIn(value))).toEqual(new Set([handle]));
  });

  it('is found by its words in its own conversation, and by nobody else', async () => {
    const list = session(24);
    const { checkpoint, store } = await compacted({ summarizer: telling().summarizer }, list);
    const query = { conversation: checkpoint.conversation, words: 'parser token', limit: 5 };

    const found = await store.search({ tenant: 'a', ...query });
    expect(found.length).toBeGreaterThan(0);
    expect(await store.search({ tenant: 'b', ...query })).toEqual([]);
    expect(await store.search({ tenant: 'a', ...query, conversation: 'another' })).toEqual([]);
    const [first] = found;
    expect(await store.recall({ tenant: 'b', handle: first?.handle ?? '' })).toBeUndefined();
  });

  it('has a handle in the note of every result that was cleared', async () => {
    const list = session(60).map((raw) =>
      JSON.parse(JSON.stringify(raw).replaceAll('ask_expert', 'read_file')),
    );
    const { value, store } = await compacted(
      {
        strategy: 'clear-tool-results',
        options: { protectTokens: 500, minBatchTokens: 500, tools: ['read_file'] },
      },
      list,
    );
    const handles = handlesIn(value);
    expect(handles.length).toBeGreaterThan(5);
    for (const handle of handles) {
      const span = await store.recall({ tenant: 'a', handle });
      const [message, ...others] = JSON.parse(new TextDecoder().decode(span?.body)) as unknown[];
      expect(others).toEqual([]);
      expect(list).toContainEqual(message);
      expect(noncesIn(value)).not.toEqual(expect.arrayContaining([...noncesIn(message)]));
    }
  });

  it('is not kept, and has no handle, where nobody wants it kept', async () => {
    const { value, store, checkpoint } = await compacted(
      { summarizer: telling().summarizer, archive: false },
      session(24),
    );
    expect(handlesIn(value)).toEqual([]);
    expect(await store.spans({ tenant: 'a', conversation: checkpoint.conversation })).toEqual([]);
  });
});

describe('a conversation that is deleted', () => {
  it('leaves nothing readable, and is compacted anew', async () => {
    const list = session(24);
    const { summarizer, requests } = telling();
    const { keeper, store, value, checkpoint } = await compacted({ summarizer }, list);
    const [handle = ''] = handlesIn(value);
    const key = { tenant: 'a', conversation: checkpoint.conversation };
    await store.forget(key);

    expect(await store.recall({ tenant: 'a', handle })).toBeUndefined();
    expect(await store.checkpoints(key)).toEqual([]);
    expect((await keeper.prepare(list)).status).toBe('unchanged');
    await keeper.settle();
    expect(requests).toHaveLength(2);
    expect((await keeper.prepare(list)).status).toBe('folded');
  });
});
