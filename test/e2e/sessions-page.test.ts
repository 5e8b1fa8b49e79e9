import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { renderSessionsPage } from '../../src/report/html/sessions-page.ts';
import { sessionsScript, sessionsScriptHash } from '../../src/report/html/sessions-script.ts';
import type { SessionRow } from '../../src/report/session-row.ts';
import { agentTotals } from '../../src/report/sessions-text.ts';
import { type Browser, chromiumIsMissing, chromiumPath, startChromium } from '../support/chromium.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const folder = temporaryFolder();
const ROWS = 5000;

function rowOf(index: number): SessionRow {
  const day = String(1 + (index % 28)).padStart(2, '0');
  return {
    file: `/sessions/${index}.jsonl`,
    agent: ['claude-code', 'codex', 'pi'][index % 3] ?? 'pi',
    id: `session-${index}`,
    project: `/work/project-${index % 40}`,
    branch: 'main',
    model: 'claude-opus-4-6',
    startedAt: `2026-10-${day}T08:00:00.000Z`,
    usedAt: `2026-10-${day}T09:00:00.000Z`,
    prompt: index === 4321 ? 'Find the <b>lighthouse</b> keeper' : `Task number ${index}`,
    rounds: index % 97,
    contextTokens: index * 10,
    windowTokens: 200_000,
    compactions: index % 4,
    cost: {
      dollars: ((index * 7919) % 10_007) / 100,
      unpriced: 0,
      responses: 1,
      inputTokens: 1,
      cacheReadTokens: 2,
      cacheWriteTokens: 3,
      outputTokens: 4,
    },
    isSideChain: false,
    subagents: 0,
    fault: index % 50 === 0 ? 'a call without a result' : undefined,
  };
}

const rows = Array.from({ length: ROWS }, (_, index) => rowOf(index));
const broken = rows.filter(({ fault }) => fault !== undefined).length;
const page = renderSessionsPage(rows, {
  cost: rowOf(1).cost,
  legal: ROWS - broken,
  broken,
  unreadable: 0,
  agents: agentTotals(rows),
});

describe('the page of sessions', () => {
  it('runs the one script that its policy names', () => {
    const hash = createHash('sha256').update(sessionsScript).digest('base64');

    expect(sessionsScriptHash).toBe(hash);
    expect(page).toContain(`script-src 'sha256-${hash}'`);
    expect(page.match(/<script/g)).toHaveLength(1);
  });

  it('shows a prompt as text, whatever stands in it', () => {
    expect(page).toContain('Find the &lt;b&gt;lighthouse&lt;/b&gt; keeper');
  });
});

const isMissing = chromiumPath === undefined;

describe.skipIf(isMissing)(`in a browser${isMissing ? ` (skipped: ${chromiumIsMissing})` : ''}`, () => {
  let browser: Browser;
  const url = pathToFileURL(join(folder.path, 'sessions.html')).href;
  beforeAll(() => {
    folder.write('sessions.html', page);
    browser = startChromium(chromiumPath ?? '');
  });
  afterAll(() => browser.close());

  const type = (id: string, value: string) =>
    `(() => { const c = document.getElementById('${id}'); c.value = ${JSON.stringify(value)}; c.dispatchEvent(new Event('input')); })()`;
  const FOUND = `Number(document.getElementById('count').textContent.split(' ')[0])`;
  const SHOWN = `[...document.querySelectorAll('#list tbody tr')].filter((row) => !row.hidden).length`;
  const FIRST = `document.querySelector('#list tbody tr:not([hidden]) td:nth-child(6)').textContent`;

  it.each([
    { width: 1280, colours: 'light' },
    { width: 1280, colours: 'dark' },
    { width: 400, colours: 'light' },
    { width: 400, colours: 'dark' },
  ] as const)('fits $width pixels on $colours screens without a complaint or a request', async (view) => {
    const open = await browser.open(url, view);
    const seen = {
      complaints: open.complaints,
      requests: open.requests,
      width: await open.evaluate<number>('document.documentElement.scrollWidth'),
    };
    await open.close();

    expect(seen).toEqual({ complaints: [], requests: [], width: view.width });
  });

  it('finds sessions by words, by agent and by what is broken', async () => {
    const open = await browser.open(url, { width: 1280, colours: 'light' });
    const all = await open.evaluate<number>(FOUND);
    await open.evaluate(type('search', 'LIGHTHOUSE keeper'));
    const found = { count: await open.evaluate<number>(SHOWN), first: await open.evaluate<string>(FIRST) };
    await open.evaluate(type('search', ''));
    await open.evaluate(type('agent', 'codex'));
    const ofAgent = await open.evaluate<number>(FOUND);
    await open.evaluate(
      `(() => { const c = document.getElementById('broken'); c.checked = true; c.dispatchEvent(new Event('input')); })()`,
    );
    const ofBroken = await open.evaluate<number>(FOUND);
    await open.close();

    expect(all).toBe(ROWS);
    expect(found).toEqual({ count: 1, first: 'Find the <b>lighthouse</b> keeper' });
    expect(ofAgent).toBe(rows.filter(({ agent }) => agent === 'codex').length);
    expect(ofBroken).toBe(rows.filter(({ agent, fault }) => agent === 'codex' && fault !== undefined).length);
  });

  it('shows rows in portions, and more when it is asked', async () => {
    const open = await browser.open(url, { width: 1280, colours: 'light' });
    const first = await open.evaluate<number>(SHOWN);
    await open.evaluate(`document.getElementById('more').click()`);
    const second = await open.evaluate<number>(SHOWN);
    await open.close();

    expect({ first, second }).toEqual({ first: 200, second: 400 });
  });

  it('sorts by a heading, the largest first and with a second click the smallest', async () => {
    const open = await browser.open(url, { width: 1280, colours: 'light' });
    const click = `document.querySelectorAll('#list thead button')[1].click()`;
    const VALUES = `[...document.querySelectorAll('#list tbody tr')].map((row) => Number(row.dataset.values.split(' ')[1]))`;
    await open.evaluate(click);
    const down = await open.evaluate<readonly number[]>(VALUES);
    await open.evaluate(click);
    const up = await open.evaluate<readonly number[]>(VALUES);
    await open.close();
    const sorted = rows.map(({ cost }) => cost.dollars).toSorted((left, right) => left - right);

    expect(up).toEqual(sorted);
    expect(down).toEqual(sorted.toReversed());
  });
});
