import { describe, expect, it } from 'vitest';
import { inventedComparison, sawtooth } from '../../../test/support/comparison.ts';
import { deepFreeze } from '../../../test/support/deep-freeze.ts';
import { readConversation } from '../../formats/registry.ts';
import { createTokenEstimator } from '../../tokens/estimator.ts';
import { inspectConversation } from '../inspection.ts';
import { renderComparisonPage } from './comparison-page.ts';
import { type InspectedSession, renderInspectionPage } from './inspection-page.ts';
import { renderReceiptPage } from './receipt-page.ts';

const HOSTILE = `</script><img src=x onerror="alert(1)">'\u202E\u0007 <!--`;

const conversation = readConversation([
  { role: 'user', content: HOSTILE },
  {
    role: 'assistant',
    content: [{ type: 'tool_use', id: '1', name: HOSTILE, input: { file_path: `/${HOSTILE}` } }],
  },
  { role: 'user', content: [{ type: 'tool_result', tool_use_id: '1', content: 'x'.repeat(900) }] },
]);

const session = (overrides: Partial<InspectedSession> = {}): InspectedSession => ({
  file: 'session.jsonl',
  title: 'main',
  about: ['claude-code'],
  notes: [],
  inspection: inspectConversation(conversation, { estimator: createTokenEstimator(), windowTokens: 200_000 }),
  series: sawtooth('recorded', 120),
  ...overrides,
});

const account = {
  strategy: HOSTILE,
  reason: HOSTILE,
  targetTokens: 500,
  before: { tokens: 1000, messages: 3, parts: [{ name: HOSTILE, isTool: true, tokens: 9, colour: 's1' }] },
  after: { tokens: 700, messages: 2, parts: [{ name: 'user', isTool: false, tokens: 9, colour: 's0' }] },
  runs: [
    { fate: 'verbatim', start: 0, end: 1, tokens: 100, about: HOSTILE },
    { fate: 'dropped', start: 1, end: 3, tokens: 900, about: 'result' },
  ],
  survival: [{ kind: 'path', found: 9, kept: 7, lost: 2, examples: [HOSTILE, 'src/a.ts'] }],
} as const;

const comparison = inventedComparison();
const hostileComparison = {
  ...comparison,
  title: HOSTILE,
  about: [HOSTILE],
  rows: comparison.rows.map((row) => ({ ...row, name: `${row.name}${HOSTILE}` })),
  lost: comparison.lost.map((item) => ({ ...item, what: HOSTILE, neededBy: HOSTILE, session: HOSTILE })),
  sessions: comparison.sessions.map((one) => ({ ...one, name: HOSTILE })),
  example: { file: HOSTILE, account },
};

const pages = [
  {
    page: 'an inspection',
    text: renderInspectionPage(
      deepFreeze({
        sessions: [session({ file: HOSTILE, title: HOSTILE, about: [HOSTILE], notes: [HOSTILE] })],
      }),
    ),
  },
  {
    page: 'several inspections',
    text: renderInspectionPage({ sessions: [session({ file: HOSTILE }), session()], leftOut: 3 }),
  },
  { page: 'a receipt', text: renderReceiptPage(deepFreeze({ file: HOSTILE, account })) },
  { page: 'a comparison', text: renderComparisonPage(deepFreeze(hostileComparison)) },
];

/** Elements that a page may be made of. */
const ELEMENTS =
  'html head meta title style body a svg defs path header p h1 h2 h3 main footer section div dl dt dd small figure figcaption g line text rect use details summary table caption span thead tbody tr th td bdi code strong ul li i'.split(
    ' ',
  );

describe.each(pages)('$page', ({ text }) => {
  // Whole pages in the message of a failure help nobody.
  const found = (pattern: RegExp) => text.match(pattern) ?? [];
  const tags = [...text.matchAll(/<([a-z][a-z0-9]*)/gi)].map(([, name]) => name);

  it('is made of known elements only, whatever strangers wrote', () => {
    expect(tags.length).toBeGreaterThan(50);
    expect([...new Set(tags)].filter((name) => !ELEMENTS.includes(name ?? ''))).toEqual([]);
    expect(found(/\son[a-z]+="/g)).toEqual([]);
    expect(['\u202E', '\u0007', '<!--'].filter((piece) => text.includes(piece))).toEqual([]);
  });

  it('loads nothing, runs nothing and has no style but its own', () => {
    expect(found(/<script|<link|<img|\ssrc="|\sstyle="|https?:\/\//g)).toEqual([]);
    expect(found(/content="default-src 'none'; style-src 'sha256-[^']{44}'; base-uri 'none'/g)).toHaveLength(
      1,
    );
    expect([...text.matchAll(/href="([^"]*)"/g)].filter(([, to]) => !to?.startsWith('#'))).toEqual([]);
  });

  it('closes what it opens and uses each id once', () => {
    const opened = (name: string) => text.match(new RegExp(`<${name}[ >]`, 'g'))?.length ?? 0;
    const closed = (name: string) => text.match(new RegExp(`</${name}>`, 'g'))?.length ?? 0;
    const ids = [...text.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id);
    const targets = [...text.matchAll(/(?:href="#|labelledby=")([^"]*)"/g)].map(([, id]) => id);

    for (const name of ['table', 'tbody', 'tr', 'td', 'th', 'section', 'details', 'div', 'bdi', 'figure'])
      expect({ name, count: closed(name) }).toEqual({ name, count: opened(name) });
    expect(ids).toHaveLength(new Set(ids).size);
    expect(targets.filter((id) => !ids.includes(id))).toEqual([]);
  });

  it('has words for every chart and headings for every table', () => {
    const charts = text.match(/role="img"/g)?.length ?? 0;

    expect(charts).toBeGreaterThan(0);
    expect(text.match(/role="img" aria-label="[^"]{20,}"/g)).toHaveLength(charts);
    expect(text.match(/<caption><span>[^<]+/g)).toHaveLength(text.match(/<table/g)?.length ?? 0);
    expect(found(/NaN|Infinity|undefined|\[object/g)).toEqual([]);
  });
});

describe('the size of a page', () => {
  it('stays below a megabyte for a hundred sessions', () => {
    const name = 'folder/'.repeat(20);
    const sessions = Array.from({ length: 100 }, () => session({ file: name, series: sawtooth('r', 900) }));

    expect(renderInspectionPage({ sessions }).length).toBeLessThan(1_000_000);
    expect(renderComparisonPage(inventedComparison(100)).length).toBeLessThan(1_000_000);
  });

  it('is bounded for a receipt of any length', () => {
    const runs = Array.from({ length: 50_000 }, (_, start) => ({
      fate: 'reduced' as const,
      start,
      end: start + 1,
      tokens: 10,
      about: 'x'.repeat(300),
    }));
    const text = renderReceiptPage({ file: 'a', account: { ...account, runs } });

    expect(text.length).toBeLessThan(300_000);
    expect(text).toContain('… and 49600 more runs');
  });
});

describe('a comparison', () => {
  const text = renderComparisonPage(comparison);

  it('puts the best of each budget in bold, never the oracle or a control', () => {
    const group = text.slice(text.indexOf('Budget: 10 %'), text.indexOf('Without a budget'));

    expect(group).toContain('<strong>89.0 %</strong>');
    expect(group).toContain('<strong>44.0 %</strong>');
    expect(group).not.toContain('<strong>100.0 %</strong>');
  });

  it('says how much of the possible was reached', () => {
    expect(text).toContain('89 / 87 / 42 %');
  });

  it('tells what was lost and who needed it', () => {
    expect(text).toContain('const berth = berths.get(ship.draught);');
    expect(text).toContain('Edit src/berths.ts');
    expect(text).toContain('6 rounds later');
  });

  it('has no key for a row of which nothing is drawn', () => {
    const [first] = comparison.rows;
    const points = (first?.points ?? []).flatMap((point) => [
      { ...point, keptShare: 0.95, costDollars: undefined },
      { ...point, keptShare: 0.4, costDollars: undefined, isAside: true },
    ]);
    const page = renderComparisonPage({
      ...comparison,
      rows: [...comparison.rows, { name: 'keeps it all', kind: 'strategy', points }],
    });

    const charts = page.slice(
      page.indexOf('Recall against tokens kept'),
      page.indexOf('Cost against recall'),
    );
    expect(charts).toContain('recorded summaries');
    expect(charts).not.toContain('keeps it all');
  });

  it('draws costs of rows that compact at the same moments together, and others apart', () => {
    const [first, second, ...rest] = comparison.rows;
    if (first === undefined || second === undefined) throw new Error('two rows are there');
    const rows = [
      { ...first, compacts: 'when it pays' },
      { ...second, compacts: 'when the window is full' },
    ];
    const page = renderComparisonPage({ ...comparison, rows: [...rows, ...rest.slice(-1)] });
    const figures = page.split('<figure>').filter((part) => part.includes('<figcaption>Compacting when'));
    const names = (figure: string | undefined) =>
      rows.map(({ name }) => name).filter((name) => figure?.includes(`<title>${name}:`));

    expect(figures).toHaveLength(2);
    expect(names(figures[0])).toEqual([first.name]);
    expect(names(figures[1]?.split('</figure>')[0])).toEqual([second.name]);
  });

  it('does without what was not measured', () => {
    const bare = renderComparisonPage({
      title: 'a',
      about: [],
      kept: comparison.kept,
      measures: [],
      rows: [],
      lost: [],
      sessions: [],
    });

    expect(bare).not.toContain('Cost against recall');
    expect(bare).not.toMatch(/NaN|undefined/);
  });
});

describe('what was reported and is not in the file', () => {
  const page = (unaccounted: number) =>
    renderInspectionPage({ sessions: [session({ inspection: { ...session().inspection, unaccounted } })] });

  it('is a part of its own', () => {
    expect(page(9000)).toMatch(/not in the file<\/th>.*9,000<\/td>/);
    expect(page(9000)).toContain('hidden reasoning');
    expect(page(0)).not.toContain('not in the file');
  });

  it('is told where it is less than nothing, and not drawn', () => {
    expect(page(-300)).toContain('the file, which holds 300 tokens more than were sent');
    expect(page(-300)).not.toMatch(/width="-|>-300</);
  });
});

describe('what is kept of each part of a context', () => {
  const part = (name: string, tokens: number) => ({ name, isTool: false, tokens, colour: 's0' });
  const sized = (...parts: readonly ReturnType<typeof part>[]) => ({ tokens: 500, messages: 2, parts });

  it('is a share of what was there, and what was added to it is counted apart', () => {
    const page = renderReceiptPage({
      file: 'a',
      account: {
        ...account,
        before: sized(part('user', 100), part('assistant', 400)),
        after: sized(part('user', 6065), part('assistant', 100), part('summary', 50)),
      },
    });

    expect(page).toContain('all, and 5,965 more');
    expect(page).toMatch(/summary<\/th>.*?>new</);
    expect(page).toContain('25.0 %');
    expect(page).not.toContain('6065.0 %');
  });
});

describe('what survived a summary', () => {
  const page = (survival?: typeof account.survival | readonly []) =>
    renderReceiptPage({ file: 'a', account: { ...account, survival } });

  it('stands on the page of a receipt, with what was lost', () => {
    expect(page(account.survival)).toMatch(
      /changed files<\/th><td class="n">9<\/td><td class="n">7<\/td><td class="n">2<\/td>/,
    );
    expect(page(account.survival)).toContain('src/a.ts');
  });

  it('is not spoken of where there was no summary, or nothing in it', () => {
    expect(page()).not.toContain('What survived');
    expect(page([])).not.toContain('What survived');
  });
});
