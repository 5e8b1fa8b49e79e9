import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseJson } from './lossless-json.ts';

describe('parseJson', () => {
  it.each([
    '9007199254740993',
    '-12345678901234567890',
    '[12345678901234567890,1]',
    '{"a":{"b":100000000000000000000000}}',
    '1e400',
    '{"a":-1.5E+999}',
    `{"a":${'9'.repeat(400)}}`,
    '{"__proto__":12345678901234567890}',
  ])('writes %s back digit by digit', (text) => {
    expect(JSON.stringify(parseJson(text))).toBe(text);
  });

  it.each([
    { text: '9007199254740991', why: 'it is safe' },
    { text: '9007199254740994', why: 'a double keeps it' },
    { text: '1e300', why: 'it does not overflow' },
    { text: '0.12345678901234567890', why: 'it is no integer' },
    { text: '1e-400', why: 'it is too small, not too large' },
  ])('leaves $text a number, because $why', ({ text }) => {
    expect(parseJson(text)).toBe(JSON.parse(text));
  });

  it('does not take digits in a string for a number', () => {
    const text = '{"a":"12345678901234567890, 1e999"}';

    expect(parseJson(text)).toStrictEqual(JSON.parse(text));
  });

  it('throws what JSON.parse throws', () => {
    expect(() => parseJson('[12345678901234567890')).toThrow(SyntaxError);
    expect(() => parseJson('{a}')).toThrow(SyntaxError);
  });

  it('gives what JSON.parse gives for any value', () => {
    fc.assert(
      fc.property(fc.json({ stringUnit: 'binary' }), (text) => {
        expect(JSON.stringify(parseJson(text))).toBe(JSON.stringify(JSON.parse(text)));
      }),
    );
  });

  it('keeps any integer wherever it stands', () => {
    fc.assert(
      fc.property(
        fc.bigInt(),
        fc.constantFrom('$', '[$]', '[1, $]', '{"a":$}', '{"a":\n$ }'),
        (integer, frame) => {
          const parsed = parseJson(frame.replace('$', String(integer)));

          expect(JSON.stringify(parsed)).toContain(String(integer));
        },
      ),
    );
  });
});
