import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readConversation } from '../../src/formats/registry.ts';
import { accountForCompaction } from '../../src/report/compaction-account.ts';
import { renderComparisonPage } from '../../src/report/html/comparison-page.ts';
import { renderReceiptPage } from '../../src/report/html/receipt-page.ts';
import { createTokenEstimator } from '../../src/tokens/estimator.ts';
import { type Browser, chromiumIsMissing, chromiumPath, startChromium } from '../support/chromium.ts';
import { runCli } from '../support/cli.ts';
import { inventedComparison } from '../support/comparison.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const folder = temporaryFolder();
const session = 'examples/session.jsonl';

describe('roundfold inspect --html', () => {
  it('writes a page beside the usual text, for its owner only, and says so', async () => {
    const out = join(folder.path, 'one.html');
    const plain = await runCli(['inspect', session]);
    const { code, stdout, stderr } = await runCli(['inspect', session, '--html', out]);

    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: plain.stdout, stderr: `wrote ${out}\n` });
    expect(readFileSync(out, 'utf8')).toMatch(/^<!doctype html>\n<html lang="en">[\s\S]*<\/html>\n$/);
    expect(statSync(out).mode & 0o777).toBe(0o600);
  });

  it('puts every conversation of every file on one page, those that could be read', async () => {
    const out = join(folder.path, 'several.html');
    const bad = folder.write('bad.json', '{');
    const { code, stdout } = await runCli(['inspect', session, bad, session, '--json', '--html', out]);

    expect(code).not.toBe(0);
    expect(stdout.match(/"type":"inspection"/g)).toHaveLength(2);
    expect(readFileSync(out, 'utf8')).toContain('<h1>2 conversations</h1>');
  });

  it('ends with exit code 2 when the page cannot be written', async () => {
    const { code, stderr } = await runCli([
      'inspect',
      session,
      '--html',
      join(folder.path, 'no/such/a.html'),
    ]);

    expect(code).toBe(2);
    expect(stderr).toContain('cannot be written');
    expect(stderr).not.toContain('    at ');
  });
});

/** The largest horizontal overlap of two labels on one line of any chart, in pixels. */
const OVERLAP = `Math.max(0, ...[...document.querySelectorAll('.plot > svg')].filter((chart) => chart.checkVisibility()).flatMap((chart) => {
  const boxes = [...chart.querySelectorAll('text')].map((text) => text.getBoundingClientRect());
  return boxes.flatMap((one, index) => boxes.slice(index + 1)
    .filter((other) => Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top) > 6)
    .map((other) => Math.min(one.right, other.right) - Math.max(one.left, other.left)));
}))`;

/** Labels of charts that stick out of the screen. */
const OUTSIDE = `[...document.querySelectorAll('.plot text')].filter((text) => text.checkVisibility())
  .filter((text) => { const box = text.getBoundingClientRect(); return box.left < 0 || box.right > innerWidth; }).length`;

/** Sizes of letters in charts, as they are on the screen. */
const LETTERS = `[...new Set([...document.querySelectorAll('svg text')].map((text) => getComputedStyle(text).fontSize))]`;

const isMissing = chromiumPath === undefined;

describe.skipIf(isMissing)(`pages in a browser${isMissing ? ` (skipped: ${chromiumIsMissing})` : ''}`, () => {
  let browser: Browser;
  const page = (name: string) => pathToFileURL(join(folder.path, `${name}.html`)).href;

  beforeAll(async () => {
    browser = startChromium(chromiumPath ?? '');
    await runCli(['inspect', session, '--html', join(folder.path, 'inspection.html')]);
    await runCli(['inspect', session, session, '--html', join(folder.path, 'inspections.html')]);
    folder.write('comparison.html', renderComparisonPage(inventedComparison()));
    folder.write('receipt.html', renderReceiptPage({ file: session, account: exampleAccount() }));
    const memory = ['--strategy', 'summarize', '--budget', '30%', '--show'];
    await runCli(['compact', session, ...memory, '--html', join(folder.path, 'memory.html')]);
  });
  afterAll(() => browser.close());

  const views = [1280, 400].flatMap((width) =>
    (['light', 'dark'] as const).map((colours) => ({ width, colours })),
  );

  describe.each(['inspection', 'inspections', 'comparison', 'receipt', 'memory'])('%s', (name) => {
    it.each(views)(
      'fits $width pixels and suits $colours screens without a complaint or a request',
      async (view) => {
        const open = await browser.open(page(name), view);
        const seen = {
          complaints: open.complaints,
          requests: open.requests,
          width: await open.evaluate<number>('document.documentElement.scrollWidth'),
          outside: await open.evaluate<number>(OUTSIDE),
          letters: await open.evaluate<readonly string[]>(LETTERS),
        };

        expect(seen).toEqual({
          complaints: [],
          requests: [],
          width: view.width,
          outside: 0,
          letters: ['12px'],
        });
        expect(await open.evaluate<number>(OVERLAP)).toBeLessThan(1);
        expect(await open.evaluate<string>('getComputedStyle(document.body).backgroundColor')).toBe(
          view.colours === 'dark' ? 'rgb(19, 21, 24)' : 'rgb(250, 250, 248)',
        );
        await open.close();
      },
    );

    it('can be used by keyboard alone: everything that opens or scrolls is reached', async () => {
      const open = await browser.open(page(name), { width: 400, colours: 'light' });
      const wanted = await open.evaluate<number>(
        `[...document.querySelectorAll('a, summary, [tabindex="0"]')].filter((one) => one.checkVisibility()).length`,
      );
      const reached = new Set<string>();
      for (let step = 0; step < wanted; step++) {
        await open.press('Tab');
        reached.add(
          await open.evaluate<string>(
            `[...document.querySelectorAll('*')].indexOf(document.activeElement) + ' ' + document.activeElement.matches(':focus-visible')`,
          ),
        );
      }

      expect(wanted).toBeGreaterThan(1);
      expect(reached.size).toBe(wanted);
      expect([...reached].filter((one) => !one.endsWith('true'))).toEqual([]);
      await open.close();
    });
  });

  it('opens the numbers of a chart with the enter key', async () => {
    const open = await browser.open(page('inspection'), { width: 1280, colours: 'light' });
    await open.press('Tab');
    await open.press('Tab');
    const before = await open.evaluate<boolean>('document.activeElement.parentElement.open');
    await open.press('Enter');

    expect([before, await open.evaluate<boolean>('document.activeElement.parentElement.open')]).toEqual([
      false,
      true,
    ]);
    await open.close();
  });

  it('would notice a complaint and a request', async () => {
    folder.write('bad.html', '<img src="missing.png"><script>console.error("no")</script>');
    const open = await browser.open(page('bad'), { width: 400, colours: 'light' });

    expect(open.requests).toHaveLength(1);
    expect(open.complaints.join()).toContain('"no"');
    await open.close();
  });
});

function exampleAccount() {
  const messages = Array.from({ length: 40 }, (_, index) => ({
    role: index % 2 === 0 ? 'user' : 'assistant',
    content: `message ${index} `.repeat(index),
  }));
  const before = readConversation(messages);
  const conversation = readConversation(messages.slice(30));
  const runs = [
    { fate: 'dropped', start: 0, end: 30, tokens: 900 },
    { fate: 'verbatim', start: 30, end: 40, tokens: 600 },
  ] as const;
  const receipt = {
    version: 1,
    strategy: 'sliding-window',
    messagesBefore: 40,
    messagesAfter: 10,
    tokensBefore: 1500,
    tokensAfter: 600,
    runs,
  } as const;
  const estimator = createTokenEstimator();
  return accountForCompaction(before, { conversation, receipt, reason: 'sliding-window' }, { estimator });
}
