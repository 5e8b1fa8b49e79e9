import { spawn as spawnProcess } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { spawn } from '@lydell/node-pty';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Browser, chromiumIsMissing, chromiumPath, startChromium } from '../support/chromium.ts';
import { runCli } from '../support/cli.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const folder = temporaryFolder();
const main = resolve(import.meta.dirname, '../../dist/cli/main.js');

interface Share {
  readonly kept: number;
  readonly of: number;
}

interface Spent {
  readonly steps: number;
  readonly tokensSent: number;
  readonly cost: number;
}

interface Figures {
  readonly stepsDone: number;
  readonly requests: number;
  readonly refused: number;
  readonly compactions: number;
  readonly peakTokens: number;
  readonly spent: Spent;
  readonly spentInCommon: Spent;
  readonly survived: { readonly rules: Share; readonly changedFiles: Share; readonly names: Share };
  readonly refusal?: { readonly status: number; readonly message: string };
}

interface Demo {
  readonly steps: number;
  readonly client: string;
  readonly windowTokens: number;
  readonly without: Figures;
  readonly with: Figures;
  readonly receipts: readonly { readonly tokensBefore: number; readonly tokensAfter: number }[];
  readonly report: string;
}

/** The shortest session there is. */
const SMALL = ['--window', '16000'];

/** Runs the demo for its numbers. */
async function numbersOf(...args: readonly string[]): Promise<Demo> {
  const { code, stdout, stderr } = await runCli(['demo', '--json', ...args], {
    env: { TMPDIR: folder.path },
  });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout) as Demo;
}

/** An empty folder for temporary files. */
function emptyFolder(name: string): string {
  const path = join(folder.path, name);
  mkdirSync(path);
  return path;
}

describe('roundfold demo', () => {
  it('dies without roundfold, ends with it, and says so in a table', async () => {
    const temporary = emptyFolder('piped');
    const { code, stdout, stderr } = await runCli(['demo'], { env: { TMPDIR: temporary } });

    expect(code).toBe(0);
    expect(`${stdout}${stderr}`).not.toContain('\x1b');
    expect(`${stdout}${stderr}`).not.toContain('\r');
    expect(stderr).toMatch(/refused at request \d+\n {4}400 invalid_request_error: prompt is too long: \d+/);
    expect(stderr).toMatch(/finished after \d+ requests, none refused/);
    expect(stderr.match(/folded before step \d+: [\d.]+k → [\d.]+k tokens\n {4}messages: /g)?.length).toBe(
      Number(/compactions +0 +(\d+)/.exec(stdout)?.[1]),
    );
    expect(stdout).toMatch(/without +with roundfold\n +steps done +\d+ of 99 +99 of 99\n/);
    expect(stdout).toMatch(/refused +1 +0\n/);
    expect(stdout).toMatch(/rules, word for word +1 of 1 +2 of 2\n/);
    expect(stdout.match(/ (inspect|compact|simulate) .*\n/g)).toHaveLength(3);

    const report = /Report: (.*)\n/.exec(stdout)?.[1] ?? '';
    expect(readdirSync(temporary)).toHaveLength(1);
    expect(readdirSync(dirname(report))).toEqual(['report.html']);
    expect(statSync(report).mode & 0o777).toBe(0o600);
  });

  it.each([
    { window: '16000', seed: '5' },
    { window: '32000', seed: '1' },
  ])('has the same numbers again for a window of $window and seed $seed', async ({ window, seed }) => {
    const out = join(folder.path, `${window}.html`);
    const args = ['--window', window, '--seed', seed, '--html', out];
    const [first, second] = [await numbersOf(...args), await numbersOf(...args)];
    const { without, with: kept } = first;

    expect(second).toEqual(first);
    expect(first).toMatchObject({ client: 'the Anthropic SDK', windowTokens: Number(window), report: out });
    expect(without).toMatchObject({ refused: 1, compactions: 0, requests: without.stepsDone + 1 });
    expect(without.refusal).toMatchObject({ status: 400 });
    expect(without.refusal?.message).toMatch(/^prompt is too long: \d+ tokens > \d+ maximum$/);
    expect(without.stepsDone).toBeLessThan(first.steps);
    expect(kept).toMatchObject({ stepsDone: first.steps, requests: first.steps, refused: 0 });
    expect(kept.refusal).toBeUndefined();
    expect(kept.peakTokens).toBeLessThan(Number(window));
    expect(kept.survived.rules).toEqual({ kept: 2, of: 2 });
    expect(kept.survived.changedFiles.kept / kept.survived.changedFiles.of).toBeGreaterThan(0.9);
    expect(first.receipts).toHaveLength(kept.compactions);
    expect(first.receipts.every(({ tokensBefore, tokensAfter }) => tokensAfter < tokensBefore)).toBe(true);
  });

  it('is another session with another seed', async () => {
    const [one, other] = [await numbersOf(...SMALL), await numbersOf(...SMALL, '--seed', '2')];

    expect(other.with.spent.tokensSent).not.toBe(one.with.spent.tokensSent);
  });

  it('compares what both runs took over the steps that both have done, and says why', async () => {
    const { code, stdout } = await runCli(['demo', ...SMALL], { env: { TMPDIR: folder.path } });
    const { without, with: kept, steps } = await numbersOf(...SMALL);

    expect(code).toBe(0);
    expect(without.spentInCommon.steps).toBe(without.stepsDone);
    expect(kept.spentInCommon.steps).toBe(without.stepsDone);
    expect(kept.spentInCommon.tokensSent).toBeLessThan(without.spentInCommon.tokensSent);
    expect(kept.spentInCommon.tokensSent).toBeLessThan(kept.spent.tokensSent);
    expect(stdout).toMatch(new RegExp(`cost of ${without.stepsDone} steps +\\$[\\d.]+ +\\$[\\d.]+\n`));
    // A session that was not played to its end has no cost of all its steps.
    expect(stdout).toMatch(new RegExp(`cost of all ${steps} steps +– +\\$[\\d.]+\n`));
    expect(stdout.replaceAll('\n', ' ')).toContain(
      `ended after ${without.stepsDone} steps, so costs are compared`,
    );
    expect(stdout).not.toContain('per step');
  });

  it('takes a client of our own where the SDK is missing, says so, and comes to the same numbers', async () => {
    const lonely = join(folder.path, 'lonely');
    const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as {
      readonly dependencies: Readonly<Record<string, string>>;
    };
    cpSync('dist', join(lonely, 'dist'), { recursive: true });
    cpSync('package.json', join(lonely, 'package.json'));
    for (const name of Object.keys(dependencies)) {
      mkdirSync(dirname(join(lonely, 'node_modules', name)), { recursive: true });
      symlinkSync(resolve('node_modules', name), join(lonely, 'node_modules', name));
    }
    const run = (...args: readonly string[]) =>
      runNode([join(lonely, 'dist/cli/main.js'), 'demo', ...SMALL, ...args]);
    const spoken = await run('--html', join(folder.path, 'lonely.html'));
    const { client: _own, ...numbers } = JSON.parse(
      (await run('--json', '--html', join(folder.path, 'same.html'))).stdout,
    ) as Demo;
    const { client: _sdk, ...wanted } = await numbersOf(...SMALL, '--html', join(folder.path, 'same.html'));

    expect(spoken.code).toBe(0);
    expect(spoken.stderr.match(/.*SDK.*\n/g)).toEqual([
      "The Anthropic SDK is not installed here: roundfold's own client is used instead.\n",
    ]);
    expect(spoken.stderr).toContain('400 invalid_request_error: prompt is too long');
    expect(numbers).toEqual(wanted);
  });

  it.each([
    { args: ['--window', '1000'], says: 'from 16000' },
    { args: ['--window', '200000'], says: 'from 16000 to 64000' },
    { args: ['--seed', 'x'], says: '--seed takes a whole number' },
    { args: ['--html', '/no/such/folder/a.html'], says: 'cannot be written' },
  ])('refuses $args before it plays anything', async ({ args, says }) => {
    const { code, stdout, stderr } = await runCli(['demo', ...args]);

    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(says);
    expect(stderr).not.toContain('Without roundfold');
  });
});

/** Runs Node and gathers what it says. */
function runNode(args: readonly string[]) {
  return new Promise<{ code: number | null; stdout: string; stderr: string }>((done, fail) => {
    const child = spawnProcess(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    const said = { stdout: '', stderr: '' };
    child.stdout.on('data', (chunk: Buffer) => {
      said.stdout += chunk.toString('utf8');
    });
    child.stderr.on('data', (chunk: Buffer) => {
      said.stderr += chunk.toString('utf8');
    });
    child.on('error', fail);
    child.on('close', (code) => done({ code, ...said }));
  });
}

/** The demo on a terminal. `until` is waited for, and then Ctrl-C pressed. */
function onTerminal(
  columns: number,
  env: Readonly<Record<string, string>>,
  until?: RegExp,
): Promise<{ readonly code: number; readonly screen: string }> {
  return new Promise((done) => {
    const child = spawn(process.execPath, [main, 'demo', ...SMALL], {
      cols: columns,
      rows: 40,
      env: { PATH: process.env['PATH'] ?? '', TERM: 'xterm-256color', ...env },
    });
    let screen = '';
    let isStopped = false;
    child.onData((data) => {
      screen += data;
      if (until === undefined || isStopped || !until.test(screen.replaceAll(COLOURS, ''))) return;
      isStopped = true;
      child.write('\x03');
    });
    child.onExit(({ exitCode }) => done({ code: exitCode, screen }));
  });
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what terminals understand
const COLOURS = /\x1b\[\d*m/g;
const WIPE = '\r\x1b[2K';

/** What was on the screen, line by line, every state of a line that was redrawn. */
function linesOf(screen: string): readonly string[] {
  return screen
    .replaceAll(COLOURS, '')
    .split('\n')
    .flatMap((line) => line.split(WIPE))
    .map((line) => line.replaceAll('\r', ''));
}

describe('on a terminal', () => {
  it.each([
    { columns: 60, env: { NO_COLOR: '1' } },
    { columns: 100, env: {} },
  ])('redraws one line and keeps to $columns columns with $env', async ({ columns, env }) => {
    const { code, screen } = await onTerminal(columns, {
      ...env,
      TMPDIR: emptyFolder(`live-${columns}`),
    });
    const lines = linesOf(screen);
    // What is to be copied is not broken into lines.
    const words = lines.filter((line) => !/^(Report:| {2}node) /.test(line));

    expect(code).toBe(0);
    expect(screen.split(WIPE).length).toBeGreaterThan(50);
    expect(lines.filter((line) => line.startsWith('  step '))).not.toEqual([]);
    expect(words.filter((line) => line.length > columns)).toEqual([]);
    expect(screen.replaceAll(COLOURS, '') !== screen).toBe(!('NO_COLOR' in env));
    expect(screen).toContain('To try next');
  });

  it.each([/Without roundfold[\s\S]*step +3 /, /folded before/])(
    'ends with 130 at Ctrl-C after %s and leaves nothing behind',
    async (until) => {
      const temporary = emptyFolder(`stopped-${until.source.length}`);
      const { code, screen } = await onTerminal(80, { TMPDIR: temporary }, until);

      expect(code).toBe(130);
      expect(screen).toContain('interrupted; nothing was written');
      expect(screen).not.toContain('    at ');
      expect(screen).not.toContain('To try next');
      expect(readdirSync(temporary)).toEqual([]);
    },
  );
});

const isMissing = chromiumPath === undefined;

describe.skipIf(isMissing)(`its page${isMissing ? ` (skipped: ${chromiumIsMissing})` : ''}`, () => {
  let browser: Browser;
  const out = join(folder.path, 'page.html');

  beforeAll(async () => {
    browser = startChromium(chromiumPath ?? '');
    await numbersOf(...SMALL, '--html', out);
  });
  afterAll(() => browser.close());

  const views = [1280, 400].flatMap((width) =>
    (['light', 'dark'] as const).map((colours) => ({ width, colours })),
  );

  it.each(views)('fits $width pixels on $colours screens without a complaint or a request', async (view) => {
    const open = await browser.open(pathToFileURL(out).href, view);
    const seen = {
      complaints: open.complaints,
      requests: open.requests,
      width: await open.evaluate<number>('document.documentElement.scrollWidth'),
      outside: await open.evaluate<number>(
        `[...document.querySelectorAll('.plot text')].filter((text) => text.checkVisibility())
          .filter((text) => { const box = text.getBoundingClientRect(); return box.left < 0 || box.right > innerWidth; }).length`,
      ),
      charts: await open.evaluate<number>(`document.querySelectorAll('.plot').length`),
      rows: await open.evaluate<number>(
        `document.querySelectorAll('[aria-labelledby=figures] tbody td').length / 2`,
      ),
    };

    expect(seen).toEqual({
      complaints: [],
      requests: [],
      width: view.width,
      outside: 0,
      charts: 2,
      rows: 12,
    });
    await open.close();
  });

  it('marks every compaction and has a receipt of each', async () => {
    const open = await browser.open(pathToFileURL(out).href, { width: 1280, colours: 'light' });
    const marks = await open.evaluate<number>(`document.querySelectorAll('line.cut').length`);
    const receipts = await open.evaluate<number>(`document.querySelectorAll('details.session').length`);
    const { compactions } = (await numbersOf(...SMALL)).with;

    expect([marks, receipts]).toEqual([compactions, compactions]);
    await open.close();
  });
});
