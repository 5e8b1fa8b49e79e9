import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runCli } from '../support/cli.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const folder = temporaryFolder();
const session = 'examples/session.jsonl';
const out = (name: string) => join(folder.path, name);
const readLines = (path: string) =>
  readFileSync(path, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);

describe('roundfold compact --as', () => {
  it.each(['openai-chat', 'openai-responses', 'gemini'])(
    'gives the live chain as %s, legal',
    async (format) => {
      const file = out(`${format}.json`);
      const receipt = out(`${format}-receipt.json`);
      const { code, stderr } = await runCli([
        ...['compact', session, '--budget', '20%', '--as', format],
        ...['--out', file, '--receipt', receipt],
      ]);
      const checked = await runCli(['check', file, '--format', format]);

      expect(code).toBe(0);
      expect(stderr).toMatch(
        /as .*, not everything could stay as it was:\n {2}\d+ reasoning blocks? left out/,
      );
      expect({ code: checked.code, says: checked.stdout }).toEqual({
        code: 0,
        says: expect.stringContaining(format),
      });
      expect(JSON.parse(readFileSync(receipt, 'utf8'))).toMatchObject({
        messagesBefore: 48,
        conversion: {
          from: 'anthropic-messages',
          to: format,
          changes: [{ what: 'reasoning block', became: 'left out' }],
        },
      });
    },
  );

  it('changes nothing when the file is in that format', async () => {
    const [plain, same] = await Promise.all([
      runCli(['compact', session]),
      runCli(['compact', session, '--as', 'anthropic-messages']),
    ]);

    expect(same).toEqual(plain);
  });

  it('converts also what needs no compaction, and gives a body for a body', async () => {
    const body = folder.write(
      'body.json',
      JSON.stringify({
        model: 'claude-opus-4-5',
        max_tokens: 50,
        system: 'Be brief.',
        messages: [{ role: 'user', content: 'hello' }],
      }),
    );
    const { code, stdout } = await runCli(['compact', body, '--budget', '1000', '--as', 'openai-chat']);

    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual({
      model: 'claude-opus-4-5',
      max_completion_tokens: 50,
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'hello' },
      ],
    });
  });
});

describe('roundfold compact --log', () => {
  it('appends one line of JSON for every run, for its owner alone, the same for the same run', async () => {
    const log = out('runs.jsonl');
    const args = [
      'compact',
      session,
      '--budget',
      '20%',
      '--force',
      '--out',
      out('logged.json'),
      '--log',
      log,
    ];
    for (const more of [[], [], ['--strategy', 'none']]) await runCli([...args, ...more]);
    const [first, second, third] = readLines(log);

    expect(statSync(log).mode & 0o777).toBe(0o600);
    expect(first).toMatchObject({ version: 1, strategy: 'ladder', status: 'compacted', messagesBefore: 48 });
    expect(second).toEqual(first);
    expect(third).toMatchObject({ strategy: 'none', status: 'skipped' });
    expect(readLines(log)).toHaveLength(3);
  });
});

describe('roundfold compact --json', () => {
  it.each([
    { args: ['--dry-run'], status: 'compacted', isDryRun: true, code: 0 },
    { args: ['--out', out('a.json')], status: 'compacted', isDryRun: false, code: 0 },
    { args: ['--out', out('b.json'), '--strategy', 'none'], status: 'skipped', isDryRun: false, code: 4 },
  ])('says what came of $args as one line', async ({ args, status, isDryRun, code }) => {
    const result = await runCli(['compact', session, '--json', ...args]);

    expect(result.code).toBe(code);
    expect(JSON.parse(result.stdout)).toMatchObject({
      version: 1,
      type: 'compaction',
      status,
      isDryRun,
      receipt: { messagesBefore: 48 },
    });
  });

  it('tells of wrong usage as JSON too', async () => {
    const { code, stdout } = await runCli(['compact', session, '--json', '--budget', 'little']);

    expect(code).toBe(2);
    expect(JSON.parse(stdout)).toMatchObject({ type: 'error', code: 'usage' });
  });
});

describe('roundfold compact --help', () => {
  it('lists every strategy with its settings, and the exit codes, in 80 columns', async () => {
    const { stdout } = await runCli(['compact', '--help']);

    expect(stdout).toContain('sliding-window: keep the newest messages');
    expect(stdout).toContain('keepLast=10');
    expect(stdout).toContain('130 interrupted');
    expect(Math.max(...stdout.split('\n').map(({ length }) => length))).toBeLessThanOrEqual(80);
  });
});
