import { describe, expect, it } from 'vitest';
import { sha256 } from '../../src/conversation/sha256.ts';
import { keeping, session, told } from '../support/keeping.ts';

/** SHA-256, and how many characters it was given. */
function countingHash() {
  const counted = { characters: 0 };
  const count = (text: string) => {
    counted.characters += text.length;
    return text;
  };
  const hash = (text: string) => sha256(count(text));
  return { hash, counted };
}

/** One message that answers so many calls at once. */
function parallel(results: number): readonly unknown[] {
  const ids = Array.from({ length: results }, (_, index) => `call_${index}`);
  return [
    { role: 'user', content: 'Read all files.' },
    {
      role: 'assistant',
      content: ids.map((id) => ({ type: 'tool_use', id, name: 'read_file', input: { path: id } })),
    },
    {
      role: 'user',
      content: ids.map((id, index) => ({ type: 'tool_result', tool_use_id: id, content: told(index) })),
    },
    ...session(4).slice(1),
  ];
}

describe('a message with hundreds of parallel results', () => {
  it.each(['clear-tool-results', 'ladder'])(
    'is hashed no more often with %s than one with a few',
    async (strategy) => {
      const { hash, counted } = countingHash();
      const list = parallel(400);
      const options =
        strategy === 'ladder' ? {} : { protectTokens: 500, minBatchTokens: 500, tools: ['read_file'] };
      const { keeper } = keeping({ hash, strategy, options, windowTokens: 1_000_000, trigger: 10_000 });
      await keeper.prepare(list);
      await keeper.settle();
      expect((await keeper.prepare(list)).status).toBe('folded');
      // The names of a conversation, its chain, and what is kept of it.
      expect(counted.characters).toBeLessThan(8 * JSON.stringify(list).length);
    },
  );
});

describe('a compaction in the background', () => {
  it('begins when the request that it came with has gone out', async () => {
    const { keeper, events } = keeping({ windowTokens: 20_000, trigger: 3000, target: 1500 });
    await keeper.prepare(session(24));
    expect(events).toEqual([]);
    await keeper.settle();
    expect(events.map(({ type }) => type)).toEqual([
      'compaction-start',
      'compaction-end',
      'checkpoint-saved',
    ]);
  });

  it('gives others a turn before, between and behind its parts', async () => {
    let turns = 0;
    let isOver = false;
    const turn = () => {
      turns++;
      if (!isOver) setImmediate(turn);
    };
    const { keeper } = keeping({ windowTokens: 20_000, trigger: 3000, target: 1500 });
    await keeper.prepare(session(24));
    setImmediate(turn);
    await keeper.settle();
    isOver = true;
    expect(turns).toBeGreaterThanOrEqual(4);
  });
});
