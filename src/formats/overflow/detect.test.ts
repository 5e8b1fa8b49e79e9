import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { bareWordings, lookAlikes, mediaWordings, overflowCodes } from './bare-wordings.ts';
import { parseOverflow } from './detect.ts';
import { capturedNumbers, numberedWordings, rateWindowWording, type Wording } from './wordings.ts';

const rows: readonly Wording[] = [...numberedWordings, rateWindowWording, ...mediaWordings, ...bareWordings];
const patterns = [...rows, ...lookAlikes].map(({ pattern }) => pattern);

describe.each(rows)('the wording of $provider: $example', (row) => {
  it('states the numbers that the row says', () => {
    const match = row.pattern.exec(row.example);

    expect(match).not.toBeNull();
    expect(capturedNumbers(match!)).toEqual(row.numbers ?? {});
  });

  it('is found by its own row and not by an earlier one', () => {
    const found = parseOverflow(row.example);
    const first = rows.find(({ pattern }) => pattern.test(row.example));

    expect(first).toBe(row);
    expect(found?.provider).toBe(row.provider);
    expect([row.kind ?? 'prompt-too-long', 'output-too-large']).toContain(found?.kind);
  });

  it('is found in upper case, wrapped over lines, and with escaped signs', () => {
    const variants = [
      row.example.toUpperCase(),
      row.example.replaceAll(' ', '\n  '),
      row.example.replaceAll('>', String.raw`\u003e`).replaceAll("'", '\u2019'),
    ];

    expect(variants.map((text) => parseOverflow(text)?.provider)).toEqual(variants.map(() => row.provider));
  });
});

describe.each(lookAlikes)('the look-alike "$example"', ({ pattern, example }) => {
  it('is no overflow, even beside the words of one', () => {
    expect(pattern.test(example)).toBe(true);
    expect(parseOverflow(example)).toBeUndefined();
    expect(parseOverflow(`${example} Prompt is too long.`)).toBeUndefined();
    expect(parseOverflow({ message: example }, { status: 413 })).toBeUndefined();
  });
});

describe.each(overflowCodes)('the code $code', ({ code, provider, kind = 'prompt-too-long' }) => {
  it('settles the matter without known words', () => {
    expect(parseOverflow({ error: { code, message: 'no' } }, { status: 400 })).toMatchObject({
      kind,
      provider,
    });
    expect(parseOverflow({ error: { type: code } })).toMatchObject({ kind, provider });
  });

  it('takes numbers from the words beside it', () => {
    const error = { code, message: 'prompt is too long: 12 tokens > 10 maximum' };

    expect(parseOverflow({ error })).toMatchObject({ kind: 'prompt-too-long', excessTokens: 2 });
  });
});

describe('patterns', () => {
  it('have only bounded quantifiers, so that no search costs more than its length times a constant', () => {
    const unbounded = patterns.filter(({ source }) => /[*+]|\{\d+,\}/.test(source.replaceAll(/\\./g, '')));

    expect(patterns.length).toBeGreaterThan(60);
    expect(unbounded).toEqual([]);
  });

  test.prop([fc.constantFrom(...rows), fc.nat(), fc.integer({ min: 1, max: 3000 }), fc.boolean()], {
    numRuns: 300,
  })('come back from long near-misses', ({ example }, cut, times, digits) => {
    const piece = digits
      ? example.replaceAll(/\d+/g, '9'.repeat(40))
      : example.slice(0, cut % example.length);

    expect(() => parseOverflow(piece.repeat(times))).not.toThrow();
  });
});

describe('numbers', () => {
  it.each([
    { written: '1,213,462', read: 1_213_462 },
    { written: '1_213_462', read: 1_213_462 },
    { written: "1'213'462", read: 1_213_462 },
    { written: '1\u202f213\u202f462', read: 1_213_462 },
    { written: '1213462', read: 1_213_462 },
    { written: '12134629999999', read: undefined },
  ])('reads $written', ({ written, read }) => {
    const overflow = parseOverflow(`prompt is too long: ${written} tokens > 200,000 maximum`);

    expect(overflow).toMatchObject({ kind: 'prompt-too-long', provider: 'anthropic' });
    expect(overflow?.actualTokens).toBe(read);
  });

  it('does not read a part of a number that is too long to be a count', () => {
    const overflow = parseOverflow('prompt is too long: 213462 tokens > 20000000000000 maximum');

    expect(overflow).toMatchObject({ kind: 'prompt-too-long', limitTokens: undefined });
  });

  test.prop([fc.integer({ min: 0, max: 1e9 }), fc.integer({ min: 0, max: 1e9 })])(
    'an excess is the difference, and only when something is left',
    (actual, limit) => {
      const excess = parseOverflow(`prompt is too long: ${actual} tokens > ${limit} maximum`)?.excessTokens;

      expect(excess).toBe(limit > 0 && actual > limit ? actual - limit : undefined);
    },
  );
});

describe('status', () => {
  const message = 'prompt is too long: 12 tokens > 10 maximum';

  it.each([
    { why: 'the hint goes before the body', error: { code: 400, message }, status: 500, found: false },
    {
      why: 'a hint of success leaves it to the body',
      error: { code: 429, message },
      status: 200,
      found: false,
    },
    {
      why: 'the outer error goes before the inner',
      error: { status: 503, error: { code: 400, message } },
      found: false,
    },
    {
      why: 'an inner status counts when the outer has none',
      error: { cause: { status: 429, message } },
      found: false,
    },
    { why: 'the status may stand in the message', error: `429 ${message}`, found: false },
    { why: 'and behind the name of an error', error: `APIError: 503 ${message}`, found: false },
    {
      why: 'a number of tokens at the head is no status',
      error: `429 tokens given, ${message}`,
      found: true,
    },
    { why: '400 is the usual status', error: { status: 400, message }, found: true },
    { why: 'a status as text counts', error: { status: '400', message }, found: true },
    { why: 'a word as status does not', error: { status: 'INVALID_ARGUMENT', message }, found: true },
    { why: 'none is needed', error: { message }, found: true },
    { why: '402 is about money', error: { status: 402, message }, found: false },
  ])('$why', ({ error, status, found }) => {
    expect(parseOverflow(error, { status }) !== undefined).toBe(found);
  });

  it('413 says by itself that the body is too large', () => {
    expect(parseOverflow(undefined, { status: 413 })).toEqual({
      kind: 'body-too-large',
      provider: 'http',
      message: 'HTTP 413',
    });
    expect(parseOverflow('413 status code (no body)')?.kind).toBe('body-too-large');
  });

  it('only the wording that comes with 500 is accepted with 500', () => {
    expect(parseOverflow('Context size has been exceeded.', { status: 500 })?.provider).toBe('llama.cpp');
    expect(parseOverflow('Context size has been exceeded.', { status: 502 })).toBeUndefined();
  });
});
