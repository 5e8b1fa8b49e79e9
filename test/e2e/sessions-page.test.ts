import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { renderSessionsPage } from '../../src/report/html/sessions-page.ts';
import { sessionsScript, sessionsScriptHash } from '../../src/report/html/sessions-script.ts';
import { detailsOf, type SessionDetails } from '../../src/report/session-details.ts';
import type { SessionRow } from '../../src/report/session-row.ts';
import { agentTotals } from '../../src/report/sessions-text.ts';
import { readRecordingsOf } from '../../src/transcripts/recordings.ts';
import { writeAgentHome } from '../support/agent-home.ts';
import { type Browser, chromiumIsMissing, chromiumPath, startChromium } from '../support/chromium.ts';
import { runCli } from '../support/cli.ts';
import { pricedSession } from '../support/priced-session.ts';
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

/** Details as they come out of a file of our own: costs, a compaction by the agent, and something to make smaller. */
async function writtenDetails(): Promise<SessionDetails> {
  const requests = Array.from({ length: 40 }, (_, index) => ({
    minute: index + (index >= 30 ? 60 : 0),
    sends: `Hour ${index}: `.concat('the tide comes in. '.repeat(60)),
    read: index === 20 || index === 30 ? 0 : index * 900,
    written: index === 20 || index === 30 ? (index + 1) * 900 : 900,
    ...(index === 20 && { compacts: true }),
  }));
  const recordings = readRecordingsOf(folder.write('told.jsonl', pricedSession(requests)));
  for await (const details of detailsOf(recordings, { isReplayed: true })) return details;
  throw new Error('no session in the file');
}

const fault = { message: 'a call without a result', fix: 'Answer it.', line: 17 };
const rows = Array.from({ length: ROWS }, (_, index) => rowOf(index));
const details = await writtenDetails();
const told = rows.map((row) => ({
  row,
  details: { ...details, faults: row.fault === undefined ? [] : [fault] },
}));
const broken = rows.filter(({ fault: found }) => found !== undefined).length;
const page = renderSessionsPage(
  told,
  {
    cost: rowOf(1).cost,
    legal: ROWS - broken,
    broken,
    unreadable: 0,
    agents: agentTotals(rows),
  },
  deflateRawSync,
);

/** The pages of sessions, unpacked as the script does it. */
function pagesIn(text: string): readonly string[] {
  const [, packs = ''] = /<template id="pages"[^>]*>(.*)<\/template>/.exec(text) ?? [];
  return [...packs.matchAll(/<p>([^<]*)<\/p>/g)].flatMap(([, pack = '']) =>
    inflateRawSync(Buffer.from(pack, 'base64')).toString('utf8').split('\0'),
  );
}

describe('the page of sessions', () => {
  it('runs the one script that its policy names', () => {
    const hash = createHash('sha256').update(sessionsScript).digest('base64');

    expect(sessionsScriptHash).toBe(hash);
    expect(page).toContain(`script-src 'sha256-${hash}'`);
    expect(page.match(/<script/g)).toHaveLength(1);
  });

  it('shows a prompt as text, whatever stands in it', () => {
    expect(page).toContain('Find the &lt;b&gt;lighthouse&lt;/b&gt; keeper');
    expect(pagesIn(page)[4321]).toContain('Find the &lt;b&gt;lighthouse&lt;/b&gt; keeper');
  });

  it('holds a page for each session and stays small', () => {
    expect(pagesIn(page)).toHaveLength(ROWS);
    // A row takes about as much as a packed page.
    expect(page.length / ROWS).toBeLessThan(5000);
  });

  it('tells of a session what is in its context, what it cost and why, and what a compaction would leave', () => {
    const [, one = ''] = pagesIn(page);

    for (const words of [
      'Tokens per round',
      'Compactions by the agent itself',
      'Where the tokens go',
      'at list prices',
      'By model',
      'Spent on',
      'pause longer than the cache&#39;s life',
      'after a compaction',
      'Sent again at the same prices',
      'What a compaction would leave',
      'roundfold compact /sessions/1.jsonl --resume',
    ])
      expect(one).toContain(words);
    expect(one).not.toContain('--fix');
  });

  it('says what the very command that it names leaves', async () => {
    const file = join(folder.path, 'told.jsonl');
    const { stdout } = await runCli(['compact', file, '--dry-run', '--json']);
    const { receipt } = JSON.parse(stdout) as { readonly receipt: { readonly tokensAfter: number } };

    expect(details.compacted?.after.tokens).toBe(receipt.tokensAfter);
  });

  it('tells of a broken session what is wrong, where, and what mends it', () => {
    const [one = ''] = pagesIn(page);

    expect(one).toContain('a call without a result');
    expect(one).toContain('<td class="n">17</td>');
    expect(one).toContain('roundfold check /sessions/0.jsonl --fix --resume');
  });

  it('is written by the command, with a page for every session it lists', async () => {
    const { variables } = writeAgentHome(join(folder.path, 'home'));
    const out = join(folder.path, 'written.html');
    const { code, stderr } = await runCli(['sessions', '--html', out], { env: variables });
    const text = readFileSync(out, 'utf8');

    expect({ code, stderr }).toEqual({ code: 0, stderr: `wrote ${out}\n` });
    expect(pagesIn(text).map((each) => /id="session-name"[^>]*><bdi>([^<]*)/.exec(each)?.[1])).toEqual([
      'Mend the nets.',
      'Count the gulls.',
      'Light the lamp.',
      'Explain the tides.',
      'Find the rounding bug.',
    ]);
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
  /** Comes true with the page, however long that takes. */
  const UNTIL = (condition: string) =>
    `new Promise((done) => { const look = () => (${condition}) ? done(true) : setTimeout(look, 10); look(); })`;
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

  it('opens the page of a session and comes back to where the list was', async () => {
    const open = await browser.open(url, { width: 1280, colours: 'light' });
    const SEEN = `({
      name: document.getElementById('session-name')?.textContent,
      title: document.title,
      isListed: !document.getElementById('all').hidden,
      focused: document.activeElement.id,
      words: document.querySelector('#search').value,
      count: ${SHOWN},
    })`;
    await open.evaluate(type('search', 'lighthouse keeper'));
    await open.evaluate(`document.querySelector('#list tbody tr:not([hidden]) a').focus()`);
    await open.press('Enter');
    await open.evaluate(UNTIL('document.title.startsWith("Find")'));
    const opened = await open.evaluate(SEEN);
    const charts = await open.evaluate<number>(`document.querySelectorAll('#session .plot').length`);
    await open.evaluate(`document.querySelector('#session a[href="#"]').focus()`);
    await open.press('Enter');
    await open.evaluate(UNTIL('document.title === "Sessions"'));
    const back = await open.evaluate(SEEN);
    const { complaints, requests } = open;
    await open.close();

    const name = 'Find the <b>lighthouse</b> keeper';
    const words = 'lighthouse keeper';
    expect(opened).toEqual({ name, title: name, isListed: false, focused: 'session-name', words, count: 1 });
    expect(charts).toBe(2);
    expect(back).toMatchObject({ title: 'Sessions', isListed: true, words, count: 1 });
    expect({ complaints, requests }).toEqual({ complaints: [], requests: [] });
  });

  it.each([
    { width: 1280, colours: 'light' },
    { width: 1280, colours: 'dark' },
    { width: 400, colours: 'light' },
    { width: 400, colours: 'dark' },
  ] as const)('shows a session by its address, within $width pixels on $colours screens', async (view) => {
    const open = await browser.open(`${url}#s50`, view);
    await open.evaluate(UNTIL('document.title === "Task number 50"'));
    const seen = {
      complaints: open.complaints,
      width: await open.evaluate<number>('document.documentElement.scrollWidth'),
      broken: await open.evaluate<string>(`document.getElementById('session-broken').textContent`),
    };
    await open.close();

    expect(seen).toEqual({ complaints: [], width: view.width, broken: 'A provider would refuse it' });
  });

  it('shows the list for an address that leads to no session', async () => {
    const open = await browser.open(`${url}#s999999`, { width: 1280, colours: 'light' });
    await open.evaluate(UNTIL('document.getElementById("session").hidden'));
    const shown = await open.evaluate<number>(SHOWN);
    const { complaints } = open;
    await open.close();

    expect({ shown, complaints }).toEqual({ shown: 200, complaints: [] });
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
