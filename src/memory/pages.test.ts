import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { deepFreeze } from '../../test/support/deep-freeze.ts';
import type { ToolCallBlock } from '../conversation/message.ts';
import { anthropicMessages } from '../formats/anthropic-messages/format.ts';
import { searchableText } from '../stores/spans.ts';
import { argumentLines, firstPages, PAGE_CHARACTERS, pagePieces, pagesOf } from './pages.ts';

function call(input: unknown): ToolCallBlock {
  return { type: 'tool-call', id: 'call_1', name: 'edit', input, runBy: 'client', raw: undefined };
}

function nested(depth: number, inner: unknown): unknown {
  return depth === 0 ? inner : { a: nested(depth - 1, inner) };
}

describe('argumentLines', () => {
  it.each([
    {
      what: 'texts as they are',
      input: { path: 'a.ts', old: 'say "a\\b"' },
      lines: 'path: a.ts\nold: say "a\\b"',
    },
    { what: 'several lines below their name', input: { new: 'one\n\ttwo' }, lines: 'new:\none\n\ttwo' },
    {
      what: 'numbers and lists as JSON',
      input: { limit: 3, of: ['a', 1], no: null },
      lines: 'limit: 3\nof: ["a",1]\nno: null',
    },
    {
      what: 'texts in lists unescaped',
      input: { edits: [{ old: 'a\nb', all: true }, { old: 'c' }] },
      lines: 'edits.0.old:\na\nb\nedits.0.all: true\nedits.1: {"old":"c"}',
    },
    { what: 'JSON in a string', input: '{"path":"a\\nb"}', lines: 'path:\na\nb' },
    { what: 'free text', input: '*** Begin Patch\n+a', lines: '*** Begin Patch\n+a' },
    { what: 'a bare list', input: ['a'], lines: '["a"]' },
    { what: 'nothing', input: {}, lines: '' },
    { what: 'what is missing', input: undefined, lines: '' },
    { what: 'what JSON has no word for', input: { a: undefined, b: 1 }, lines: 'b: 1' },
  ])('writes $what', ({ input, lines }) => {
    expect(argumentLines(call(input))).toBe(lines);
  });

  it('goes no deeper than it has to', () => {
    expect(argumentLines(call(nested(50, 'one\ntwo')))).toMatch(/^(a\.){5}a: \{"a":.*one\\ntwo/);
  });
});

const read = (raws: readonly unknown[]) => deepFreeze(raws).map((raw) => anthropicMessages.readMessage(raw));
const user = (text: string) => ({ role: 'user', content: text });
/** A heading is a line too. */
const HEADING = '--- message 1: user\n'.length;

/** Texts around the lengths that matter, of short lines, long lines and characters of two halves. */
const anyText = fc
  .array(
    fc.tuple(
      fc.constantFrom('a', '🚢', 'word ', '', '\n', 'é\r\n', '--- message 2: user\n'),
      fc.oneof(fc.nat(30), fc.integer({ min: 3900, max: 4100 }), fc.integer({ min: 7900, max: 8100 })),
    ),
    { maxLength: 5 },
  )
  .map((runs) => runs.map(([unit, count]) => unit.repeat(count)).join('\n'));
const anyBlock = fc.oneof(
  anyText.map((text) => ({ type: 'text', text })),
  fc
    .record({ name: fc.string(), content: anyText, more: fc.jsonValue({ maxDepth: 3 }) })
    .map(({ name, ...input }) => ({ type: 'tool_use', id: 'call_1', name, input })),
  anyText.map((content) => ({ type: 'tool_result', tool_use_id: 'call_1', content })),
  fc.constant({ type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'aaaa' } }),
);
const anyMessages = fc
  .array(
    fc.record({ role: fc.constantFrom('user', 'assistant'), content: fc.array(anyBlock, { maxLength: 3 }) }),
    {
      maxLength: 8,
    },
  )
  .map(read);

describe('pagesOf', () => {
  it('names each message, and shows what it says', () => {
    const messages = read([
      user('Look at the clock.'),
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'Where is it?', signature: 's' },
          { type: 'redacted_thinking', data: 'x' },
          { type: 'text', text: 'I look.\n' },
          { type: 'tool_use', id: 'call_1', name: 'edit', input: { path: 'clock.ts', new: 'a "b"\n\tc' } },
          { type: 'novelty' },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'call_1', content: 'done', is_error: false },
          {
            type: 'tool_result',
            tool_use_id: 'call_2',
            is_error: true,
            content: [
              { type: 'text', text: 'no' },
              { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'aaaa' } },
            ],
          },
          { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'of paper' } },
        ],
      },
    ]);

    expect(pagesOf(messages)).toEqual([
      [
        '--- message 1: user',
        'Look at the clock.',
        '--- message 2: assistant',
        '[reasoning]',
        'Where is it?',
        '[reasoning, sealed]',
        'I look.',
        '[call] edit',
        'path: clock.ts',
        'new:',
        'a "b"',
        '\tc',
        '[something that is no text]',
        '--- message 3: user',
        '[result]',
        'done',
        '[failed]',
        'no',
        '[image]',
        '[document]',
        'of paper',
        '',
      ].join('\n'),
    ]);
    expect(searchableText(messages)).not.toMatch(/message|call|result|image/);
  });

  it('has no page of nothing', () => {
    expect(pagesOf([])).toEqual([]);
    expect(firstPages([])).toEqual([]);
  });

  it.each([
    { what: 'a text that fills a page to the letter', length: PAGE_CHARACTERS - HEADING - 1, pages: [8000] },
    { what: 'a line that ends behind the page', length: PAGE_CHARACTERS, pages: [8021] },
    { what: 'a line longer than a page', length: PAGE_CHARACTERS + 1, pages: [8000, 22] },
    { what: 'a line of many pages', length: 30_000, pages: [8000, 8000, 8000, 6021] },
  ])('ends with $what', ({ length, pages }) => {
    expect(pagesOf(read([user('x'.repeat(length))])).map((page) => page.length)).toEqual(pages);
  });

  it('puts a message behind a full page onto the next one', () => {
    const messages = read([user('x'.repeat(PAGE_CHARACTERS - HEADING - 1)), user('y'), user('z')]);

    expect(firstPages(messages)).toEqual([1, 2, 2]);
    expect(pagesOf(messages)[1]).toBe('--- message 2: user\ny\n--- message 3: user\nz\n');
  });

  it('parts no character', () => {
    for (const text of ['🚢'.repeat(20_000), `x${'🚢'.repeat(20_000)}`]) {
      expect(pagesOf(read([user(text)])).every((page) => page.isWellFormed())).toBe(true);
    }
  });

  test.prop([anyMessages])(
    'has pages of about one size, that end with a line or in one that is too long',
    (messages) => {
      const pages = pagesOf(messages);
      const lines = pages.join('').split('\n');
      let line = 0;

      for (const [index, page] of pages.entries()) {
        if (index < pages.length - 1) expect(page.length).toBeGreaterThanOrEqual(PAGE_CHARACTERS);
        expect(page.length).toBeLessThanOrEqual(2 * PAGE_CHARACTERS);
        line += page.split('\n').length - 1;
        if (!page.endsWith('\n')) expect(lines[line]?.length).toBeGreaterThan(PAGE_CHARACTERS);
      }
    },
  );

  test.prop([anyMessages])('agrees with firstPages', (messages) => {
    const marked = messages.map((message, index) => ({
      ...message,
      blocks: [{ type: 'text' as const, text: `mark<${index}>`, raw: undefined }, ...message.blocks],
    }));
    const pages = pagesOf(marked);
    const text = pages.join('');
    const ends = pages.map((_, index) => pages.slice(0, index + 1).join('').length);

    const found = marked.map(({ role }, index) => {
      const place = text.indexOf(`--- message ${index + 1}: ${role}\nmark<${index}>\n`);
      expect(place).toBeGreaterThanOrEqual(0);
      return ends.findIndex((end) => place < end) + 1;
    });
    expect(firstPages(marked)).toEqual(found);
  });

  test.prop([anyMessages])('reads the same from what was kept', (messages) => {
    const kept = JSON.parse(JSON.stringify(messages.map(({ raw }) => raw))) as unknown[];

    expect(pagesOf(read(kept))).toEqual(pagesOf(messages));
  });

  test.prop([anyMessages])('shows all that can be searched, and ours apart from it', (messages) => {
    const said = [...pagePieces(messages)].map(({ text, labelLength }) => text.slice(labelLength));

    expect(said.join('')).toBe(searchableText(messages));
  });
});
