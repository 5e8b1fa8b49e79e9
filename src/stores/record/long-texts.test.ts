import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { deepFreeze } from '../../../test/support/deep-freeze.ts';
import { putLongText, takeLongTexts } from './long-texts.ts';

const LONG = 'x'.repeat(600);

/** What is read back from what was written. */
function written(list: readonly unknown[]): unknown {
  const { rest, texts } = takeLongTexts(list);
  const copy = JSON.parse(JSON.stringify(rest));
  for (const text of texts) expect(putLongText(copy, text)).toBe(true);
  return copy;
}

const anyText = fc.oneof(
  fc.string({ unit: fc.constantFrom('a', '"', '\\', '\u0000', 'é', '漢', '\ud83d\ude00'), maxLength: 12 }),
  fc.string({ unit: 'binary', minLength: 500, maxLength: 530 }),
  fc.constantFrom(LONG, `${LONG}\ud800`, `${LONG}\udc00 `, `é${LONG}`),
);
const { values } = fc.letrec<{ values: unknown }>((tie) => ({
  values: fc.oneof(
    { maxDepth: 16, withCrossShrink: true },
    anyText,
    fc.oneof(fc.integer(), fc.boolean(), fc.constant(null), fc.constant(undefined)),
    fc.array(tie('values'), { maxLength: 4 }),
    fc.dictionary(
      fc.oneof(fc.string({ maxLength: 6 }), fc.constantFrom('__proto__', 'toJSON', '0', '')),
      tie('values'),
      { maxKeys: 4 },
    ),
  ),
}));

describe('long texts beside the JSON', () => {
  test.prop([fc.array(values, { maxLength: 4 })])('are all where they were', (list) => {
    expect(written(list)).toStrictEqual(JSON.parse(JSON.stringify(list)));
  });

  test.prop([fc.array(values, { maxLength: 4 })])('leave the value as it is', (list) => {
    const { rest, texts } = takeLongTexts(deepFreeze(list));
    if (texts.length === 0) expect(rest).toBe(list);
  });

  it.each([
    { why: 'they are short', value: 'x'.repeat(511) },
    { why: 'they have half a surrogate', value: `${LONG}\ud800` },
    { why: 'they are deep down', value: JSON.parse(`${'['.repeat(20)}"${LONG}"${']'.repeat(20)}`) },
    { why: 'they could not be put back', value: JSON.parse(`{"__proto__":"${LONG}"}`) },
    { why: 'something writes itself', value: { toJSON: () => 'short', text: LONG } },
  ])('stay in it when $why', ({ value }) => {
    const list = [value];
    expect(takeLongTexts(list)).toEqual({ rest: list, texts: [] });
    expect(takeLongTexts(list).rest).toBe(list);
  });

  it('are taken from anywhere in a message', () => {
    const message = { role: 'user', content: [{ type: 'text', text: LONG }, 'short', LONG] };
    const { rest, texts } = takeLongTexts([message]);
    expect(texts.map(({ path }) => path)).toEqual([
      [0, 'content', 0, 'text'],
      [0, 'content', 2],
    ]);
    expect(JSON.stringify(rest)).not.toContain('xxx');
  });

  it('do not make more of deep values than JSON does', () => {
    let deep: unknown = LONG;
    for (let level = 0; level < 100_000; level++) deep = [deep];
    expect(takeLongTexts([deep]).texts).toEqual([]);
  });

  it.each([
    { why: 'there is nothing', value: [{}], path: [0, 'text'] },
    { why: 'there is another text', value: [{ text: 'here' }], path: [0, 'text'] },
    { why: 'the way leads nowhere', value: [null, 'text'], path: [0, 'a', 'b'] },
    { why: 'it is inherited', value: [{}], path: [0, 'constructor', 'name'] },
    { why: 'there is no way', value: [''], path: [] },
  ])('are not put where $why', ({ value, path }) => {
    const before = structuredClone(value);
    expect(putLongText(value, { path, text: LONG })).toBe(false);
    expect(value).toEqual(before);
  });
});
