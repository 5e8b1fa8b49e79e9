import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseJson } from '../../transcripts/input/lossless-json.ts';
import { beginningOf, rewriteBody, topLevelString } from './body-bytes.ts';
import { createBodyMemory } from './body-memory.ts';
import { type ParsedBody, parseBody } from './parsed-body.ts';

const encode = (text: string) => new TextEncoder().encode(text);
const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes);

/** JSON in whatever spelling: blanks anywhere, escapes, keys that stand twice. */
const blanks = fc.stringMatching(/^[ \n\t\r]{0,2}$/);
const message = fc.oneof(
  fc.record({ role: fc.constantFrom('user', 'assistant'), content: fc.string({ unit: 'grapheme' }) }),
  fc.dictionary(fc.constantFrom('a', '__proto__', 'constructor', '0', 'two words', 'é'), fc.jsonValue()),
);
const spelt = fc
  .tuple(
    fc.array(message, { maxLength: 8 }),
    fc.array(fc.tuple(fc.constantFrom('model', 'x', '__proto__', '1'), fc.jsonValue())),
    blanks,
  )
  .map(([messages, others, blank]) => {
    const list = messages.map((each) => JSON.stringify(each)).join(`${blank},${blank}`);
    const members = others.map(
      ([key, value]) => `${JSON.stringify(key)}${blank}:${blank}${JSON.stringify(value)}`,
    );
    const all = [...members.slice(0, 1), `"messages":${blank}[${blank}${list}${blank}]`, ...members.slice(1)];
    return `${blank}{${blank}${all.join(`${blank},${blank}`)}${blank}}${blank}`;
  });

describe('a body that is read piece by piece', () => {
  it('gives what JSON.parse gives, with any body before it', () => {
    fc.assert(
      fc.property(spelt, spelt, (text, other) => {
        const earlier = parseBody(encode(other), 'messages', undefined);
        // As text, since matchers take keys such as `constructor` for more than keys.
        expect(JSON.stringify(parseBody(encode(text), 'messages', earlier)?.value)).toBe(
          JSON.stringify(JSON.parse(text)),
        );
      }),
    );
  });

  it('refuses what JSON.parse refuses', () => {
    fc.assert(
      fc.property(spelt, fc.nat(), fc.string({ maxLength: 2 }), (text, place, garbage) => {
        const at = place % (text.length + 1);
        const broken = text.slice(0, at) + garbage + text.slice(at + (place % 3));
        const whole = parseBody(encode(text), 'messages', undefined);
        const parsed = parseBody(encode(broken), 'messages', whole);
        let expected: unknown;
        try {
          // The one that keeps the digits of large numbers.
          expected = parseJson(decode(encode(broken)));
        } catch {
          expected = undefined;
        }
        const isObject = typeof expected === 'object' && expected !== null && !Array.isArray(expected);
        expect(JSON.stringify(parsed?.value)).toBe(isObject ? JSON.stringify(expected) : undefined);
      }),
      { numRuns: 2000 },
    );
  });

  it('gives the very same values for what stood there before, also behind a change', () => {
    const messages = Array.from({ length: 20 }, (_, index) => ({
      role: 'user',
      content: `message ${index}`,
    }));
    const first = parseBody(
      encode(JSON.stringify({ tools: [{ a: 1 }], messages, last: { b: 1 } })),
      'messages',
      undefined,
    );
    const changed = messages.with(10, { role: 'user', content: 'another one' });
    const second = parseBody(
      encode(
        JSON.stringify({
          tools: [{ a: 1 }],
          messages: [...changed, { role: 'user', content: 'new' }],
          last: { b: 1 },
        }),
      ),
      'messages',
      first,
    );
    const before = first?.value['messages'] as readonly unknown[];
    const after = second?.value['messages'] as readonly unknown[];
    const isSame = after.map((each, index) => each === before[index]);
    expect(isSame).toEqual([...Array(10).fill(true), false, ...Array(9).fill(true), false]);
    expect(second?.value['tools']).toBe(first?.value['tools']);
    expect(second?.value['last']).toBe(first?.value['last']);
  });

  it.each(['[]', '"x"', '1', 'null', '', ' ', '{', '{"a"}', '{"a":1,}', '\ufeff{}', '{}x'])(
    'refuses %j',
    (text) => {
      expect(parseBody(encode(text), 'messages', undefined)).toBeUndefined();
    },
  );

  it('refuses bytes that are no UTF-8', () => {
    const bytes = Uint8Array.of(...encode('{"a":"'), 0xff, ...encode('"}'));
    expect(parseBody(bytes, 'messages', undefined)).toBeUndefined();
  });
});

describe('a body that is written anew', () => {
  it('is what JSON.stringify would write, as a value', () => {
    fc.assert(
      fc.property(spelt, fc.array(fc.nat()), fc.jsonValue(), (text, picks, made) => {
        const body = parseBody(encode(text), 'messages', undefined) as ParsedBody;
        const list = body.value['messages'];
        if (!Array.isArray(list)) return;
        const next = picks.map((pick) =>
          pick % 5 === 0 || list.length === 0 ? made : (list[pick % list.length] as unknown),
        );
        const after = { ...body.value, messages: next };
        if (Object.hasOwn(body.value, '__proto__')) return;
        expect(JSON.parse(decode(rewriteBody(body, after)))).toEqual(JSON.parse(JSON.stringify(after)));
      }),
    );
  });

  it('keeps the bytes of everything that is not changed', () => {
    const text =
      '{ "model" : "m\\u0041",\n "messages":[ {"a":1.0} ,{"b":1E2}, {"c":9007199254740993} ], "t": 1.50 }';
    const body = parseBody(encode(text), 'messages', undefined) as ParsedBody;
    const [, second, third] = body.value['messages'] as readonly unknown[];
    const after = { ...body.value, messages: [{ made: true }, second, third] };
    expect(decode(rewriteBody(body, after))).toBe(
      '{ "model" : "m\\u0041",\n "messages":[{"made":true},{"b":1E2}, {"c":9007199254740993}], "t": 1.50 }',
    );
    expect(decode(rewriteBody(body, { ...body.value, t: 2 }))).toBe(text.replace('1.50', '2'));
  });

  it('writes everything anew where fields came or went', () => {
    const body = parseBody(encode('{"a":1, "messages":[]}'), 'messages', undefined) as ParsedBody;
    expect(decode(rewriteBody(body, { messages: [] }))).toBe('{"messages":[]}');
    expect(decode(rewriteBody(body, { ...body.value, b: 2 }))).toBe('{"a":1,"messages":[],"b":2}');
  });
});

describe('what is looked for in bytes alone', () => {
  it('finds a field at the top and nowhere else', () => {
    const text = '{"a":{"model":"inner"},"s":"\\"model\\":\\"no\\"","model":"outer"}';
    expect(topLevelString(encode(text), 'model')).toBe('outer');
    expect(topLevelString(encode('{"model":1}'), 'model')).toBeUndefined();
    expect(topLevelString(encode('no JSON'), 'model')).toBeUndefined();
    expect(topLevelString(encode('{"model":"'), 'model')).toBeUndefined();
  });

  it('finds the same beginning however long a conversation becomes', () => {
    const list = Array.from({ length: 9 }, (_, index) => ({ role: 'user', content: `m${index}` }));
    const bodyOf = (length: number, system: string) =>
      encode(JSON.stringify({ system, messages: list.slice(0, length), tools: [] }));
    expect(beginningOf(bodyOf(9, 'a'))).toEqual(beginningOf(bodyOf(4, 'b')));
    expect(beginningOf(bodyOf(3, 'a'))).not.toEqual(beginningOf(bodyOf(4, 'a')));
  });

  it('takes no longer than it is long, whatever is in it', () => {
    const hostile = ['\\', '\\"', '"', '[', '{"a":[', '{"a":"\\\\'].map((piece) =>
      encode(piece.repeat(200_000)),
    );
    for (const bytes of hostile) {
      beginningOf(bytes);
      expect(parseBody(bytes, 'messages', undefined)).toBeUndefined();
    }
  });
});

describe('the memory of bodies', () => {
  it('holds no more than it may', () => {
    const memory = createBodyMemory(100_000);
    const textOf = (name: number) =>
      JSON.stringify({ messages: [{ content: `${name} ${'x'.repeat(30_000)}` }] });
    const values = [1, 2, 3, 4, 5].map((name) => memory.parse(encode(textOf(name)), 'messages')?.value);
    const again = [1, 2, 3, 4, 5].map((name) => memory.parse(encode(textOf(name)), 'messages')?.value);
    const first = (value: (typeof values)[number]) =>
      (value?.['messages'] as readonly unknown[] | undefined)?.[0];
    // Each of the second round pushed out the one that would have come next.
    expect(values.map((value, index) => first(value) === first(again[index]))).toEqual(Array(5).fill(false));
    const newest = memory.parse(encode(textOf(5)), 'messages')?.value;
    expect(first(newest)).toBe(first(again[4]));
  });
});
