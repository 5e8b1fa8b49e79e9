import { constants, gzipSync, zstdCompressSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RoundfoldError } from '../../conversation/errors.ts';
import { type BadInput, type JsonEntry, type ReadOptions, readJsonValues } from './json-values.ts';
import type { ByteSource } from './source.ts';

function sourceOf(content: string | Uint8Array, chunkBytes = 64 * 1024): ByteSource {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content;
  return {
    name: 'input',
    sizeBytes: bytes.length,
    async *open() {
      for (let start = 0; start < bytes.length; start += chunkBytes)
        yield bytes.subarray(start, start + chunkBytes);
    },
  };
}

async function read(source: ByteSource, options: ReadOptions = {}) {
  const entries: JsonEntry[] = [];
  const bad: BadInput[] = [];
  for await (const entry of readJsonValues(source, { ...options, onBadInput: (input) => bad.push(input) })) {
    entries.push(entry);
  }
  return { entries, bad };
}

/** Everything that was found, as one line of text each: `1:1 {"a":1}`, `1:2 element 1`, `2:4 ! reason`. */
async function outline(content: string | Uint8Array, chunkBytes?: number, options: ReadOptions = {}) {
  const lines: string[] = [];
  const onBadInput = ({ place, reason }: BadInput) => lines.push(`${place.line}:${place.column} ! ${reason}`);
  for await (const { value, place, kind } of readJsonValues(sourceOf(content, chunkBytes), {
    ...options,
    onBadInput,
  })) {
    lines.push(
      `${place.line}:${place.column} ${kind === 'element' ? 'element ' : ''}${JSON.stringify(value)}`,
    );
  }
  return lines;
}

async function refusalOf(content: string | Uint8Array, options?: ReadOptions): Promise<RoundfoldError> {
  const refusal = await read(sourceOf(content), options).catch((error: unknown) => error);
  expect(refusal).toBeInstanceOf(RoundfoldError);
  return refusal as RoundfoldError;
}

const cut = 'ends in the middle of a value';

describe('readJsonValues finds values', () => {
  it.each([
    { layout: 'on lines', text: '{"a":1}\n{"b":2}\n', found: ['1:1 {"a":1}', '2:1 {"b":2}'] },
    { layout: 'without a last line break', text: '{"a":1}\n{"b":2}', found: ['1:1 {"a":1}', '2:1 {"b":2}'] },
    {
      layout: 'on lines that end in CRLF',
      text: '{"a":1}\r\n{"b":2}\r\n',
      found: ['1:1 {"a":1}', '2:1 {"b":2}'],
    },
    { layout: 'between blank lines', text: '\n\n1\n \n\t2\n\n', found: ['3:1 1', '5:2 2'] },
    {
      layout: 'two on a line',
      text: '{"a":1}{"b":2}\n{"c":3}',
      found: ['1:1 {"a":1}', '1:8 {"b":2}', '2:1 {"c":3}'],
    },
    {
      layout: 'scalars side by side',
      text: '1 true"x""y"null',
      found: ['1:1 1', '1:3 true', '1:7 "x"', '1:10 "y"', '1:13 null'],
    },
    { layout: 'before the NULs of a crash', text: '{"a":1}\n\0\0\0\0', found: ['1:1 {"a":1}'] },
    {
      layout: 'around the NULs of a crash',
      text: '{"a":1}\n\0\0{"b":2}\n',
      found: ['1:1 {"a":1}', '2:3 {"b":2}'],
    },
    { layout: 'pretty-printed', text: '{\n  "a": {\n    "b": 1\n  }\n}\n', found: ['1:1 {"a":{"b":1}}'] },
    {
      layout: 'pretty-printed one after the other',
      text: '{\n  "a": 1\n}\n{\n  "b": 2\n}',
      found: ['1:1 {"a":1}', '4:1 {"b":2}'],
    },
    {
      layout: 'pretty-printed after one on a line',
      text: '{}\n{\n  "b": 2\n}\n3',
      found: ['1:1 {}', '2:1 {"b":2}', '5:1 3'],
    },
    { layout: 'over lines without indentation', text: '{\n"a":1,\n"b":\n2\n}', found: ['1:1 {"a":1,"b":2}'] },
    { layout: 'behind a byte order mark', text: '\ufeff{"a":1}\n2', found: ['1:1 {"a":1}', '2:1 2'] },
    {
      layout: 'in an array',
      text: '[1, {"a":[2]},"x"]',
      found: ['1:2 element 1', '1:5 element {"a":[2]}', '1:15 element "x"'],
    },
    {
      layout: 'in a pretty-printed array',
      text: '[\n  1,\n  {\n    "a": 2\n  }\n]',
      found: ['2:3 element 1', '3:3 element {"a":2}'],
    },
    {
      layout: 'in an array with a line for each',
      text: '[\n{"a":1},\n{"b":2}\n]',
      found: ['2:1 element {"a":1}', '3:1 element {"b":2}'],
    },
    {
      layout: 'in an array that opens on the first line',
      text: '[{"a":1},\n{"b":2}]',
      found: ['1:2 element {"a":1}', '2:1 element {"b":2}'],
    },
    {
      layout: 'in an array with leading commas',
      text: '[1\n,2\n]',
      found: ['1:2 element 1', '2:2 element 2'],
    },
    { layout: 'in arrays on lines', text: '[1]\n[2]\n3', found: ['1:2 element 1', '2:2 element 2', '3:1 3'] },
    { layout: 'and an empty array as a document', text: '[ ]\n1', found: ['1:1 []', '2:1 1'] },
  ])('$layout', async ({ text, found }) => {
    expect(await outline(text)).toEqual(found);
    expect(await outline(text, 1)).toEqual(found);
  });

  it('counts bytes from the beginning of the file, the byte order mark included', async () => {
    const { entries } = await read(sourceOf('\ufeff"é"\n2'));

    expect(entries.map(({ place }) => place)).toEqual([
      { source: 'input', line: 1, column: 1, byte: 3 },
      { source: 'input', line: 2, column: 1, byte: 8 },
    ]);
  });

  it('tells the elements of one array from those of the next', async () => {
    const { entries } = await read(sourceOf('[1,2]\n[3]\n4'));

    expect(entries.map(({ document }) => document)).toEqual([0, 0, 1, 2]);
  });
});

describe('readJsonValues passes over what is no JSON', () => {
  it.each([
    {
      fault: 'a line cut in a string',
      text: '1\n{"a":"x\n{"b":2}',
      found: ['1:1 1', `2:8 ! ${cut}`, '3:1 {"b":2}'],
    },
    {
      fault: 'a line cut behind a colon',
      text: '1\n{"a":\n{"b":2}\n{"c":3}',
      found: ['1:1 1', `2:6 ! ${cut}`, '3:1 {"b":2}', '4:1 {"c":3}'],
    },
    {
      fault: 'a first line cut behind a colon',
      text: '{"a":\n{"b":2}\n{"c":3}',
      found: [`1:6 ! ${cut}`, '2:1 {"b":2}', '3:1 {"c":3}'],
    },
    {
      fault: 'a first line cut in a string',
      text: '{"a":"b\r\n{"c":3}',
      found: [`1:8 ! ${cut}`, '2:1 {"c":3}'],
    },
    {
      fault: 'a first line cut behind a comma in an array',
      text: '[1,\n{"b":2}\n{"c":3}',
      found: ['1:2 element 1', `1:4 ! ${cut}`, '2:1 {"b":2}', '3:1 {"c":3}'],
    },
    {
      fault: 'two lines of which the first is a cut array',
      text: '[1,\n{"b":2}',
      found: ['1:2 element 1', `1:4 ! ${cut}`, '2:1 {"b":2}'],
    },
    {
      fault: 'a cut array on a later line',
      text: '0\n[1,{"x":\n{"b":2}',
      found: ['1:1 0', '2:2 element 1', `2:9 ! ${cut}`, '3:1 {"b":2}'],
    },
    { fault: 'a last line that is cut', text: '{"a":1}\n{"b":[2,', found: ['1:1 {"a":1}', `2:9 ! ${cut}`] },
    { fault: 'a cut literal', text: '1\ntru\n2', found: ['1:1 1', `2:4 ! ${cut}`, '3:1 2'] },
    {
      fault: 'a value and a cut one on a line',
      text: '{"a":1}{"b":\n2',
      found: ['1:1 {"a":1}', `1:13 ! ${cut}`, '2:1 2'],
    },
    {
      fault: 'a line without its beginning',
      text: '1\nllo","b":2}\n3',
      found: ['1:1 1', "2:1 ! expected a value, found 'llo'", '3:1 3'],
    },
    {
      fault: 'a line that now begins with a key',
      text: '1\n"b":2}\n3',
      found: ['1:1 1', "2:4 ! expected the end of the line, found ':'", '3:1 3'],
    },
    {
      fault: 'several faults on a line, once',
      text: '{"a":},"b":x}\n3',
      found: ["1:6 ! expected a value, found '}'", '2:1 3'],
    },
    {
      fault: 'commas behind lines',
      text: '{"a":1},\n{"b":2}',
      found: ['1:1 {"a":1}', "1:8 ! expected a value, found ','", '2:1 {"b":2}'],
    },
    {
      fault: 'a bad value in a document',
      text: '{\n  "a": NaN\n}\n{"b":2}',
      found: ["2:8 ! expected a value, found 'NaN'", '4:1 {"b":2}'],
    },
    {
      fault: 'a line break in a string of a document',
      text: '{\n  "a": "x\n  "b": 1\n}\n{\n  "c": 1\n}',
      found: ['2:10 ! a line break inside a string', '5:1 {"c":1}'],
    },
    {
      fault: 'a cut document before a whole one',
      text: '{\n  "a": 1\n}\n{\n  "b": [\n{\n  "c": 1\n}',
      found: ['1:1 {"a":1}', `5:9 ! ${cut}`, '6:1 {"c":1}'],
    },
    {
      fault: 'a bad element',
      text: '[{"a":x},2]',
      found: ["1:7 ! expected a value, found 'x'", '1:10 element 2'],
    },
    {
      fault: 'a broken element of a pretty-printed array',
      text: '[\n  {\n    "a": "x\n  },\n  {\n    "b": 1\n  }\n]\n',
      found: ['3:12 ! a line break inside a string', '5:3 element {"b":1}'],
    },
    {
      fault: 'a comma missing between elements',
      text: '[\n  1\n  2\n]',
      found: ['2:3 element 1', "3:3 ! expected ',' or ']', found '2'", '3:3 element 2'],
    },
    {
      fault: 'a comma too many',
      text: '[1,]\n2',
      found: ['1:2 element 1', "1:4 ! expected a value, found ']'", '2:1 2'],
    },
    {
      fault: 'an array that is never closed',
      text: '[\n  1,\n  2',
      found: ['2:3 element 1', '3:3 element 2', `3:4 ! ${cut}`],
    },
  ])('$fault', async ({ text, found }) => {
    expect(await outline(text)).toEqual(found);
    expect(await outline(text, 1)).toEqual(found);
  });

  it('reads invalid UTF-8 with replacement characters and reports it only where no value comes out', async () => {
    const bytes = Buffer.from('"a\xff"\n\xff\n2', 'latin1');

    expect(await outline(bytes)).toEqual([
      '1:1 "a\ufffd"',
      '2:1 ! expected a value, found byte 0xff',
      '3:1 2',
    ]);
  });
});

describe('readJsonValues keeps its limits', () => {
  it.each([
    { text: '{"a":[[1]]}', maximumDepth: 3, found: ['1:1 {"a":[[1]]}', '2:1 2'] },
    {
      text: '{"a":[[1]]}',
      maximumDepth: 2,
      found: ['1:1 ! a value nested 3 levels deep, deeper than the limit of 2', '2:1 2'],
    },
  ])('of depth $maximumDepth', async ({ text, maximumDepth, found }) => {
    expect(await outline(`${text}\n2`, 7, { maximumDepth })).toEqual(found);
  });

  it('of size, in one chunk or many, with escapes at every border', async () => {
    const large = JSON.stringify({ a: '\\"'.repeat(20) });
    const text = `[${large},1]\n${large}\n2`;
    const reason = `! a value of ${large.length} bytes, larger than the limit of ${large.length - 1}`;
    const found = [`1:2 ${reason}`, `1:${large.length + 3} element 1`, `2:1 ${reason}`, '3:1 2'];

    for (const chunkBytes of [1, 2, 3, 5, 1000]) {
      expect(await outline(text, chunkBytes, { maximumValueBytes: large.length - 1 })).toEqual(found);
      expect(await outline(text, chunkBytes, { maximumValueBytes: 8 })).toHaveLength(4);
      expect(await outline(text, chunkBytes, { maximumValueBytes: large.length })).not.toContain('!');
    }
  });

  it.each([
    { shape: 'brackets', text: `${'['.repeat(1e6)}${']'.repeat(1e6)}\n2`, bad: 1 },
    { shape: 'open brackets', text: `2\n${'{"a":'.repeat(1e6)}`, bad: 1 },
    { shape: 'open brackets on lines', text: `${'[\n'.repeat(1e5)}2`, bad: 1e5 },
    { shape: 'open objects on lines', text: `${'{"a":\n'.repeat(1e5)}2`, bad: 1e5 },
    { shape: 'indented open objects', text: `2\n${' {"a":\n'.repeat(1e5)}`, bad: 1e5 },
    { shape: 'open strings on lines', text: `${'"x\n'.repeat(1e5)}2`, bad: 1e5 },
    { shape: 'backslashes', text: `2\n"${'\\'.repeat(1e6)}`, bad: 1 },
    { shape: 'escaped quotes', text: `2\n"${'\\"'.repeat(1e6)}`, bad: 1 },
  ])('of time: a million $shape do not make it slow', async ({ text, bad }) => {
    const result = await read(sourceOf(text));

    expect(result.entries.map(({ value }) => value)).toEqual([2]);
    expect(result.bad).toHaveLength(bad);
  });

  it.each([
    { shape: 'objects', text: '{"a":1}'.repeat(2e5) },
    { shape: 'elements', text: `[${'{"a":1},'.repeat(2e5)}{"a":1}]` },
    { shape: 'elements that are never closed', text: `[${'{"a":1},'.repeat(2e5)}` },
  ])('of time: a line of 200,000 $shape is not searched for its end at each of them', async ({ text }) => {
    const { entries } = await read(sourceOf(text));

    expect(entries.length).toBeGreaterThanOrEqual(2e5);
  });

  it('takes a single line of 100 MB', async () => {
    const text = 'x'.repeat(100e6);
    const { entries } = await read(sourceOf(`{"a":"${text}"}\n2`));

    expect(entries).toHaveLength(2);
    expect(entries[0]?.value).toEqual({ a: text });
  });
});

describe('readJsonValues gives what JSON.parse gives', () => {
  it.each([
    '{"__proto__":{"polluted":true},"constructor":1}',
    '{"a":1,"a":2}',
    '"\\ud800 \\u0000 \\ud83d\\ude00"',
    '{"":{"":[]}}',
    '-0.5e-3',
  ])('%s', async (text) => {
    const { entries } = await read(sourceOf(text, 3));

    expect(entries[0]?.value).toStrictEqual(JSON.parse(text));
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  it.each([
    '{"id":12345678901234567890,"n":1}',
    '{"a":{"id":-9007199254740993}}',
    '{"n":[1e999,-1E+400]}',
    '"x" 98765432109876543210',
  ])('but keeps the digits of %s in chunks of any size', async (text) => {
    for (let chunkBytes = 1; chunkBytes <= text.length; chunkBytes += 1) {
      const { entries } = await read(sourceOf(text, chunkBytes));

      expect(entries.map(({ value }) => JSON.stringify(value)).join(' ')).toBe(text);
    }
  });
});

describe('readJsonValues unpacks', () => {
  const text = '{"a":1}\n{"b":"é"}\n';

  it.each([
    { packing: 'gzip', pack: gzipSync },
    { packing: 'zstd', pack: zstdCompressSync },
  ])('$packing, also in several parts and chunks of any size', async ({ pack }) => {
    const bytes = Buffer.concat([pack('{"a":'), pack('1}\n'), pack(''), pack('{"b":"é"}\n')]);
    for (const chunkBytes of [1, 2, 7, bytes.length]) {
      expect(await outline(bytes, chunkBytes)).toEqual(['1:1 {"a":1}', '2:1 {"b":"é"}']);
    }
  });

  it('gzip that is padded with NULs', async () => {
    const bytes = Buffer.concat([gzipSync(text), Buffer.alloc(512)]);

    expect(await outline(bytes)).toEqual(['1:1 {"a":1}', '2:1 {"b":"é"}']);
    expect(await outline(bytes, 1)).toEqual(['1:1 {"a":1}', '2:1 {"b":"é"}']);
  });

  it.each([
    { packing: 'gzip', pack: (all: string) => gzipSync(all, { level: constants.Z_BEST_SPEED }) },
    { packing: 'zstd', pack: (all: string) => zstdCompressSync(all) },
  ])('what is left of truncated $packing, and says that it ends early', async ({ pack }) => {
    const random = fc.sample(fc.stringMatching(/^[a-z]{40}$/), { numRuns: 20_000, seed: 1 });
    const packed = pack(random.map((word) => `"${word}"\n`).join(''));
    const { entries, bad } = await read(sourceOf(packed.subarray(0, packed.length - 20)));

    expect(entries.length).toBeGreaterThan(15_000);
    expect(entries.map(({ value }) => value)).toEqual(random.slice(0, entries.length));
    expect(bad.at(-1)).toEqual({ place: { source: 'input' }, reason: 'compressed data ends early' });
  });

  it('reports progress in the bytes of the source', async () => {
    const packed = gzipSync(text);
    const progress: number[] = [];
    await read(sourceOf(packed, 10), { onProgress: (bytesRead) => progress.push(bytesRead) });

    expect(progress.at(-1)).toBe(packed.length);
    expect(progress).toEqual([...progress].sort((left, right) => left - right));
  });
});

describe('readJsonValues refuses an input without a value', () => {
  it.each([
    { input: 'an empty file', content: '', message: 'input is empty' },
    { input: 'a byte order mark alone', content: '\ufeff', message: 'input is empty' },
    { input: 'an empty gzip', content: gzipSync(''), message: 'input is empty' },
    { input: 'whitespace', content: ' \r\n\t\n', message: 'input holds only whitespace' },
    { input: 'NULs', content: '\0\0\0', message: 'input is binary data, not JSON: byte 0x00 at byte 0' },
    {
      input: 'a program',
      content: '\x7fELF\x02\x01',
      message: 'input is binary data, not JSON: byte 0x7f at byte 0',
    },
    {
      input: 'latin-1',
      content: Buffer.from('é: grün, blau', 'latin1'),
      message: 'input is binary data, not JSON: byte 0xe9 at byte 0',
    },
    {
      input: 'UTF-16 with a mark',
      content: Buffer.from('\ufeff{}', 'utf16le'),
      message: 'input is UTF-16, not UTF-8: it begins with 0xff 0xfe',
    },
    {
      input: 'UTF-16 without one',
      content: Buffer.from('{"a":1}', 'utf16le'),
      message: 'input is UTF-16, not UTF-8: it begins with 0x7b 0x00',
    },
    {
      input: 'a zip archive',
      content: 'PK\x03\x04\x14\0',
      message: "input is a zip archive: it begins with 'PK\\u{3}\\u{4}\\u{14}\\u{0}'",
    },
    {
      input: 'HTML',
      content: '<!doctype html>\n<html>',
      message: "input is HTML or XML, not JSON: it begins with '<!doctype html>\\u{a}<html>'",
    },
    {
      input: 'Markdown',
      content: '# Title\n',
      message: "input is Markdown, not JSON: it begins with '# Title\\u{a}'",
    },
    {
      input: 'YAML',
      content: 'key: 1\n',
      message:
        "input holds no readable JSON value: expected a value, found 'key' at line 1, column 1; it begins with 'key: 1\\u{a}'",
    },
    {
      input: 'a log',
      content: '[INFO] on\n',
      message:
        "input holds no readable JSON value: expected a value, found 'INFO' at line 1, column 2; it begins with '[INFO] on\\u{a}'",
    },
    {
      input: 'a cut document',
      content: '{\n  "a": [1,\n',
      message: 'input ends in the middle of a value at line 2, column 11',
    },
    {
      input: 'a cut gzip',
      content: gzipSync('{"a":1}').subarray(0, 12),
      message: 'input cannot be unpacked: compressed data ends early',
    },
    {
      input: 'a damaged gzip',
      content: Buffer.of(0x1f, 0x8b, 1, 2, 3),
      message: 'input cannot be unpacked: compressed data is damaged',
    },
  ])('$input', async ({ content, message }) => {
    const refusal = await refusalOf(content);

    expect(refusal.message).toBe(message);
    expect(refusal.code).toBe('input-not-understood');
    expect(refusal.place?.source).toBe('input');
    expect(refusal.remedy).toMatch(/\.$/);
  });

  it('quotes little of the content and nothing a terminal would act upon', async () => {
    const { message } = await refusalOf(`\x1b[31mred\u202e${'secret '.repeat(100)}`);

    expect(message).toContain("'\\u{1b}[31mred\\u{202e}secret secret s…'");
    expect(message.match(/secret/g)?.length).toBeLessThan(6);
    expect(message).toMatch(/^[\x20-\x7e…]+$/);
  });
});

describe('readJsonValues and its source', () => {
  function failingSource(error: unknown): ByteSource {
    return {
      name: 'input',
      sizeBytes: undefined,
      async *open() {
        yield Buffer.from('{"a":1}\n');
        throw error;
      },
    };
  }

  it('says how far it came when reading fails', async () => {
    const cause = Object.assign(new Error('i/o error'), { code: 'EIO' });
    const values: unknown[] = [];
    const reading = (async () => {
      for await (const { value } of readJsonValues(failingSource(cause))) values.push(value);
    })();

    await expect(reading).rejects.toMatchObject({
      code: 'input-not-understood',
      message: 'input could not be read on from byte 8 (EIO)',
      place: { source: 'input', byte: 8 },
      cause,
    });
    expect(values).toEqual([{ a: 1 }]);
  });

  it('stops at once when it is aborted, even while the source is silent', async () => {
    const controller = new AbortController();
    const silent: ByteSource = {
      name: 'input',
      sizeBytes: undefined,
      async *open() {
        yield Buffer.from('{"a":1}\n');
        await new Promise(() => {});
      },
    };
    const reading = (async () => {
      for await (const _entry of readJsonValues(silent, { signal: controller.signal }))
        controller.abort('enough');
    })();

    await expect(reading).rejects.toBe('enough');
  });

  it('closes the source when the reader leaves', async () => {
    let isClosed = false;
    const source: ByteSource = {
      name: 'input',
      sizeBytes: undefined,
      async *open() {
        try {
          for (;;) yield Buffer.from('{"a":1}\n');
        } finally {
          isClosed = true;
        }
      },
    };
    for await (const _entry of readJsonValues(source)) break;

    expect(isClosed).toBe(true);
  });
});

const json = fc.jsonValue({ maxDepth: 3, stringUnit: 'grapheme' });
const object = fc.dictionary(fc.string(), json);

/** A value as it is printed, with what stands behind it. */
const joins = [
  { name: 'lines', print: (value: unknown) => JSON.stringify(value), gap: '\n' },
  { name: 'CRLF', print: (value: unknown) => JSON.stringify(value), gap: '\r\n' },
  { name: 'spaces', print: (value: unknown) => JSON.stringify(value), gap: '  ' },
  { name: 'blank lines', print: (value: unknown) => JSON.stringify(value), gap: '\n\n' },
  { name: 'pretty', print: (value: unknown) => JSON.stringify(value, null, 2), gap: '\n' },
  {
    name: 'pretty with tabs and CRLF',
    print: (value: unknown) => JSON.stringify(value, null, '\t').replaceAll('\n', '\r\n'),
    gap: '\r\n',
  },
];

const wrappings = [
  { name: 'plain', wrap: (text: string) => Buffer.from(text) },
  { name: 'behind a byte order mark', wrap: (text: string) => Buffer.from(`\ufeff${text}`) },
  { name: 'gzip', wrap: (text: string) => gzipSync(text) },
  {
    name: 'gzip in two members',
    wrap: (text: string) => {
      const bytes = Buffer.from(text);
      return Buffer.concat([gzipSync(bytes.subarray(0, 3)), gzipSync(bytes.subarray(3))]);
    },
  },
];

/** What is expected of a top-level value: itself, or the elements of an array. */
function unfold(value: unknown): unknown[] {
  return Array.isArray(value) && value.length > 0 ? value : [value];
}

/** The line and the column of an offset, counted the slow way. */
function locate(text: string, index: number) {
  const before = Buffer.from(text.slice(0, index));
  const lineStart = before.lastIndexOf(0x0a) + 1;
  return { line: before.filter((byte) => byte === 0x0a).length + 1, column: before.length - lineStart + 1 };
}

function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

describe('readJsonValues, whatever the values, the joint, the packing and the chunks', () => {
  const chunkSize = fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 50 }), fc.constant(1 << 20));

  it.each(joins)('reads values joined by $name back, each at its place', async ({ print, gap }) => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(json, { minLength: 1, maxLength: 6 }),
        fc.constantFrom(...wrappings),
        chunkSize,
        async (values, { wrap }, chunkBytes) => {
          const printed = values.map(print);
          const text = printed.join(gap);
          const { entries, bad } = await read(sourceOf(wrap(text), chunkBytes));

          expect(bad).toEqual([]);
          expect(entries.map(({ value }) => plain(value))).toEqual(values.flatMap(unfold).map(plain));
          const starts = printed.map(
            (_, index) => printed.slice(0, index).join(gap).length + (index > 0 ? gap.length : 0),
          );
          values.forEach((value, index) => {
            if (unfold(value)[0] !== value) return;
            const { line, column } = locate(text, starts[index]!);
            expect(
              entries.filter(({ document }) => document === index).map(({ place }) => place),
            ).toMatchObject([{ line, column }]);
          });
        },
      ),
    );
  });

  it('reads objects with nothing between them back', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(object, { minLength: 1, maxLength: 6 }),
        chunkSize,
        async (values, chunkBytes) => {
          const { entries, bad } = await read(
            sourceOf(values.map((value) => JSON.stringify(value)).join(''), chunkBytes),
          );

          expect(bad).toEqual([]);
          expect(entries.map(({ value }) => value)).toEqual(values.map(plain));
        },
      ),
    );
  });

  it('reads the elements of an array back, each at its place', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(json, { minLength: 1, maxLength: 6 }),
        fc.constantFrom('', ' ', '\n', '\n  '),
        chunkSize,
        async (values, space, chunkBytes) => {
          const printed = values.map((value) => JSON.stringify(value));
          const text = `[${space}${printed.join(`,${space}`)}${space}]`;
          const { entries, bad } = await read(sourceOf(text, chunkBytes));

          expect(bad).toEqual([]);
          expect(entries.map(({ value, kind }) => [plain(value), kind])).toEqual(
            values.map((value) => [plain(value), 'element']),
          );
          let index = 1 + space.length;
          entries.forEach(({ place }, position) => {
            expect(place).toMatchObject(locate(text, index));
            index += printed[position]!.length + 1 + space.length;
          });
        },
      ),
    );
  });

  it('loses nothing but the line that was cut, and names that line once', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.oneof(object, fc.array(json, { minLength: 1 })), { minLength: 2, maxLength: 6 }),
        fc.nat(),
        fc.nat(),
        chunkSize,
        async (values, lineSeed, cutSeed, chunkBytes) => {
          const lines = values.map((value) => JSON.stringify(value));
          const cutLine = lineSeed % lines.length;
          const line = Buffer.from(lines[cutLine]!);
          const kept = line.subarray(0, 1 + (cutSeed % (line.length - 1)));
          const bytes = Buffer.concat(
            lines.flatMap((text, index) => [index === cutLine ? kept : Buffer.from(text), Buffer.from('\n')]),
          );
          const { entries, bad } = await read(sourceOf(bytes, chunkBytes)).catch(() => ({
            entries: [],
            bad: [],
          }));

          const others = entries.filter(({ place }) => place.line !== cutLine + 1);
          expect(others.map(({ value }) => plain(value))).toEqual(
            values
              .filter((_, index) => index !== cutLine)
              .flatMap(unfold)
              .map(plain),
          );
          expect(bad).toMatchObject([{ place: { line: cutLine + 1 }, reason: cut }]);
        },
      ),
      { numRuns: 500 },
    );
  });

  it('never throws anything but its own error, and says the same of any chunks', async () => {
    const soup = fc.array(
      fc.constantFrom(
        '{',
        '}',
        '[',
        ']',
        ',',
        ':',
        '"',
        '\n',
        ' ',
        '\\',
        '1',
        'true',
        '"a"',
        '{"a":',
        '\0',
        '\r',
        'é',
      ),
      { maxLength: 40 },
    );
    await fc.assert(
      fc.asyncProperty(soup, fc.integer({ min: 1, max: 5 }), async (parts, chunkBytes) => {
        const text = parts.join('');
        const tell = (size: number) =>
          outline(text, size).catch((error: unknown) => [
            RoundfoldError.is(error) ? error.message : 'something else',
          ]);
        const whole = await tell(1000);

        expect(whole).not.toContain('something else');
        expect(await tell(chunkBytes)).toEqual(whole);
      }),
      { numRuns: 2000 },
    );
  });
});
