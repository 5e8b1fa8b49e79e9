import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { html, quoted, quotedPath, textOfMarkup } from './markup.ts';

const rendered = (text: string) => textOfMarkup(html`<p title="${text}">${text}</p>`);

describe('html', () => {
  it.each([
    { name: 'an end of a script', text: '</script><script>alert(1)</script>' },
    { name: 'quotes', text: `" onload="x" '` },
    { name: 'an entity', text: '&lt;b&gt;' },
    { name: 'a comment', text: '<!-- --> ]]>' },
  ])('shows $name as text', ({ text }) => {
    const inner = rendered(text).slice('<p title="'.length, -'</p>'.length);

    expect(inner).not.toMatch(/<(?!\/?p)/);
    expect(inner.split('"')).toHaveLength(2);
    expect(inner).not.toContain("'");
  });

  it('writes what turns or hides text as escapes', () => {
    expect(rendered('a\u202Eb\u0000c\u200Bd\u2066e\uD800')).toContain(
      String.raw`a\u{202e}b\u{0}c\u{200b}d\u{2066}e\u{d800}`,
    );
  });

  test.prop([fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: fc.constantFrom(...`<>&"';#a`) }))])(
    'leaves no character of a stranger that could be markup',
    (text) => {
      const inner = textOfMarkup(html`${text}`);

      expect(inner).not.toMatch(/[<>"']/);
      expect(inner.replaceAll(/&(?:amp|lt|gt|quot|#39);/g, '')).not.toContain('&');
      expect(inner).toMatch(/^[\p{L}\p{M}\p{N}\p{P}\p{S} ]*$/u);
    },
  );

  it('takes markup as it is, lists of it too, and nothing for undefined', () => {
    const item = html`<li>${'a & b'}</li>`;

    expect(textOfMarkup(html`<ul>${[item, item]}</ul>${undefined}${7}`)).toBe(
      '<ul><li>a &amp; b</li><li>a &amp; b</li></ul>7',
    );
  });

  it('does not take a value that was read for markup', () => {
    const forged = JSON.parse('{"markup":"<script>","Symbol(markup)":"<script>"}') as never;

    expect(() => html`${forged}`).toThrow(TypeError);
  });

  it('leaves out the line breaks of its template, not those of its values', () => {
    expect(
      textOfMarkup(html`
        <b>
        ${'x\ny'}
        </b>`),
    ).toBe(String.raw`<b>x\u{a}y</b>`);
  });
});

describe('quoted', () => {
  it('keeps strangers to one line, a length and a direction of their own', () => {
    expect(textOfMarkup(quoted(`one\ntwo ${'x'.repeat(300)}`, 12))).toBe('<bdi>one↵two xxx…</bdi>');
    expect(textOfMarkup(quotedPath('/a/<long>/path.ts', 10))).toBe('<bdi class="path">…&gt;/path.ts</bdi>');
  });
});
