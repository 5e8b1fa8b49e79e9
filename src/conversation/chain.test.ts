import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { anthropicMessages } from '../formats/anthropic-messages/format.ts';
import { openaiChat } from '../formats/openai-chat/format.ts';
import { createCanonical } from './canonical.ts';
import { type Chain, createChains, type Hash, nameOfConversation, namesOfConversation } from './chain.ts';
import { sha256 } from './sha256.ts';

const say = (text: string) => ({ role: 'user', content: text });
const system = (text: string) => ({ role: 'system', content: text });
const texts = (count: number) => Array.from({ length: count }, (_one, index) => say(`text ${index}`));
const linksOf = (chain: Chain) =>
  Array.from({ length: chain.length + 1 }, (_one, count) => chain.linkAt(count));
const newChain = (raws: readonly unknown[]) => createChains({ hash: sha256 }).chainOf(openaiChat.read(raws));

describe('the chain of a conversation', () => {
  it('has one link more than there are messages, each for all before it', () => {
    const { chainOf } = createChains({ hash: sha256 });
    const links = linksOf(chainOf(openaiChat.read(texts(5))));
    expect(links).toHaveLength(6);
    expect(new Set(links).size).toBe(6);
    expect(links.every((link) => /^[0-9a-f]{64}$/.test(link))).toBe(true);
    const edited = linksOf(chainOf(openaiChat.read(texts(5).with(2, say('other')))));
    expect(edited.map((link, index) => link === links[index])).toEqual([
      true,
      true,
      true,
      false,
      false,
      false,
    ]);
  });

  const canonical = createCanonical('openai-chat');
  const seed = ['roundfold chain', 'openai-chat', canonical.version]
    .map((part) => `${part.length}:${part}`)
    .join('');
  const written = texts(1200).map((message) => canonical.textOf(message));
  const linkAfter = (count: number) => sha256(seed + written.slice(0, count).join(''));

  test.prop([fc.array(fc.nat({ max: 1200 }), { minLength: 1, maxLength: 10 })])(
    'is the hash of all messages in one form, in whatever order its links are asked for',
    (counts) => {
      const chain = newChain(texts(1200));
      expect(counts.map((count) => chain.linkAt(count))).toEqual(counts.map(linkAfter));
    },
  );

  it('is for ever the same for the same messages, or the version of the canonical form changes', () => {
    const raws = [
      { role: 'user', content: 'Höhe → 12' },
      { role: 'assistant', content: [{ type: 'text', text: 'x', cache_control: { type: 'ephemeral' } }] },
      {
        role: 'user',
        content: [{ type: 'image', source: { n: 1.5, ok: true, no: null, 'a b': ['\ud800'] } }],
      },
    ];
    const chain = createChains({ hash: sha256 }).chainOf(anthropicMessages.read(raws));
    expect(canonical.version).toBe('["3",["cache_control","prompt_cache_breakpoint"],[]]');
    expect(chain.linkAt(3)).toBe('4b0d30fa811722cd574456615e9548dd85d5ace1e62c4bf00291db0092cc07d2');
  });

  it('takes a message in whole, however large it is', () => {
    const large = [say('a'), say('b'.repeat(3_000_000)), say('c')];
    const chain = newChain(large);
    expect([2, 3].map((count) => chain.linkAt(count))).toEqual(
      [2, 3].map((count) => {
        const forms = large.slice(0, count).map((message) => canonical.textOf(message));
        return sha256(seed + forms.join(''));
      }),
    );
  });

  it('hashes only what is new, and the same for values that are new', () => {
    let characters = 0;
    const counting: Hash = Object.assign((text: string) => sha256(text), {
      stream: () => counted(sha256.stream()),
    });
    const counted = (inner: ReturnType<Hash['stream']>): ReturnType<Hash['stream']> => ({
      add(added) {
        characters += added.length;
        inner.add(added);
      },
      copy: () => counted(inner.copy()),
      digest: () => inner.digest(),
    });
    const { chainOf } = createChains({ hash: counting });
    const raws = texts(2000);
    const first = chainOf(openaiChat.read(raws));
    const before = first.linkAt(1990);
    const all = characters;
    characters = 0;
    const next = chainOf(openaiChat.read([...raws, say('new')]));
    expect(next.linkAt(1990)).toBe(before);
    expect(characters).toBe(0);
    const last = next.linkAt(2001);
    expect(characters).toBeLessThan(all / 4);
    expect(newChain([...texts(2000), say('new')]).linkAt(2001)).toBe(last);
  });

  it('stays what it was when the conversation goes on', () => {
    const { chainOf } = createChains({ hash: sha256 });
    const raws = texts(3);
    const short = chainOf(openaiChat.read(raws));
    const long = chainOf(openaiChat.read([...raws, say('more')]));
    expect(short.length).toBe(3);
    expect(short.linkAt(4)).toBe(short.linkAt(3));
    expect(long.linkAt(3)).toBe(short.linkAt(3));
    expect(long.linkAt(4)).not.toBe(short.linkAt(3));
  });

  it('leaves out the system messages in front, and no others', () => {
    const { chainOf } = createChains({ hash: sha256 });
    const plain = chainOf(openaiChat.read(texts(2)));
    const headed = chainOf(openaiChat.read([system('a'), system('b'), ...texts(2)]));
    expect(headed.head).toBe(2);
    expect(linksOf(headed)).toEqual(linksOf(plain));
    const late = chainOf(openaiChat.read([say('text 0'), system('a'), say('text 1')]));
    expect(late.linkAt(2)).not.toBe(plain.linkAt(2));
  });

  it('is another one in another format, and with another list of volatile parts', () => {
    const seed = (chains = createChains({ hash: sha256 }), format = openaiChat) =>
      chains.chainOf(format.read([])).linkAt(0);
    expect(seed()).not.toBe(seed(undefined, anthropicMessages));
    expect(seed()).not.toBe(seed(createChains({ hash: sha256, volatile: { ofMessages: ['id'] } })));
  });

  it('names a conversation by its first four messages, and knows what it was called before', () => {
    const { chainOf } = createChains({ hash: sha256 });
    const chain = (count: number) => chainOf(openaiChat.read(texts(count)));
    const name = (count: number) => nameOfConversation(chain(count));
    expect(name(4)).toBe(name(40));
    expect(name(3)).not.toBe(name(4));
    expect(name(0)).not.toBe('');
    expect(namesOfConversation(chain(40))).toEqual([name(4), name(3), name(2), name(1)]);
    expect(namesOfConversation(chain(2))).toEqual([name(2), name(1)]);
    expect(namesOfConversation(chain(0))).toEqual([name(0)]);
  });
});
