import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { parseDetailsBlocks, unescapeHtml } from './unfold.ts';

describe('character references', () => {
  it.each([
    ['&quot;a&quot; &amp; &lt;b&gt;', '"a" & <b>'],
    ['&#39;&#x27;&apos;', "'''"],
    ['&amp;quot;', '&quot;'],
    ['&#128293; &#x1F525;', '\u{1f525} \u{1f525}'],
    ['&unknown; &; & &#x; &#xFFFFFF;', '&unknown; &; & &#x; &#xFFFFFF;'],
  ])('%s is %s', (escaped, plain) => {
    expect(unescapeHtml(escaped)).toBe(plain);
  });

  test.prop([fc.string({ unit: 'binary' })])('come back as what was escaped', (text) => {
    const escaped = text
      .replaceAll('&', '&amp;')
      .replaceAll('<', '&lt;')
      .replaceAll('"', '&quot;')
      .replaceAll("'", '&#x27;');
    expect(unescapeHtml(escaped)).toBe(text);
  });
});

describe('details blocks', () => {
  const found = (text: string) => parseDetailsBlocks(text).map(({ start, end }) => text.slice(start, end));

  it('have a type, attributes and a body', () => {
    const text = `Hm.\n<details type="tool_calls" done="true" id='c1' name=ls open arguments="{&quot;a&quot;: 1}">\n<summary>Ran</summary>\n</details>\nSo.`;
    expect(parseDetailsBlocks(text)).toEqual([
      {
        start: 4,
        end: text.length - 4,
        type: 'tool_calls',
        attributes: new Map([
          ['type', 'tool_calls'],
          ['done', 'true'],
          ['id', 'c1'],
          ['name', 'ls'],
          ['open', ''],
          ['arguments', '{"a": 1}'],
        ]),
        body: '\n<summary>Ran</summary>\n',
      },
    ]);
  });

  it.each([
    { why: 'there is none', text: 'no <b>block</b> here', blocks: [] },
    {
      why: 'the outermost counts',
      text: 'a<details><details>x</details></details>b',
      blocks: ['<details><details>x</details></details>'],
    },
    {
      why: 'several stand in a row',
      text: '<details>1</details><details>2</details>',
      blocks: ['<details>1</details>', '<details>2</details>'],
    },
    { why: 'one is never closed', text: '<details><details>x</details> y', blocks: ['<details>x</details>'] },
    {
      why: 'a stray end tag comes first',
      text: '</details><details>x</details>',
      blocks: ['<details>x</details>'],
    },
    { why: 'the name goes on', text: '<detailsman></details>', blocks: [] },
    {
      why: 'markup stands in a value',
      text: '<details a="</details><details>">x</details>',
      blocks: ['<details a="</details><details>">x</details>'],
    },
    { why: 'two values touch', text: '<details a="1"b="2">x</details>', blocks: [] },
    {
      why: 'a tag opens inside a tag',
      text: '<details <details>x</details>',
      blocks: ['<details>x</details>'],
    },
    {
      why: 'a tag never ends',
      text: '<details>1</details><details a="x></details>',
      blocks: ['<details>1</details>'],
    },
  ])('are found where they are when $why', ({ text, blocks }) => {
    expect(found(text)).toEqual(blocks);
  });

  test.prop([
    fc.array(fc.constantFrom('<details', '</details>', '<details>', ' a="', '"', "'", '>', ' ', '=', 'x'), {
      maxLength: 60,
    }),
  ])('never overlap, stay in order, and are elements', (tokens) => {
    const text = tokens.join('');
    let from = 0;
    for (const { start, end } of parseDetailsBlocks(text)) {
      expect(start).toBeGreaterThanOrEqual(from);
      expect(text.slice(start, end)).toMatch(/^<details[\s>][\s\S]*<\/details>$/);
      from = end;
    }
  });

  test.prop([fc.string(), fc.string()])('give back any attribute that was escaped', (value, around) => {
    const escaped = value
      .replaceAll('&', '&amp;')
      .replaceAll('<', '&lt;')
      .replaceAll('>', '&gt;')
      .replaceAll('"', '&quot;');
    const text = `${around.replaceAll('<', '')}<details result="${escaped}"></details>`;
    expect(parseDetailsBlocks(text)[0]?.attributes.get('result')).toBe(value);
  });

  it.each(['<details a="', '<details>', '<details ', '</details>', `<details a='<details b="`, '<details a'])(
    'are none in a hundred thousand halves: %s',
    (half) => {
      expect(parseDetailsBlocks(half.repeat(100_000))).toEqual([]);
    },
  );
});
