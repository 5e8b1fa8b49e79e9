import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { createCanonical } from './canonical.ts';
import type { VolatileParts } from './volatile.ts';

function textOf(format: string, raw: unknown, volatile?: Partial<VolatileParts>): string {
  return createCanonical(format, volatile).textOf(raw);
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

describe('the canonical form', () => {
  it.each(same)('%s: %s makes no difference', (format, _name, left, right) => {
    expect(textOf(format, left)).toBe(textOf(format, right));
  });

  it.each(different)('%s: %s makes a difference', (format, _name, left, right) => {
    expect(textOf(format, left)).not.toBe(textOf(format, right));
  });

  test.prop([fc.jsonValue(), fc.jsonValue()])(
    'is the same for the same data, and for no other',
    (left, right) => {
      const told = (value: unknown) => textOf('anthropic-messages', { data: value });
      expect(told(left) === told(right)).toBe(JSON.stringify(sorted(left)) === JSON.stringify(sorted(right)));
      expect(told(reversed(left))).toBe(told(left));
    },
  );

  test.prop([fc.string({ unit: 'binary', maxLength: 5 }), fc.string({ unit: 'binary', maxLength: 5 })])(
    'tells any two texts apart',
    (left, right) => {
      const told = (text: string) => textOf('openai-chat', user(`${text}\ud800`));
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
    expect(textOf('anthropic-messages', value)).toBe(textOf('anthropic-messages', json));
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
    expect(textOf('anthropic-messages', one, volatile)).toBe(textOf('anthropic-messages', other, volatile));
    const foreign = { ...one, content: [{ type: 'tool_use', id: 't2', note: 2 }] };
    expect(textOf('anthropic-messages', one, volatile)).not.toBe(
      textOf('anthropic-messages', foreign, volatile),
    );
    expect(createCanonical('anthropic-messages', volatile).version).not.toBe(
      createCanonical('anthropic-messages').version,
    );
  });

  it('takes cache markers out of a message that is kept, and nothing else', () => {
    const { withoutMarkers } = createCanonical('anthropic-messages');
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
