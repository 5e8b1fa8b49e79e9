import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runCli } from '../support/cli.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const folder = temporaryFolder();
const session = 'examples/session.jsonl';
const out = (name: string) => join(folder.path, name);
const dryRun = ['compact', session, '--budget', '40%', '--dry-run', '--explain'];

interface Explained {
  readonly costs: {
    readonly model: string;
    readonly idleSeconds: number;
    readonly explanation: string;
    readonly advice?: { readonly verdict: string; readonly reason: string; readonly quote: object };
  };
}

/** What the command says of costs, as JSON. */
async function explain(...args: readonly string[]): Promise<Explained['costs']> {
  const { code, stdout } = await runCli([...dryRun, '--json', ...args]);
  expect(code).toBe(0);
  return (JSON.parse(stdout) as Explained).costs;
}

describe('roundfold compact --explain', () => {
  it('says in words what it costs now, when it has paid and why to wait, with the model of the file', async () => {
    const { code, stdout } = await runCli(dryRun);
    const words = stdout.slice(stdout.indexOf('costs with')).replaceAll(/\s+/g, ' ');

    expect(code).toBe(0);
    expect(words).toMatch(/^costs with claude-sonnet-4-5-\d+, without a pause: Wait: /);
    expect(words).toMatch(
      /the next request costs \$[\d.]+ instead of \$[\d.]+\. Each turn after that saves \$/,
    );
    expect(words).toMatch(/so it has paid after \d+ turns?; about \d+ more are expected\. $/);
    expect(Math.max(...stdout.split('\n').map(({ length }) => length))).toBeLessThanOrEqual(80);
  });

  it('changes its mind after a pause in which the cache has expired', async () => {
    const [warm, cold] = await Promise.all([explain(), explain('--idle', '900')]);

    expect(warm).toMatchObject({
      idleSeconds: 0,
      advice: { verdict: 'wait', quote: { isCacheExpired: false } },
    });
    expect(cold).toMatchObject({
      idleSeconds: 900,
      advice: { verdict: 'compact-now', reason: 'cache-expired', quote: { breakEvenTurns: 0 } },
    });
  });

  it('reckons with the prices and the window of another model', async () => {
    const [small, large] = await Promise.all([
      explain('--model', 'gpt-4'),
      explain('--model', 'claude-opus-5-5', '--idle', '600'),
    ]);

    expect(small).toMatchObject({ model: 'gpt-4', advice: { reason: 'window-full' } });
    expect(large).toMatchObject({ model: 'claude-opus-5-5', advice: { reason: 'cache-expired' } });
  });

  it.each([
    {
      title: 'a model without known prices',
      body: { model: 'my-own-model' },
      words: /No prices are known for "my-own-model"/,
    },
    { title: 'no model at all', body: {}, words: /names no model/ },
  ])('says plainly when it cannot know: $title', async ({ body, words }) => {
    const messages = Array.from({ length: 40 }, (_, index) => ({
      role: index % 2 === 0 ? 'user' : 'assistant',
      content: `message ${index} ${'word '.repeat(50)}`,
    }));
    const file = folder.write('unpriced.json', JSON.stringify({ ...body, messages }));
    const { code, stdout } = await runCli(['compact', file, '--dry-run', '--explain']);

    expect(code).toBe(0);
    expect(stdout.replaceAll(/\s+/g, ' ')).toMatch(words);
  });

  it('says that nothing costs more when nothing was made smaller', async () => {
    const { code, stdout } = await runCli([...dryRun, '--strategy', 'none']);

    expect(code).toBe(4);
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain('Nothing was made smaller');
  });

  it('leaves standard output to the conversation when that goes there', async () => {
    const { stdout, stderr } = await runCli(['compact', session, '--budget', '40%', '--explain']);

    expect(() => JSON.parse(stdout) as unknown).not.toThrow();
    expect(stderr).toContain('costs with');
  });

  it.each([
    { args: ['--idle', '5'], words: 'without --explain' },
    { args: ['--explain', '--idle', 'long'], words: '--idle wants seconds' },
    { args: ['--explain', '--idle', '-5'], words: '--idle wants seconds' },
  ])('refuses $args with exit code 2 and a remedy', async ({ args, words }) => {
    const { code, stdout, stderr } = await runCli(['compact', session, ...args]);

    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(words);
  });
});

describe('roundfold compact --html', () => {
  it('writes one page for nobody else to read, beside the conversation', async () => {
    const page = out('receipt.html');
    const { code } = await runCli([
      'compact',
      session,
      '--budget',
      '40%',
      '--out',
      out('a.json'),
      '--html',
      page,
    ]);
    const text = readFileSync(page, 'utf8');

    expect(code).toBe(0);
    expect(statSync(page).mode & 0o777).toBe(0o600);
    expect(text).toMatch(/^<!doctype html>/i);
    expect(text).toContain('What became of every message');
    expect(text).not.toMatch(/(?:src|href)="https?:/);
  });

  it('accounts for a conversation that stays as it is', async () => {
    const page = out('unchanged.html');
    await runCli(['compact', session, '--strategy', 'none', '--out', out('b.json'), '--html', page]);

    expect(readFileSync(page, 'utf8')).toContain('What became of every message');
  });

  it('writes nothing with --dry-run', async () => {
    await runCli([...dryRun, '--html', out('dry.html')]);

    expect(existsSync(out('dry.html'))).toBe(false);
  });

  it.each([
    { title: 'the file that is read', html: session },
    { title: 'the file of the conversation', html: out('same.json') },
    { title: 'a folder that is not there', html: '/nowhere/at/all/page.html' },
  ])('refuses to write to $title', async ({ html }) => {
    const { code } = await runCli(['compact', session, '--out', out('same.json'), '--html', html]);

    expect(code).toBe(2);
    expect(existsSync(out('same.json'))).toBe(false);
  });
});
