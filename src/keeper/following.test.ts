import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { type Compactor, type CompactResult, createCompactor } from '../compaction/compactor.ts';
import { type Compacted, notCompacted, type Outcome } from '../compaction/plan/strategy.ts';
import { aiSdkModel } from '../formats/ai-sdk/model.ts';
import { followConversations } from './following.ts';

type Text = ReturnType<typeof say>;
const say = (content: string) => ({ role: 'user', content });
const texts = (messages: readonly unknown[] | undefined) =>
  (messages as readonly Text[])?.map(({ content }) => content);

/** A compactor that puts one message for all but the last as soon as there are more than so many; it says how many. */
function stub(most: number, { misses = false } = {}) {
  const seen: (readonly unknown[])[] = [];
  const maybeCompact = async <Value>(value: Value): Promise<CompactResult<Value>> => {
    const isBody = !Array.isArray(value);
    const list = (isBody ? (value as { messages: unknown[] }).messages : value) as unknown[];
    seen.push(list);
    // Nothing else of a result is looked at.
    const unread = { messagesBefore: 0, messagesAfter: 0, tokensFreed: 0, summary: undefined };
    if (list.length <= most)
      return { ...unread, value, outcome: notCompacted('skipped', 'below-trigger', 'small') };
    const shorter = [say(`[${texts(list.slice(0, -1))?.join(' ')}]`), list.at(-1)];
    const compacted = { status: 'compacted' } as Outcome;
    const outcome = misses
      ? { ...notCompacted('insufficient', 'floor-exceeds-target', ''), best: compacted as Compacted }
      : compacted;
    return { ...unread, value: (isBody ? { ...value, messages: shorter } : shorter) as Value, outcome };
  };
  const compactor: Compactor = {
    ...createCompactor({ windowTokens: 0 }),
    maybeCompact,
    compact: maybeCompact,
  };
  return { compactor, seen };
}

const list = (words: string) => words.split(' ').map(say);

describe('followConversations', () => {
  it('says nothing as long as nothing is to be done', async () => {
    const follow = followConversations(() => stub(3).compactor, aiSdkModel);

    expect(await follow({ messages: list('a b') })).toBeUndefined();
    expect(await follow({ messages: list('a b c') })).toBeUndefined();
  });

  it('goes on from what was compacted, although all of the history comes again', async () => {
    const follow = followConversations(() => stub(3).compactor, aiSdkModel);
    const sent: unknown[] = [];
    for (const words of ['a b c', 'a b c d', 'a b c d e', 'a b c d e f', 'a b c d e f g']) {
      sent.push(texts(await follow({ messages: list(words) })));
    }

    expect(sent).toEqual([
      undefined,
      ['[a b c]', 'd'],
      ['[a b c]', 'd', 'e'],
      ['[[a b c] d e]', 'f'],
      ['[[a b c] d e]', 'f', 'g'],
    ]);
  });

  it('goes on from the best there is where the target was missed', async () => {
    const follow = followConversations(() => stub(3, { misses: true }).compactor, aiSdkModel);
    await follow({ messages: list('a b c d') });

    expect(texts(await follow({ messages: list('a b c d e') }))).toEqual(['[a b c]', 'd', 'e']);
  });

  it('goes on from the view where the client does so itself, and still knows the history', async () => {
    const follow = followConversations(() => stub(3).compactor, aiSdkModel);
    let messages: readonly unknown[] = list('a b c d');
    messages = (await follow({ messages })) ?? messages;
    expect(await follow({ messages: [...messages, say('e')] })).toBeUndefined();
    const view = await follow({ messages: [...messages, say('e'), say('f')] });

    expect(texts(view)).toEqual(['[[a b c] d e]', 'f']);
    expect(texts(await follow({ messages: list('a b c d e f g') }))).toEqual(['[[a b c] d e]', 'f', 'g']);
  });

  it.each([
    { why: 'what was covered is edited', words: 'a B c d e', sent: ['[a B c d]', 'e'] },
    { why: 'what came after is edited', words: 'a b c d E', sent: ['[a b c]', 'd', 'E'] },
    { why: 'it is shorter than what was covered', words: 'a b', sent: undefined },
    { why: 'it is another conversation', words: 'x y z', sent: undefined },
  ])('when $why', async ({ words, sent }) => {
    const follow = followConversations(() => stub(3).compactor, aiSdkModel);
    await follow({ messages: list('a b c d') });

    expect(texts(await follow({ messages: list(words) }))).toEqual(sent);
  });

  it('goes on under another system message in front, and sends that as it is', async () => {
    const follow = followConversations(() => stub(4).compactor, aiSdkModel);
    const under = (content: string, words: string) => [{ role: 'system', content }, ...list(words)];
    await follow({ messages: under('one', 'a b c d') });

    expect(texts(await follow({ messages: under('two', 'a b c d e') }))).toEqual([
      'two',
      '[one a b c]',
      'd',
      'e',
    ]);
  });

  it('looks through cache markers, which clients move', async () => {
    const follow = followConversations(() => stub(3).compactor, aiSdkModel);
    const marked = (content: string) => ({
      ...say(content),
      providerOptions: { anthropic: { cacheControl: { type: 'ephemeral' } } },
    });
    await follow({ messages: [say('a'), say('b'), say('c'), marked('d')] });

    expect(texts(await follow({ messages: [...list('a b c d'), marked('e')] }))).toEqual([
      '[a b c]',
      'd',
      'e',
    ]);
  });

  it('hands tools over with the messages, and the rest of the call', async () => {
    const { compactor, seen } = stub(3);
    const follow = followConversations(() => compactor, aiSdkModel);

    expect(texts(await follow({ messages: list('a b c d'), tools: [{ name: 't' }] }))).toEqual([
      '[a b c]',
      'd',
    ]);
    expect(seen).toEqual([list('a b c d')]);
  });

  it('has a compactor for each of 100 conversations, and forgets those of longest ago', async () => {
    let made = 0;
    const follow = followConversations(() => {
      made++;
      return stub(9).compactor;
    }, aiSdkModel);
    const round = async (from: number, to: number) => {
      for (let name = from; name < to; name++) await follow({ messages: [say(`${name}`), say('more')] });
    };
    await round(0, 100);
    await round(0, 100);
    expect(made).toBe(100);
    await round(100, 101);
    await round(1, 100);
    expect(made).toBe(101);
    await round(0, 1);
    expect(made).toBe(102);
  });

  test.prop([fc.array(fc.tuple(fc.nat(2), fc.boolean()), { maxLength: 40 })])(
    'every message of mixed conversations is in what is sent once, in its order, however fresh its objects are',
    async (turns) => {
      const follow = followConversations(() => stub(4).compactor, aiSdkModel);
      const histories = [0, 1, 2].map((name) => [`${name}0`]);
      for (const [name, isFresh] of turns) {
        const words = histories[name]!;
        words.push(`${name}${words.length}`);
        const messages = list(words.join(' '));
        const sent = (await follow({ messages: isFresh ? structuredClone(messages) : messages })) ?? messages;

        expect(sent.length).toBeLessThanOrEqual(4);
        expect(texts(sent)?.join(' ').replaceAll(/[[\]]/g, '')).toBe(words.join(' '));
      }
    },
  );
});
