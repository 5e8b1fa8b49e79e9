import { mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runCli } from '../support/cli.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const folder = temporaryFolder();
const session = 'examples/session.jsonl';
const out = (name: string) => join(folder.path, name);
const readJson = (path: string) => JSON.parse(readFileSync(path, 'utf8')) as unknown;

describe('roundfold compact', () => {
  it.each(['50%', '20%', '6000'])(
    'makes a session fit %s, legally, for nobody else to read',
    async (budget) => {
      const file = out(`small-${budget.replace('%', '')}.json`);
      const { code, stdout, stderr } = await runCli(['compact', session, '--budget', budget, '--out', file]);

      expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
      expect(stderr).toMatch(/[\d,]+ → [\d,]+ tokens, 48 → \d+ messages/);
      expect(statSync(file).mode & 0o777).toBe(0o600);
      expect((await runCli(['check', file])).code).toBe(0);
    },
  );

  it('writes the shape it was given to standard output', async () => {
    const messages = Array.from({ length: 40 }, (_, index) => ({
      role: index % 2 === 0 ? 'user' : 'assistant',
      content: `message ${index}`,
    }));
    // In a chat the sides take turns: the note that something left joins the first question, and an answer follows.
    const note = '[earlier messages were removed to save space]';
    const task = ['message 0', note].map((text) => ({ type: 'text', text }));
    const shortened = [{ role: 'user', content: task }, ...messages.slice(-5)];
    const body = folder.write('body.json', JSON.stringify({ model: 'gpt-4o', temperature: 1, messages }));
    const list = folder.write('list.json', JSON.stringify(messages));
    const [fromBody, fromList] = await Promise.all(
      [body, list].map((file) =>
        runCli(['compact', file, '--strategy', 'sliding-window', '--set', 'keepLast=4']),
      ),
    );

    expect(JSON.parse(fromBody?.stdout ?? '')).toMatchObject({
      model: 'gpt-4o',
      temperature: 1,
      messages: shortened,
    });
    expect(JSON.parse(fromList?.stdout ?? '')).toEqual(shortened);
  });

  it('accounts for every message in the receipt, without handles that would lead nowhere', async () => {
    const receipt = out('receipt.json');
    const page = out('receipt.html');
    const args = ['--out', out('r.json'), '--receipt', receipt, '--html', page, '--json'];
    const { stdout } = await runCli(['compact', session, '--budget', '20%', ...args]);
    const { runs, messagesBefore } = readJson(receipt) as {
      messagesBefore: number;
      runs: { start: number; end: number; fate: string }[];
    };

    expect(runs.map(({ start }) => start)).toEqual([0, ...runs.slice(0, -1).map(({ end }) => end)]);
    expect(runs.at(-1)?.end).toBe(messagesBefore);
    expect(runs.some(({ fate }) => fate !== 'verbatim')).toBe(true);
    for (const shown of [stdout, ...[receipt, page].map((file) => readFileSync(file, 'utf8'))])
      expect(shown).not.toMatch(/rf:[0-9a-f]{8}|handle/);
  });

  it('mends a request before it is compacted, and accounts for that', async () => {
    const call = { type: 'tool_use', id: 'toolu_1', name: 'read', input: {} };
    const messages = [
      { role: 'user', content: 'What is in notes.txt?' },
      { role: 'assistant', content: [call] },
      { role: 'user', content: 'Are you still there?' },
      ...Array.from({ length: 20 }, (_, index) => [
        { role: 'assistant', content: `Page ${index} says: ${'low tide at six, '.repeat(20)}` },
        { role: 'user', content: `And page ${index + 1}?` },
      ]).flat(),
    ];
    const body = folder.write(
      'broken.json',
      JSON.stringify({ model: 'claude-opus-5', max_tokens: 9, messages }),
    );
    const [file, receipt] = [out('mended.json'), out('mended-receipt.json')];
    const { code, stderr } = await runCli(['compact', body, '--out', file, '--receipt', receipt]);

    expect(code).toBe(0);
    expect(stderr).toMatch(/^mended before it was compacted:\n {2}1 /m);
    expect(readJson(receipt)).toMatchObject({ repairs: [{ count: 1 }] });
    // Tools are not declared in the body, which is another matter.
    expect((await runCli(['check', body])).stdout).toContain('tool-call-without-result');
    expect((await runCli(['check', file])).stdout).not.toContain('tool-call-without-result');
  });

  it('shows what would happen and writes nothing with --dry-run', async () => {
    const { code, stdout, stderr } = await runCli(['compact', session, '--budget', '10%', '--dry-run']);

    expect(code).toBe(0);
    expect(stdout).toMatch(/^- +1 +assistant +\d+ /m);
    expect(stdout).toMatch(/^\+ +user +[\d,]+ +\[earlier conversation summary\]/m);
    expect(stdout).toMatch(/tokens, 48 → \d+ messages\n$/);
    expect(Math.max(...stdout.split('\n').map(({ length }) => length))).toBeLessThanOrEqual(80);
    expect(stderr).toContain('nothing was written');
  });

  it('ends with 4 when the budget cannot be met, says why, and still writes the smallest', async () => {
    const file = out('least.json');
    const { code, stderr } = await runCli(['compact', session, '--budget', '10', '--out', file]);

    expect(code).toBe(4);
    expect(stderr).toContain('budget not met: 10 tokens were wanted');
    expect(stderr).toMatch(/Most of it: the \w+ \([\d,]+ tokens\)/);
    expect((readJson(file) as unknown[]).length).toBeLessThan(48);
    expect((await runCli(['check', file])).code).toBe(0);
  });

  it('keeps what is pinned', async () => {
    const { stdout } = await runCli(['compact', session, '--budget', '3000', '--pin', '25 October']);

    expect(stdout).toContain('Never touch anything under src/vendor');
    expect(stdout).toContain('Add a test for 25 October');
  });

  it.each([
    { args: ['--strategy', 'magic'], words: 'Allowed choices' },
    { args: ['--strategy', 'snip', '--set', 'depth=3'], words: 'no option' },
    { args: ['--set', 'keepRecent'], words: 'key=value' },
    { args: ['--budget', 'little'], words: '--budget wants' },
    { args: ['--pin', '('], words: 'no regular expression' },
    { args: ['--summarizer', 'anthropic'], words: 'ANTHROPIC_API_KEY' },
    { args: ['--conversation', '9'], words: 'no conversation 9' },
  ])('refuses $args with exit code 2 and a remedy', async ({ args, words }) => {
    const { code, stdout, stderr } = await runCli(['compact', session, ...args]);

    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(words);
    expect(stderr).not.toContain('    at ');
  });

  it('says that there are more conversations in a file, where none is chosen', async () => {
    const two = ['One?', 'Two?'].map((content) => JSON.stringify({ messages: [{ role: 'user', content }] }));
    const file = folder.write('two.jsonl', `${two.join('\n')}\n`);
    const first = await runCli(['compact', file, '--budget', '3000']);
    const chosen = await runCli(['compact', file, '--budget', '3000', '--conversation', '2']);
    expect(first.stderr).toContain('--conversation takes another');
    expect(first.stdout).toContain('One?');
    expect(chosen.stderr).not.toContain('--conversation');
    expect(chosen.stdout).toContain('Two?');
  });

  it.each(['/nowhere/at/all/small.json', '/dev/full/x.json'])(
    'refuses to write to %s with exit code 2, and leaves nothing behind',
    async (file) => {
      const { code, stdout, stderr } = await runCli(['compact', session, '--out', file]);

      expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
      expect(stderr).toContain('cannot be written');
      expect(stderr).not.toContain('    at ');
    },
  );

  it('leaves an older file alone when the new one cannot be written whole', async () => {
    const folderPath = out('kept');
    mkdirSync(folderPath);
    const { code } = await runCli(['compact', session, '--out', folderPath]);

    expect(code).toBe(2);
    expect(statSync(folderPath).isDirectory()).toBe(true);
    expect(readdirSync(folder.path).filter((name) => name.includes('unfinished'))).toEqual([]);
  });

  it('writes the summary without a model when the provider cannot be reached, and says so', async () => {
    const file = out('unreached.json');
    const env = { ANTHROPIC_API_KEY: 'sk-test-not-a-key', ANTHROPIC_BASE_URL: 'http://127.0.0.1:9' };
    const { code, stderr } = await runCli(
      ['compact', session, '--strategy', 'summarize', '--summarizer', 'anthropic', '--out', file],
      { env },
    );

    expect(code).toBe(0);
    expect(stderr).toMatch(/note: .*could not be reached.*without a model/s);
    expect(stderr).not.toContain('sk-test-not-a-key');
    expect((await runCli(['check', file])).code).toBe(0);
  });
});
