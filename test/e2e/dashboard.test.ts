import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type Browser,
  chromiumIsMissing,
  chromiumPath,
  type OpenPage,
  startChromium,
} from '../support/chromium.ts';
import {
  anthropicWorker,
  chatWorker,
  type Observed,
  startObserved,
  type Worker,
  workUntilFolded,
} from '../support/observed.ts';

const isMissing = chromiumPath === undefined;
const views = (['light', 'dark'] as const).flatMap((colours) =>
  [1280, 400].map((width) => ({ colours, width })),
);

/** Everything that can be used and has no name that can be spoken. */
const NAMELESS = `[...document.querySelectorAll('a, button, summary, [role=img]')]
  .filter((element) => (element.getAttribute('aria-label') ?? element.textContent ?? '').trim() === '').length`;
const WIDER_THAN_SCREEN = 'document.documentElement.scrollWidth > innerWidth';

describe.skipIf(isMissing)(
  `the dashboard in a browser${isMissing ? ` (skipped: ${chromiumIsMissing})` : ''}`,
  () => {
    let browser: Browser;
    let observed: Observed;
    let workers: readonly Worker[];

    /** All clients do a turn at the same time, so many times. */
    const work = async (turns: number) => {
      for (let turn = 0; turn < turns; turn++) await Promise.all(workers.map((each) => each(900)));
      await observed.proxy.settle();
    };
    const openedId = () => observed.ledger.conversations().find(({ client }) => client === 'claude-code')?.id;

    beforeAll(async () => {
      browser = startChromium(chromiumPath ?? '');
      observed = await startObserved({ windowTokens: 16_000, showContent: true });
      const { url } = observed.proxy;
      workers = [
        anthropicWorker(url, 'sk-one'),
        chatWorker(url, 'sk-two'),
        anthropicWorker(url, 'sk-three', 'codex_cli_rs/0.60'),
      ];
      await work(40);
    });

    afterAll(async () => {
      await browser.close();
      await observed.close();
    });

    const until = async (page: OpenPage, expression: string) => {
      for (let tries = 0; tries < 200; tries++) {
        if (await page.evaluate<boolean>(`Boolean(${expression})`)) return;
        await sleep(25);
      }
      throw new Error(`never true: ${expression}\n${await page.evaluate<string>('document.body.innerText')}`);
    };
    const texts = (page: OpenPage, selector: string) =>
      page.evaluate<readonly string[]>(
        `[...document.querySelectorAll(${JSON.stringify(selector)})].map((each) => each.innerText)`,
      );
    const open = async (
      hash: string,
      ready: string,
      view = { width: 1280, colours: 'light' as 'light' | 'dark' },
    ) => {
      const page = await browser.open(`${observed.dashboard}${hash}`, view);
      await until(page, ready);
      return page;
    };
    /** As somebody at a keyboard would. */
    const use = async (page: OpenPage, selector: string) => {
      await page.evaluate(`document.querySelector(${JSON.stringify(selector)}).focus()`);
      await page.press('Enter');
    };
    /** Nothing to complain about, and nothing asked of anybody else. */
    const expectQuiet = (page: OpenPage) => {
      expect(page.complaints).toEqual([]);
      expect(
        page.requests.filter(
          (url) => !url.startsWith(`${observed.proxy.url}/roundfold/`) && url !== 'data:,',
        ),
      ).toEqual([]);
    };

    it('follows three clients at work, without reloading and without moving anything', async () => {
      const page = await open('', "document.querySelectorAll('tbody tr').length === 3");
      expect((await texts(page, 'tbody th a')).toSorted()).toEqual(['claude-code', 'codex', 'opencode']);
      const turns = async () => (await texts(page, 'td.turns')).map(Number);
      expect(await turns()).toEqual([40, 40, 40]);
      await page.evaluate(`{
      window.shift = 0;
      new PerformanceObserver((list) => { for (const entry of list.getEntries()) window.shift += entry.value; })
        .observe({ type: 'layout-shift' });
    }`);
      await work(6);
      await until(
        page,
        "[...document.querySelectorAll('td.turns')].every((cell) => cell.innerText === '46')",
      );

      expect(await page.evaluate<number>('window.shift')).toBeLessThan(0.001);
      expectQuiet(page);
      await page.close();
    });

    it('is moved through by keyboard, with a focus that can be seen', async () => {
      const page = await open('', "document.querySelectorAll('tbody tr').length === 3");
      const focused = () => page.evaluate<string>('document.activeElement.innerText');
      const names = await texts(page, 'tbody th a');
      await page.press('j');
      expect(await focused()).toBe(names[0]);
      await page.press('j');
      await page.press('j');
      await page.press('j');
      expect(await focused()).toBe(names[2]);
      await page.press('k');
      expect(await focused()).toBe(names[1]);
      const outline = "getComputedStyle(document.activeElement.closest('tr')).outlineStyle";
      expect(await page.evaluate<string>(outline)).toBe('solid');

      await page.press('Enter');
      await until(page, "document.querySelector('canvas')");
      expect(await page.evaluate<string>("document.querySelector('h1').innerText")).toContain(names[1] ?? '');
      await page.press('j');
      await page.press('Enter');
      await until(page, "document.querySelector('.panel')");
      await page.press('Escape');
      await until(page, "document.querySelector('.panel') === null && document.querySelector('canvas')");
      await page.press('Escape');
      await until(page, "document.querySelector('.list')");
      expectQuiet(page);
      await page.close();
    });

    it('undoes a fold and uses it again', async () => {
      const id = openedId() ?? '';
      const [worker] = workers;
      await workUntilFolded(observed, async (characters) => worker?.(characters), id);
      const before = observed.ledger.turns(id).at(-1)?.checkpoint;
      const inUse =
        "[...document.querySelectorAll('section[aria-labelledby=folds] tr')].find((row) => row.innerText.includes('in use'))";
      const page = await open(`#/c/${id}`, inUse);
      await page.evaluate(`${inUse}.querySelector('a').focus()`);
      await page.press('Enter');
      await until(page, "document.querySelector('.panel button')");
      await use(page, '.panel button');
      await until(page, "document.querySelector('.panel button').innerText === 'Use it again'");
      await workers[0]?.(10);
      await until(page, "document.querySelector('.lead').innerText.includes('undone')");
      const after = observed.ledger.turns(id).at(-1)?.checkpoint;
      expect(after).toBeDefined();
      expect(after).not.toBe(before);

      await use(page, '.panel button');
      await until(page, "document.querySelector('.panel button').innerText === 'Undo this fold'");
      await workers[0]?.(10);
      expect(observed.ledger.turns(id).at(-1)?.checkpoint).toBe(before);
      expectQuiet(page);
      await page.close();
    });

    it('pins a message, and lets it go', async () => {
      const id = openedId() ?? '';
      const page = await open(`#/c/${id}`, "document.querySelector('section[aria-labelledby=folds] a')");
      await use(page, 'section[aria-labelledby=folds] a');
      await until(page, "document.querySelector('.panel details summary')");
      await use(page, '.panel details summary');
      await until(page, "document.querySelector('.left button')");
      await use(page, '.left button');
      await until(page, "document.querySelector('.left button').getAttribute('aria-pressed') === 'true'");
      const pinned = async () => {
        const response = await fetch(`${observed.dashboard}api/conversations/${id}`);
        return ((await response.json()) as { wishes: { pinned: readonly number[] } }).wishes.pinned;
      };
      expect(await pinned()).toHaveLength(1);
      await use(page, '.left button');
      await until(page, "document.querySelector('.left button').getAttribute('aria-pressed') === 'false'");
      expect(await pinned()).toEqual([]);
      expectQuiet(page);
      await page.close();
    });

    it('says so when something is not there', async () => {
      const page = await open('#/c/none', "document.querySelector('.problem')");
      expect(await texts(page, '.problem')).toEqual(['this conversation is not remembered']);
      await page.close();
    });

    it('says so when the proxy is gone, and goes on by itself when it is back', async () => {
      const first = await startObserved({ windowTokens: 16_000 });
      const page = await browser.open(first.dashboard, { width: 1280, colours: 'light' });
      await until(page, "document.querySelector('.connection.live')");
      await first.close();
      await until(page, "document.querySelector('.connection.lost')");
      const again = await startObserved({
        windowTokens: 16_000,
        port: Number(new URL(first.proxy.url).port),
      });
      await anthropicWorker(again.proxy.url, 'sk-again')(10);
      await until(
        page,
        "document.querySelector('.connection.live') && document.querySelectorAll('tbody tr').length === 1",
      );
      await page.close();
      await again.close();
    });

    describe.each(views)('at $width pixels, $colours', (view) => {
      it.each([
        { name: 'conversations', hash: () => '', ready: '.list tbody tr' },
        { name: 'a conversation', hash: () => `#/c/${openedId()}`, ready: 'canvas' },
        { name: 'money', hash: () => '#/money', ready: 'canvas' },
        { name: 'health', hash: () => '#/health', ready: '.stats' },
      ])('$name fit the screen, have names for everything, and are quiet', async ({ hash, ready }) => {
        const page = await open(hash(), `document.querySelector('${ready}')`, view);
        await until(page, "document.querySelector('.connection.live')");

        expect(await page.evaluate<boolean>(WIDER_THAN_SCREEN)).toBe(false);
        expect(await page.evaluate<number>(NAMELESS)).toBe(0);
        expectQuiet(page);
        await page.close();
      });
    });
  },
);
