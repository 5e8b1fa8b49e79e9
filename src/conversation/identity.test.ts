import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { anthropicMessages } from '../formats/anthropic-messages/format.ts';
import { openaiChat } from '../formats/openai-chat/format.ts';
import type { Format } from './format.ts';
import {
  type Chain,
  createChains,
  nameOfConversation,
  namesOfConversation,
  type VolatileParts,
} from './identity.ts';
import { sha256 } from './sha256.ts';

const say = (text: string) => ({ role: 'user', content: text });
const system = (text: string) => ({ role: 'system', content: text });
const texts = (count: number) => Array.from({ length: count }, (_one, index) => say(`text ${index}`));
const linksOf = (chain: Chain) =>
  Array.from({ length: chain.length + 1 }, (_one, count) => chain.linkAt(count));
const newChain = (raws: readonly unknown[]) => createChains().chainOf(openaiChat.read(raws));

describe('the chain of a conversation', () => {
  it('has one link more than there are messages, each for all before it', () => {
    const { chainOf } = createChains();
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

  test.prop([fc.array(fc.nat({ max: 40 }), { minLength: 1, maxLength: 10 })])(
    'has the same links in whatever order they are asked for',
    (counts) => {
      const links = linksOf(newChain(texts(40)));
      const chain = newChain(texts(40));
      expect(counts.map((count) => chain.linkAt(count))).toEqual(counts.map((count) => links[count]));
    },
  );

  it('is for ever the same for the same messages, or its version changes', () => {
    const raws = [
      { role: 'user', content: 'Höhe → 12' },
      { role: 'assistant', content: [{ type: 'text', text: 'x', cache_control: { type: 'ephemeral' } }] },
      {
        role: 'user',
        content: [{ type: 'image', source: { n: 1.5, ok: true, no: null, 'a b': ['\ud800'] } }],
      },
    ];
    const chain = createChains().chainOf(anthropicMessages.read(raws));
    expect(chain.linkAt(3)).toBe('8b74253901cf3aa7fabba41d3ea3fcc513558175c16d6275427480c2113d0f67');
  });

  it('takes a message in whole, however large it is', () => {
    const large = 'b'.repeat(3_000_000);
    const linkOfLarge = (text: string) => newChain([say('a'), say(text), say('c')]).linkAt(3);
    expect(linkOfLarge(`${large}x`)).not.toBe(linkOfLarge(`${large}y`));
    expect(linkOfLarge(`${large}x`)).toBe(linkOfLarge(`${large}x`));
  });

  it('hashes only what is new, and the same for values that are new', () => {
    let characters = 0;
    const counting = (text: string) => {
      characters += text.length;
      return sha256(text);
    };
    const { chainOf } = createChains({ hash: counting });
    const raws = texts(2000);
    const first = chainOf(openaiChat.read(raws));
    const before = first.linkAt(1990);
    characters = 0;
    const next = chainOf(openaiChat.read([...raws, say('new')]));
    expect(next.linkAt(1990)).toBe(before);
    // The seed alone.
    expect(characters).toBeLessThan(100);
    const last = next.linkAt(2001);
    expect(characters).toBeLessThan(2000);
    expect(newChain([...texts(2000), say('new')]).linkAt(2001)).toBe(last);
  });

  it('stays what it was when the conversation goes on', () => {
    const { chainOf } = createChains();
    const raws = texts(3);
    const short = chainOf(openaiChat.read(raws));
    const long = chainOf(openaiChat.read([...raws, say('more')]));
    expect(short.length).toBe(3);
    expect(short.linkAt(4)).toBe(short.linkAt(3));
    expect(long.linkAt(3)).toBe(short.linkAt(3));
    expect(long.linkAt(4)).not.toBe(short.linkAt(3));
  });

  it('leaves out the system messages in front, and no others', () => {
    const { chainOf } = createChains();
    const plain = chainOf(openaiChat.read(texts(2)));
    const headed = chainOf(openaiChat.read([system('a'), system('b'), ...texts(2)]));
    expect(headed.head).toBe(2);
    expect(linksOf(headed)).toEqual(linksOf(plain));
    const late = chainOf(openaiChat.read([say('text 0'), system('a'), say('text 1')]));
    expect(late.linkAt(2)).not.toBe(plain.linkAt(2));
  });

  it('is another one in another format, and with another list of volatile parts', () => {
    const seed = (chains = createChains(), format = openaiChat) => chains.chainOf(format.read([])).linkAt(0);
    expect(seed()).not.toBe(seed(undefined, anthropicMessages));
    expect(seed()).not.toBe(seed(createChains({ hash: sha256, volatile: { ofMessages: ['id'] } })));
  });

  it('names a conversation by its first four messages, and knows what it was called before', () => {
    const { chainOf } = createChains();
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

/** The link of a list that is one message, in any format. */
function linkOf(format: string, raw: unknown, volatile?: Partial<VolatileParts>): string {
  const message = { role: 'user', blocks: [], responseId: undefined, usage: undefined, raw } as const;
  const { chainOf } = createChains({ volatile });
  // Nothing else of a format is asked for.
  return chainOf({ format: { name: format } as Format, messages: [message] }).linkAt(1);
}

const MARKER = { cache_control: { type: 'ephemeral' } };
const user = (content: unknown) => ({ role: 'user', content });
const result = (fields: object) => user([{ type: 'tool_result', tool_use_id: 'a', ...fields }]);

const same: readonly (readonly [string, string, unknown, unknown])[] = [
  ['anthropic-messages', 'order of keys', { role: 'user', content: 'a' }, { content: 'a', role: 'user' }],
  ['anthropic-messages', 'a short text', user('a'), user([{ type: 'text', text: 'a' }])],
  ['anthropic-messages', 'a cache marker', user([{ type: 'text', text: 'a', ...MARKER }]), user('a')],
  [
    'anthropic-messages',
    'a marker on a result',
    result({ content: 'x', ...MARKER }),
    result({ content: 'x' }),
  ],
  [
    'anthropic-messages',
    'a marker inside a result',
    result({ content: [{ type: 'text', text: 'x', ...MARKER }] }),
    result({ content: 'x' }),
  ],
  ['anthropic-messages', 'no error', result({ content: 'x', is_error: false }), result({ content: 'x' })],
  ['anthropic-messages', 'no citations', user([{ type: 'text', text: 'a', citations: null }]), user('a')],
  ['openai-chat', 'a short text', user('a'), user([{ type: 'text', text: 'a' }])],
  [
    'openai-chat',
    'nulls of an answer',
    { role: 'assistant', content: null, refusal: null, annotations: [], tool_calls: [{ id: 'a' }] },
    { role: 'assistant', tool_calls: [{ id: 'a' }] },
  ],
  [
    'openai-chat',
    'an empty content beside calls',
    { role: 'assistant', content: '', tool_calls: [{ id: 'a' }] },
    { role: 'assistant', tool_calls: [{ id: 'a' }] },
  ],
  ['openai-chat', 'a cache marker', user([{ type: 'text', text: 'a', ...MARKER }]), user('a')],
  [
    'openai-responses',
    'an easy message',
    { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'a' }] },
    user('a'),
  ],
  [
    'openai-responses',
    'an answer',
    { role: 'assistant', content: [{ type: 'output_text', text: 'a', annotations: [] }] },
    { role: 'assistant', content: 'a' },
  ],
  [
    'openai-responses',
    'a breakpoint',
    user([{ type: 'input_text', text: 'a', prompt_cache_breakpoint: { mode: 'explicit' } }]),
    user('a'),
  ],
  ['gemini', 'the role that is meant', { parts: [{ text: 'a' }] }, { role: 'user', parts: [{ text: 'a' }] }],
  [
    'ai-sdk-model',
    'a marker among options',
    { ...user('a'), providerOptions: { anthropic: { cacheControl: { type: 'ephemeral' } } } },
    user([{ type: 'text', text: 'a' }]),
  ],
  [
    'langchain',
    'a marker',
    { type: 'human', content: [{ type: 'text', text: 'a', ...MARKER }] },
    { type: 'human', content: 'a' },
  ],
];

const different: readonly (readonly [string, string, unknown, unknown])[] = [
  ['anthropic-messages', 'text', user('a'), user('b')],
  ['anthropic-messages', 'role', user('a'), { role: 'assistant', content: 'a' }],
  ['anthropic-messages', 'an unknown field', user('a'), { ...user('a'), other: 1 }],
  ['anthropic-messages', 'an id', user('a'), { ...user('a'), id: 'x' }],
  [
    'anthropic-messages',
    'two texts',
    user('ab'),
    user([
      { type: 'text', text: 'a' },
      { type: 'text', text: 'b' },
    ]),
  ],
  ['anthropic-messages', 'an error', result({ content: 'x', is_error: true }), result({ content: 'x' })],
  ['anthropic-messages', 'no content and empty content', result({}), result({ content: '' })],
  [
    'anthropic-messages',
    'data that looks like a marker',
    user([{ type: 'tool_use', id: 'a', name: 'b', input: { ...MARKER } }]),
    user([{ type: 'tool_use', id: 'a', name: 'b', input: {} }]),
  ],
  [
    'anthropic-messages',
    'data that looks like a short text',
    user([{ type: 'tool_use', id: 'a', name: 'b', input: { content: 'x' } }]),
    user([{ type: 'tool_use', id: 'a', name: 'b', input: { content: [{ type: 'text', text: 'x' }] } }]),
  ],
  ['anthropic-messages', 'half characters', user('\ud800'), user('\ud801')],
  ['anthropic-messages', 'a half character and its replacement', user('\ud800'), user('\ufffd')],
  ['anthropic-messages', 'a half character and its JSON', user('\ud800'), user('"\\ud800"')],
  ['anthropic-messages', 'nothing and a NUL', user('a'), user('a\u0000')],
  ['anthropic-messages', 'a number and its text', { a: 1 }, { a: '1' }],
  ['anthropic-messages', 'null and nothing', { a: null }, {}],
  ['anthropic-messages', 'what a text pretends to be', user('a}s4:rolex'), user('a')],
  [
    'openai-chat',
    'no text and empty text',
    { role: 'assistant', content: '' },
    { role: 'assistant', content: null },
  ],
  [
    'ai-sdk-model',
    'other options',
    { ...user('a'), providerOptions: { anthropic: { cacheControl: 1, sendReasoning: true } } },
    user('a'),
  ],
  ['ai-sdk-model', 'bytes', user([{ data: new Uint8Array([1]) }]), user([{ data: new Uint8Array([2]) }])],
  ['a format of tomorrow', 'whatever there is', user('a'), user([{ type: 'text', text: 'a' }])],
];

describe('what is compared of a message', () => {
  it.each(same)('%s: %s makes no difference', (format, _name, left, right) => {
    expect(linkOf(format, left)).toBe(linkOf(format, right));
  });

  it.each(different)('%s: %s makes a difference', (format, _name, left, right) => {
    expect(linkOf(format, left)).not.toBe(linkOf(format, right));
  });

  test.prop([fc.jsonValue(), fc.jsonValue()])(
    'is the same for the same data, and for no other',
    (left, right) => {
      const told = (value: unknown) => linkOf('anthropic-messages', { data: value });
      expect(told(left) === told(right)).toBe(JSON.stringify(sorted(left)) === JSON.stringify(sorted(right)));
      expect(told(reversed(left))).toBe(told(left));
    },
  );

  test.prop([fc.string({ unit: 'binary', maxLength: 5 }), fc.string({ unit: 'binary', maxLength: 5 })])(
    'tells any two texts apart',
    (left, right) => {
      const told = (text: string) => linkOf('openai-chat', user(`${text}\ud800`));
      expect(told(left) === told(right)).toBe(left === right);
    },
  );

  class Said {
    readonly role = 'user';
    readonly content: string;
    constructor(content: string) {
      this.content = content;
    }
  }
  class Told extends Said {
    toJSON() {
      return { role: 'user', content: `told ${this.content}`, toJSON: () => 'nobody asks again' };
    }
  }

  it.each<readonly [string, unknown, unknown]>([
    ['an object of a class', new Said('a'), user('a')],
    ['an object that says itself what it is', new Told('a'), user('told a')],
    ['an object without a prototype', Object.assign(Object.create(null), user('a')), user('a')],
    ['what is inherited', Object.assign(Object.create({ role: 'system', id: 1 }), user('a')), user('a')],
    ['a function of its own that says it', { ...user('b'), toJSON: () => user('a') }, user('a')],
    ['a date', { ...user('a'), at: new Date(0) }, { ...user('a'), at: '1970-01-01T00:00:00.000Z' }],
    ['an address', user([new URL('http://a/b')]), user(['http://a/b'])],
    ['what JSON leaves out', { ...user('a'), is: undefined, does: () => 1 }, user('a')],
  ])('is that of the JSON: %s', (_name, value, json) => {
    expect(linkOf('anthropic-messages', value)).toBe(linkOf('anthropic-messages', json));
  });

  it('leaves out what it is told to, in messages alone or anywhere', () => {
    const one = { id: 'm1', timestamp: 1, role: 'user', content: [{ type: 'tool_use', id: 't1', note: 2 }] };
    const other = {
      id: 'm2',
      timestamp: 2,
      role: 'user',
      content: [{ type: 'tool_use', id: 't1', note: 3 }],
    };
    const volatile = { ofMessages: ['id', 'timestamp'], anywhere: ['note'] };
    expect(linkOf('anthropic-messages', one, volatile)).toBe(linkOf('anthropic-messages', other, volatile));
    const foreign = { ...one, content: [{ type: 'tool_use', id: 't2', note: 2 }] };
    expect(linkOf('anthropic-messages', one, volatile)).not.toBe(
      linkOf('anthropic-messages', foreign, volatile),
    );
    expect(linkOf('anthropic-messages', {}, volatile)).not.toBe(linkOf('anthropic-messages', {}));
  });

  it('takes cache markers out of a message that is kept, and nothing else', () => {
    const withoutMarkers = (raw: unknown) =>
      createChains().withoutMarkers(raw, { name: 'anthropic-messages' });
    const marked = user([
      { type: 'tool_use', input: MARKER, ...MARKER },
      { type: 'text', text: 'a' },
    ]);
    expect(withoutMarkers(marked)).toEqual(
      user([
        { type: 'tool_use', input: MARKER },
        { type: 'text', text: 'a' },
      ]),
    );
    const clean = user([{ type: 'text', text: 'a' }]);
    expect(withoutMarkers(clean)).toBe(clean);
  });
});

function sorted(value: unknown): unknown {
  return reorder(value, (keys) => keys.toSorted());
}

function reversed(value: unknown): unknown {
  return reorder(value, (keys) => keys.toReversed());
}

function reorder(value: unknown, order: (keys: string[]) => string[]): unknown {
  if (Array.isArray(value)) return value.map((item) => reorder(item, order));
  if (typeof value !== 'object' || value === null) return Object.is(value, -0) ? 0 : value;
  const fields = new Map(Object.entries(value));
  const copy: Record<string, unknown> = Object.create(null);
  for (const key of order([...fields.keys()])) copy[key] = reorder(fields.get(key), order);
  return copy;
}
