import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findJsonFault } from './json-fault.ts';

function faultOf(text: string) {
  return findJsonFault(Buffer.from(text));
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

describe('findJsonFault', () => {
  it.each([
    { text: '{"a":oops}', index: 5, reason: "expected a value, found 'oops'" },
    { text: '{a:1}', index: 1, reason: "expected a key in double quotes or '}', found 'a'" },
    { text: '{"a":1,}', index: 7, reason: "expected a key in double quotes, found '}'" },
    { text: '{"a" 1}', index: 5, reason: "expected ':' after the key, found '1'" },
    { text: '{"a":1 "b"}', index: 7, reason: "expected ',' or '}', found '\"'" },
    { text: '[1 2]', index: 3, reason: "expected ',' or ']', found '2'" },
    { text: '[,1]', index: 1, reason: "expected a value or ']', found ','" },
    { text: '[1}', index: 2, reason: "expected ',' or ']', found '}'" },
    { text: '[01]', index: 1, reason: "expected a value or ']', found '01'" },
    { text: "{'a':1}", index: 1, reason: "expected a key in double quotes or '}', found '''" },
    { text: '["a\tb"]', index: 3, reason: 'unescaped byte 0x09 in a string' },
    { text: '["\\x"]', index: 2, reason: 'a backslash in a string that begins no escape' },
    { text: '["\\u12g4"]', index: 2, reason: 'a backslash in a string that begins no escape' },
    { text: '1 2', index: 2, reason: "expected the end, found '2'" },
    { text: '[\u00e9]', index: 1, reason: "expected a value or ']', found '\u00e9'" },
  ])('finds at $index of $text: $reason', ({ text, index, reason }) => {
    expect(faultOf(text)).toEqual({ index, reason });
  });

  it('agrees with the parser about every text that was changed in one place', () => {
    const change = fc.constantFrom(
      '',
      '"',
      ',',
      ':',
      '{',
      '}',
      '[',
      ']',
      '0',
      '-',
      '.',
      'e',
      'x',
      '\\',
      '\n',
      'u',
    );
    fc.assert(
      fc.property(fc.json({ maxDepth: 3 }), fc.nat(), change, (text, seed, inserted) => {
        const index = seed % text.length;
        const changed = `${text.slice(0, index)}${inserted}${text.slice(index + 1)}`;
        // A space behind it ends a number or a literal that is cut.
        const fault = faultOf(`${changed} `);
        if (fault !== undefined) expect(isJson(changed)).toBe(false);
        else if (isClosed(changed)) expect(isJson(changed)).toBe(true);
      }),
      { numRuns: 3000 },
    );
  });

  it('finds nothing wrong with the beginning of a value', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 3 }), fc.nat(), (text, seed) => {
        expect(faultOf(text.slice(0, seed % text.length))).toBeUndefined();
      }),
      { numRuns: 1000 },
    );
  });
});

/** Whether every string and bracket is closed, so that the text cannot be the mere beginning of a value. */
function isClosed(text: string): boolean {
  const outside = text.replaceAll(/"(?:[^"\\]|\\.)*"/gs, '0');
  const opened = outside.match(/[[{]/g)?.length ?? 0;
  const closed = outside.match(/[\]}]/g)?.length ?? 0;
  return opened === closed && !outside.includes('"') && outside.trim() !== '';
}
