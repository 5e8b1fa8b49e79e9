import { describe, expect, it } from 'vitest';
import { sha256 } from '../config/sha256.ts';
import { anthropicMessages } from '../formats/anthropic-messages.ts';
import { openaiChat } from '../formats/openai-chat.ts';
import { createChains, type Hash, nameOfConversation } from './chain.ts';

const say = (text: string) => ({ role: 'user', content: text });
const system = (text: string) => ({ role: 'system', content: text });
const texts = (count: number) => Array.from({ length: count }, (_one, index) => say(`text ${index}`));

describe('the chain of a conversation', () => {
  it('has one link more than there are messages, each for all before it', () => {
    const { chainOf } = createChains({ hash: sha256 });
    const { links } = chainOf(openaiChat.read(texts(5)));
    expect(links).toHaveLength(6);
    expect(new Set(links).size).toBe(6);
    expect(links.every((link) => /^[0-9a-f]{64}$/.test(link ?? ''))).toBe(true);
    const edited = chainOf(openaiChat.read(texts(5).with(2, say('other')))).links;
    expect(edited.map((link, index) => link === links[index])).toEqual([
      true,
      true,
      true,
      false,
      false,
      false,
    ]);
  });

  it('hashes only what is new, and the same for values that are new', () => {
    let count = 0;
    const hash: Hash = (data) => {
      count++;
      return sha256(data);
    };
    const { chainOf } = createChains({ hash });
    const raws = texts(10);
    chainOf(openaiChat.read(raws));
    count = 0;
    const { links } = chainOf(openaiChat.read([...raws, say('new')]));
    expect(count).toBe(1);
    expect(createChains({ hash: sha256 }).chainOf(openaiChat.read([...texts(10), say('new')])).links).toEqual(
      links,
    );
  });

  it('has no link behind a call that waits for its result', () => {
    const { chainOf } = createChains({ hash: sha256 });
    const call = { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'b', input: {} }] };
    const result = { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: 'c' }] };
    const { links } = chainOf(anthropicMessages.read([say('x'), call, result]));
    expect(links.map((link) => link === undefined)).toEqual([false, false, true, false]);
    const other = chainOf(anthropicMessages.read([say('x'), { ...call, extra: 1 }, result])).links;
    expect(other[3]).not.toBe(links[3]);
  });

  it('leaves out the system messages in front, and no others', () => {
    const { chainOf } = createChains({ hash: sha256 });
    const plain = chainOf(openaiChat.read(texts(2)));
    const headed = chainOf(openaiChat.read([system('a'), system('b'), ...texts(2)]));
    expect(headed.head).toBe(2);
    expect(headed.links).toEqual(plain.links);
    const late = chainOf(openaiChat.read([say('text 0'), system('a'), say('text 1')]));
    expect(late.links[2]).not.toBe(plain.links[2]);
  });

  it('is another one in another format, and with another list of volatile parts', () => {
    const seed = (chains = createChains({ hash: sha256 }), format = openaiChat) =>
      chains.chainOf(format.read([])).links[0];
    expect(seed()).not.toBe(seed(undefined, anthropicMessages));
    expect(seed()).not.toBe(seed(createChains({ hash: sha256, volatile: { ofMessages: ['id'] } })));
  });

  it('names a conversation by its first four messages', () => {
    const { chainOf } = createChains({ hash: sha256 });
    const name = (count: number) => nameOfConversation(chainOf(openaiChat.read(texts(count))));
    expect(name(4)).toBe(name(40));
    expect(name(3)).not.toBe(name(4));
    expect(name(0)).not.toBe('');
  });
});
