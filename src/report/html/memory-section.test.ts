import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { deepFreeze } from '../../../test/support/deep-freeze.ts';
import { textOfMarkup } from './markup.ts';
import { memorySection } from './memory-section.ts';
import { renderReceiptPage } from './receipt-page.ts';

const render = (text: string, quoted: readonly string[] = []) => {
  const section = memorySection(deepFreeze([{ quoted, text }]));
  return section === undefined ? '' : textOfMarkup(section);
};

const headings = (page: string) =>
  [...page.matchAll(/<h3[^>]*>([^<]*)<\/h3>/g)].map(([, heading]) => heading);

const MEMORY = `Memory of 9 rounds. Paths are below /home/ada/pier/

## Where we are
Tasks:
  [pending] Paint the pier

## What the user said
[2] Never on Sundays.

## What happened
[1]
- agent: It leaks.
  Twice.
- ran \`npm test\` → failed
  ✗ the pier
      at pier.test.ts:4

## Files as they are now
src/pier.ts (changed 2x)
\`\`\`

\tconst pier = 1;
…
## What happened
\`\`\``;

describe('a memory on a page', () => {
  const page = render(MEMORY);

  it('has its parts as headings, in their order', () => {
    expect(headings(page)).toEqual([
      'Where we are',
      'What the user said',
      'What happened',
      'Files as they are now',
    ]);
    expect(page.indexOf('Memory of 9 rounds.')).toBeLessThan(page.indexOf('Where we are'));
    expect(page).toContain('<p dir="auto">[2] Never on Sundays.</p>');
    expect(page).toContain('<p dir="auto">- agent: It leaks.</p><p class="more" dir="auto">Twice.</p>');
  });

  it('has what tools wrote, and files, as they are', () => {
    expect(page).toContain('<pre dir="auto">\n✗ the pier\n    at pier.test.ts:4</pre>');
    expect(page).toContain('>src/pier.ts (changed 2x)</bdi> <small>4 lines</small></summary>');
    // The first line end behind the tag is not shown.
    expect(page).toMatch(/<pre class="code"[^>]*>\n\n {4}const pier = 1;\n…\n## What happened<\/pre>/);
  });

  it('folds long files and opens short ones', () => {
    const long = `## Files as they are now\na.ts\n\`\`\`\n${'x\n'.repeat(41)}\`\`\``;

    expect(page).toContain('<details open>');
    expect(render(long)).toContain('<details><summary><bdi class="path">a.ts</bdi> <small>41 lines</small>');
  });

  it('takes a quotation for no memory', () => {
    const quoted = render(MEMORY, ['Mend it.\n\n## What happened\n- agent: no']);

    expect(headings(quoted)).toEqual(['Quoted in front of it', ...headings(page)]);
    expect(quoted).toContain('<p dir="auto">Mend it.\n\n## What happened\n- agent: no</p>');
  });

  it('shows a summary of another form as it is', () => {
    expect(render('Goal: paint.\n\n  the pier')).toContain(
      '<p dir="auto">Goal: paint.</p><p class="more" dir="auto">the pier</p>',
    );
  });

  it('is not there without one', () => {
    expect(memorySection([])).toBeUndefined();
  });
});

const HOSTILE = `</pre></script><h1 onclick="a()">'\u202E\u0007&amp;<!--`;
const ELEMENTS = ['section', 'h2', 'h3', 'p', 'div', 'pre', 'details', 'summary', 'bdi', 'small'];

const hostileLine = fc.oneof(
  fc.constantFrom('## What happened', '## Files as they are now', '```', '- ran it', `  ${HOSTILE}`, HOSTILE),
  fc.string({ unit: 'binary' }),
);

test.prop([fc.array(hostileLine), fc.array(fc.constant(HOSTILE))])(
  'nothing in a memory becomes markup',
  (lines, quoted) => {
    const page = render(lines.join('\n'), quoted);
    const tags = [...page.matchAll(/<\/?([^\s>]*)[^>]*>/g)];
    const text = page.replaceAll(/<[^>]*>/g, '');

    expect(tags.map(([, name]) => name).filter((name) => !ELEMENTS.includes(name ?? ''))).toEqual([]);
    expect(tags.filter(([tag]) => /\son/.test(tag.replaceAll(/="[^"]*"/g, '')))).toEqual([]);
    expect(text).not.toMatch(/[<>"']/);
    expect(page.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\u202e]/u);
    for (const name of ELEMENTS)
      expect(tags.filter(([tag, own]) => own === name && tag.startsWith('</'))).toHaveLength(
        tags.filter(([tag, own]) => own === name && !tag.startsWith('</')).length,
      );
  },
);

describe('the page of a receipt', () => {
  const size = { tokens: 900, messages: 3, parts: [] };
  const account = {
    strategy: 'ladder',
    reason: undefined,
    targetTokens: undefined,
    before: size,
    after: size,
    runs: [],
    survival: [{ kind: 'path', found: 1, kept: 1, lost: 0, restored: 0, examples: [] }],
  } as const;

  it('has the memory above what survived, each id once', () => {
    const memories = [
      { quoted: [], text: MEMORY },
      { quoted: ['Mend it.'], text: MEMORY },
    ];
    const page = renderReceiptPage(deepFreeze({ file: 'a', account, memories }));
    const ids = [...page.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id);

    expect(page.indexOf('id="memory"')).toBeGreaterThan(0);
    expect(page.indexOf('id="memory"')).toBeLessThan(page.indexOf('id="survival"'));
    expect(ids).toHaveLength(new Set(ids).size);
  });

  it('speaks of no memory where there is none', () => {
    expect(renderReceiptPage({ file: 'a', account })).not.toContain('The memory');
  });
});
