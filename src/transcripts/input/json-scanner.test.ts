import { describe, expect, it } from 'vitest';
import { appendBytes, createByteWindow } from './byte-window.ts';
import { advanceScan, beginScan } from './json-scanner.ts';

function scanText(text: string, ...more: readonly string[]) {
  const window = createByteWindow();
  const scan = beginScan(0, text.charCodeAt(0));
  const stops = [text, ...more].map((chunk) => {
    appendBytes(window, Buffer.from(chunk), 0);
    return advanceScan(scan, window);
  });
  return { ...scan, stops };
}

describe('advanceScan', () => {
  it.each([
    { chunks: ['{"a":[1]} x'], stops: ['end'], position: 9, why: 'the brackets are closed' },
    { chunks: ['"a\\"b" '], stops: ['end'], position: 6, why: 'the quote is closed' },
    {
      chunks: ['"a\\\\" "'],
      stops: ['end'],
      position: 5,
      why: 'a backslash before the quote is itself escaped',
    },
    {
      chunks: ['"a\\', '" '],
      stops: ['starved', 'starved'],
      position: 5,
      why: 'the escape goes over a border',
    },
    {
      chunks: ['{"a":"}', '"}'],
      stops: ['starved', 'end'],
      position: 9,
      why: 'brackets in strings do not count',
    },
    {
      chunks: ['12', '3', ' '],
      stops: ['starved', 'starved', 'end'],
      position: 3,
      why: 'a number ends at a space',
    },
    { chunks: ['true{'], stops: ['end'], position: 4, why: 'a literal ends at a bracket' },
    { chunks: ['7\n'], stops: ['end'], position: 1, why: 'a number ends at a line break' },
    { chunks: ['{"a":\n1}'], stops: ['line-break'], position: 5, why: 'a line ends outside of strings' },
    { chunks: ['{"a\n'], stops: ['line-break'], position: 3, why: 'a line ends inside a string' },
  ])('answers $stops to $chunks, because $why', ({ chunks: [first = '', ...more], stops, position }) => {
    expect(scanText(first, ...more)).toMatchObject({ stops, position });
  });

  it.each([
    { text: '{"a":"12345678901234567890"}', hasWideNumber: false },
    { text: '{"a":123456789012345}', hasWideNumber: false },
    { text: '{"a":1234567890123456}', hasWideNumber: true },
    { text: '[0.30000000000000004,1e-7]', hasWideNumber: false },
    { text: '[1E5]', hasWideNumber: true },
  ])('sees in $text that a number may be wide: $hasWideNumber', ({ text, hasWideNumber }) => {
    expect(scanText(`${text}\n`)).toMatchObject({ hasWideNumber });
  });

  it('remembers the deepest nesting', () => {
    expect(scanText('[[],[[{}]],[]]')).toMatchObject({ deepest: 4, depth: 0 });
  });
});
