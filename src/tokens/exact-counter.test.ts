import { fc, test } from '@fast-check/vitest';
import { countTokens as countCl100k } from 'gpt-tokenizer/encoding/cl100k_base';
import { countTokens as countO200k } from 'gpt-tokenizer/encoding/o200k_base';
import { describe, expect, it } from 'vitest';
import { RoundfoldError } from '../conversation/errors.ts';
import { type Encoding, loadExactCounter, type Tokenizer } from './exact-counter.ts';

const plain = { disallowedSpecial: new Set<string>() };
const bare = {
  o200k: (text: string) => countO200k(text, plain),
  cl100k: (text: string) => countCl100k(text, plain),
};
const counters = { o200k: await loadExactCounter('o200k'), cl100k: await loadExactCounter('cl100k') };
const encodings: readonly Encoding[] = ['o200k', 'cl100k'];

/** Sentences of many kinds, different from each other, so many characters long. */
function ordinaryText(sizeChars: number): string {
  const lines: string[] = [];
  for (let size = 0, index = 0; size < sizeChars; index++) {
    const line = [
      `The ${index}th reader didn't find it's page, so they'll ask (again).`,
      `  const value${index} = items.map((item) => item.size / ${index * 37});\r`,
      `第${index}章：今天的天气很好，我们去公园散步吧。`,
      `\t{"id": ${index}, "path": "/srv/data/${index.toString(36)}.json", "ok": true}\n\n`,
      `Übergröße ${index} — naïve façade… 😀 ${'-'.repeat(index % 90)}`,
    ][index % 5]!;
    lines.push(line);
    size += line.length + 1;
  }
  return lines.join('\n');
}

/** A tokenizer that records what it is handed. */
function recorder(): { readonly parts: string[]; readonly tokenizer: Tokenizer } {
  const parts: string[] = [];
  const tokenizer: Tokenizer = {
    countTokens(text) {
      parts.push(text);
      return text.length;
    },
    clearMergeCache() {},
  };
  return { parts, tokenizer };
}

describe.each(encodings)('exact counter %s', (encoding) => {
  const count = counters[encoding];

  it.each([
    { what: 'an empty text', text: '' },
    { what: 'a word', text: 'hello' },
    { what: 'a rule of 200 dashes', text: `a\n${'-'.repeat(200)}\nb` },
    { what: 'a number of 2,000 digits', text: '31'.repeat(1000) },
    { what: 'deep indentation', text: `${' '.repeat(250)}x` },
    {
      what: '120 Han characters without a break',
      text: '天地玄黄宇宙洪荒日月盈昃辰宿列张'.repeat(8).slice(0, 120),
    },
    { what: 'a blob of 20,000 hexadecimal digits', text: 'deadbeef0123456789'.repeat(1200) },
    { what: 'a long text of many kinds', text: ordinaryText(400_000) },
  ])('counts $what as the tokenizer alone does', ({ text }) => {
    expect(count(text)).toBe(bare[encoding](text));
  });

  it.each(["don't", "it's", "I'm", "we'll"])('does not cut %s at the apostrophe', (word) => {
    // A long text is cut at the first word end after 32,768 characters, which is where the apostrophe stands.
    const lead = `${'ab '.repeat(11_000).slice(0, 32_767 - word.indexOf("'"))} `;
    const text = `${lead}${word} want to`;

    expect(text.charAt(32_768)).toBe("'");
    expect(count(text)).toBe(bare[encoding](text));
  });

  test.prop([fc.array(fc.string({ unit: 'grapheme', maxLength: 90 }), { maxLength: 20 })])(
    'counts any text of short lines as the tokenizer alone does',
    (lines) => {
      const text = lines.join('\nx ');
      expect(count(text)).toBe(bare[encoding](text));
    },
  );

  it.each(['<|endoftext|>', 'before <|im_start|>system<|im_end|> after', '<|fim_prefix|>'])(
    'takes %s for plain text',
    (text) => {
      expect(count(text)).toBeGreaterThan(2);
      expect(count(text)).toBe(bare[encoding](text));
    },
  );

  it.each([
    { what: 'one letter', unit: 'a', perUnit: 1 / 8 },
    { what: 'a surrogate pair', unit: '\u{1f600}', perUnit: bare[encoding]('\u{1f600}\u{1f600}') / 2 },
    { what: 'digits', unit: '123', perUnit: 1 },
    { what: 'slashes and line breaks', unit: '/\n', perUnit: bare[encoding]('/\n'.repeat(64)) / 64 },
  ])('comes close on 600,000 times $what', ({ unit, perUnit }) => {
    const tokens = count(unit.repeat(600_000));
    expect(tokens / (600_000 * perUnit)).toBeGreaterThan(0.97);
    expect(tokens / (600_000 * perUnit)).toBeLessThan(1.03);
  });

  it('survives lone surrogates and NUL', () => {
    expect(count(`\0\ud800${'\udc00'.repeat(700)}`)).toBeGreaterThan(0);
  });
});

describe('run guard', () => {
  it.each([
    { what: 'letters', text: 'xy'.repeat(5000), pattern: /\p{L}{257}/u },
    { what: 'spaces', text: ' '.repeat(9000), pattern: /\s{257}/ },
    { what: 'symbols', text: '#!'.repeat(5000), pattern: /[^\s\p{L}\p{N}]{257}/u },
    { what: 'Han', text: '天地'.repeat(5000), pattern: /\p{L}{129}/u },
    { what: 'slashes and line breaks', text: '/\n'.repeat(5000), pattern: /[\r\n/]{257}/ },
    { what: 'letters with marks', text: 'e\u0301'.repeat(5000), pattern: /[\p{L}\p{M}]{257}/u },
    { what: 'letters among pairs', text: '天\u{20000}'.repeat(5000), pattern: /\p{L}{129}/u },
  ])('hands over no long run of $what, and loses no character', async ({ text, pattern }) => {
    const { parts, tokenizer } = recorder();
    const count = await loadExactCounter('o200k', async () => tokenizer);

    expect(count(text)).toBe(text.length);
    expect(parts.join('')).toBe(text);
    expect(parts.filter((part) => pattern.test(part))).toEqual([]);
    expect(parts.every((part) => part.isWellFormed())).toBe(true);
  });

  it('hands over a short ordinary text in one piece', async () => {
    const { parts, tokenizer } = recorder();
    const text = ordinaryText(20_000);
    (await loadExactCounter('o200k', async () => tokenizer))(text);

    expect(parts).toEqual([text]);
  });

  it.each(['a', ' ', '天', '#', 'Zx9/'])(
    'hands over a bounded part of 2,000,000 characters of "%s"',
    async (unit) => {
      const { parts, tokenizer } = recorder();
      const count = await loadExactCounter('o200k', async () => tokenizer);
      const text = unit.repeat(2_000_000 / unit.length);

      expect(Math.abs(count(text) / text.length - 1)).toBeLessThan(0.001);
      // Blanks merge into few tokens and cost next to nothing.
      if (unit !== ' ') expect(parts.join('').length).toBeLessThan(110_000);
    },
  );

  it('empties the tokenizer’s cache long before it is full', async () => {
    let clearings = 0;
    const tokenizer: Tokenizer = { countTokens: () => 1, clearMergeCache: () => void clearings++ };
    const count = await loadExactCounter('o200k', async () => tokenizer);
    for (let call = 0; call < 40; call++) count('some words '.repeat(1000));

    expect(clearings).toBe(2);
  });
});

describe('loading', () => {
  it('says what to install when the package is absent', async () => {
    const absent = Object.assign(new Error('Cannot find package'), { code: 'ERR_MODULE_NOT_FOUND' });
    const error = await loadExactCounter('o200k', () => Promise.reject(absent)).catch(
      (reason: unknown) => reason,
    );

    expect(RoundfoldError.is(error)).toBe(true);
    expect(error).toMatchObject({ code: 'missing-dependency', cause: absent });
    expect((error as RoundfoldError).remedy).toContain('npm install gpt-tokenizer');
  });

  it.each(['p50k', '__proto__', 'toString'])('refuses the unknown encoding %s', async (name) => {
    await expect(loadExactCounter(name as Encoding)).rejects.toMatchObject({ code: 'usage' });
  });
});
