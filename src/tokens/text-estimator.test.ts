import { fc, test } from '@fast-check/vitest';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { describe, expect, it } from 'vitest';
import { estimateTextTokens } from './text-estimator.ts';
import { textEstimateError } from './text-estimator-weights.gen.ts';

const anyText = fc.oneof(
  fc.string({ maxLength: 400 }),
  fc.string({ unit: 'grapheme', maxLength: 200 }),
  fc.string({ unit: 'binary', maxLength: 200 }),
  fc
    .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 200 })
    .map((units) => String.fromCharCode(...units)),
);

/** No context is longer than this, so nothing further back can matter. */
const memoryChars = 16;

const paragraph =
  'A long conversation has to fit into a window of limited size. When it no longer does, the oldest rounds are ' +
  'summarised, and the summary takes their place. What the user asked for stays as it was.';
const code =
  'export function total(items: readonly Item[]): number {\n  let sum = 0;\n  for (const item of items) {\n' +
  '    if (item.price > 0) sum += item.price * item.count;\n  }\n  return sum;\n}\n';
const json = JSON.stringify(
  [1, 2, 3].map((id) => ({
    id,
    name: `item-${id}`,
    created: '2025-11-15T22:24:08Z',
    tags: ['new', 'open'],
    ok: true,
  })),
  null,
  2,
);
const log =
  '2025-11-15T22:24:08.113Z INFO [server] request completed path=/v1/messages status=200 duration=12.4ms\n' +
  '2025-11-15T22:24:09.871Z WARN [server] slow query detected duration=1204.9ms rows=18342\n';

describe('estimateTextTokens', () => {
  it.each([
    { what: 'English prose', text: paragraph, tolerance: 0.08 },
    { what: 'TypeScript', text: code, tolerance: 0.12 },
    { what: 'JSON', text: json, tolerance: 0.1 },
    { what: 'a log', text: log, tolerance: 0.12 },
    { what: 'a list of numbers', text: '12, 345, 6789, 10111, 213141, 5161718, 19202122', tolerance: 0.1 },
    { what: 'base64', text: btoa(paragraph + code).repeat(2), tolerance: 0.12 },
    { what: 'indentation', text: `${'        return;\n'.repeat(40)}`, tolerance: 0.15 },
    {
      what: 'Chinese',
      text: '长时间的对话必须放进有限的窗口。放不下的时候，最早的部分会被总结，总结代替原文。',
      tolerance: 0.2,
    },
    {
      what: 'Russian',
      text: 'Длинный разговор должен помещаться в окно ограниченного размера, иначе он сжимается.',
      tolerance: 0.2,
    },
    {
      what: 'German',
      text: 'Ein langes Gespräch muss in ein Fenster begrenzter Größe passen, sonst wird es gekürzt.',
      tolerance: 0.2,
    },
  ])('comes close to the exact count on $what', ({ text, tolerance }) => {
    const exact = countTokens(text);
    expect(Math.abs(estimateTextTokens(text) / exact - 1)).toBeLessThan(tolerance);
  });

  it.each(['', 'a', ' ', '\n', '\0', '\ud800', '\udc00x', 'é', '天', '\u{1f600}'])(
    'is within two tokens on %j',
    (text) => {
      expect(Math.abs(estimateTextTokens(text) - countTokens(text))).toBeLessThanOrEqual(2);
    },
  );

  it('is 0 for an empty text', () => {
    expect(estimateTextTokens('')).toBe(0);
  });

  test.prop([anyText])('is a number that is never negative and never more than 1.2 a byte', (text) => {
    const tokens = estimateTextTokens(text);
    expect(tokens).toBeGreaterThanOrEqual(0);
    expect(tokens).toBeLessThanOrEqual(1.2 * Buffer.byteLength(text));
  });

  test.prop([anyText, anyText])('hardly changes when two texts are joined', (left, right) => {
    const joined = estimateTextTokens(left + right);
    const apart = estimateTextTokens(left) + estimateTextTokens(right);
    expect(Math.abs(joined - apart)).toBeLessThanOrEqual(memoryChars * 1.2);
  });

  test.prop([anyText.filter((text) => text.length > 0), fc.integer({ min: 2, max: 60 })])(
    'does not shrink when a text is repeated',
    (text, times) => {
      expect(estimateTextTokens(text.repeat(times))).toBeGreaterThanOrEqual(estimateTextTokens(text));
    },
  );

  test.prop([anyText])('gives the same answer twice, whatever came in between', (text) => {
    const first = estimateTextTokens(text);
    estimateTextTokens(paragraph.repeat(300));
    expect(estimateTextTokens(text)).toBe(first);
  });
});

describe('estimateTextTokens on long texts', () => {
  // Adding a text after filler of any length adds the same weight, wherever buffers and lanes happen to be cut.
  it.each(['a', ' ', 'é', '天', '\u{1f600}', 'x1'])(
    'does not depend on where a text after %j is cut',
    (unit) => {
      const tail = `${code}日本語と\u{1f680}\u{1f680}${log}`;
      const added = (count: number) => {
        const filler = unit.repeat(count);
        return estimateTextTokens(filler + tail) - estimateTextTokens(filler);
      };
      const expected = added(64);
      for (let count = 65; count < 40_000; count = Math.ceil(count * 1.013))
        expect(added(count)).toBe(expected);
      // The scratch buffer takes 10,922 UTF-16 units at a time.
      for (let count = 10_700; count < 10_940; count++) expect(added(count)).toBe(expected);
    },
  );

  it('keeps pairs whole at the end of a buffer', () => {
    const rocket = '\u{1f680}';
    const perPair = estimateTextTokens(rocket.repeat(2000)) - estimateTextTokens(rocket.repeat(1999));
    for (const lead of ['', 'x']) {
      const [long, longer] = [20_000, 30_000].map((count) => estimateTextTokens(lead + rocket.repeat(count)));
      expect(longer! - long!).toBeCloseTo(10_000 * perPair, 6);
    }
  });

  it('grows in proportion to what is repeated', () => {
    const once = estimateTextTokens(paragraph);
    expect(estimateTextTokens(paragraph.repeat(1000)) / (1000 * once)).toBeCloseTo(1, 1);
  });
});

describe('textEstimateError', () => {
  it('states a mean below the 95th percentile, both small', () => {
    expect(textEstimateError.meanRelative).toBeGreaterThan(0);
    expect(textEstimateError.meanRelative).toBeLessThan(textEstimateError.p95Relative);
    expect(textEstimateError.p95Relative).toBeLessThan(0.2);
  });
});
