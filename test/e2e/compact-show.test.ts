import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readSummaryMessage } from '../../src/conversation/summary-message.ts';
import { readConversation } from '../../src/formats/registry.ts';
import { runCli } from '../support/cli.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { openTerminal } from '../support/terminal-session.ts';

const folder = temporaryFolder();
const session = resolve('examples/session.jsonl');
const out = (name: string) => join(folder.path, name);

/** What the model gets between the delimiters. */
function memoryIn(file: string): string | undefined {
  const { messages } = readConversation(JSON.parse(readFileSync(file, 'utf8')));
  return messages.map(readSummaryMessage).find((text) => text !== undefined);
}

const PLAIN = 'Please go on with the next pier, and never paint it on a Sunday when the harbour is closed. ';
const HOSTILE = 'Use \u001b[31mred\u202E paint and </pre><b>nothing</b> else.';

/** A chat in which the user's first words stand in the same message as the memory. */
const chat = () =>
  folder.write(
    'chat.json',
    JSON.stringify({
      model: 'gpt-4o',
      messages: [
        { role: 'user', content: 'We paint the piers.\n## What happened\n- nothing yet' },
        ...Array.from({ length: 20 }, (_, index) => [
          { role: 'assistant', content: `Pier ${index} is painted. ${'It took two coats. '.repeat(20)}` },
          { role: 'user', content: index === 2 ? HOSTILE : PLAIN },
        ]).flat(),
      ],
    }),
  );

describe('roundfold compact --show', () => {
  it('prints the memory that the conversation would carry, and writes nothing', async () => {
    const file = out('compacted.json');
    const args = ['compact', session, '--budget', '10%'];
    await runCli([...args, '--out', file]);
    const { code, stdout, stderr } = await runCli([...args, '--show']);

    expect(code).toBe(0);
    expect(stdout).toBe(`${memoryIn(file)}\n`);
    expect(stdout).toMatch(/^Memory of \d+ rounds\.[\s\S]*^## What happened$/m);
    expect(stderr).toMatch(/tokens, 48 → \d+ messages/);
    expect(stderr).toContain('the conversation was not written (--show without --out)');
  });

  it('writes the conversation too where --out names a file', async () => {
    const file = out('both.json');
    const { code, stdout, stderr } = await runCli([
      'compact',
      session,
      '--budget',
      '10%',
      '--show',
      '--out',
      file,
    ]);

    expect(code).toBe(0);
    expect(stdout).toBe(`${memoryIn(file)}\n`);
    expect(stderr).not.toContain('not written');
  });

  it('has what is quoted in front of the memory, and acts upon nothing in it', async () => {
    const args = ['compact', chat(), '--budget', '30%', '--strategy', 'summarize', '--show'];
    const { stdout } = await runCli(args);

    expect(stdout).toMatch(
      /^We paint the piers\.\n## What happened\n- nothing yet\n\nMemory of \d+ rounds\./,
    );
    expect(stdout).toContain('\\u{1b}[31mred\\u{202e} paint and </pre><b>nothing</b> else.');
    expect(stdout.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\u202e]/u);
  });

  it.each([
    { args: ['--budget', '200%'], code: 0, why: 'the conversation stays as it is' },
    {
      args: ['--strategy', 'sliding-window', '--set', 'keepLast=4'],
      code: 0,
      why: 'sliding-window made the conversation smaller without one',
    },
    {
      args: ['--strategy', 'strip-media', '--budget', '10'],
      code: 4,
      why: 'the conversation stays as it is',
    },
  ])('says that there is none with $args, and ends as it would', async ({ args, code, why }) => {
    const shown = await runCli(['compact', session, ...args, '--show']);

    expect(shown).toMatchObject({ code, stdout: '' });
    expect(shown.code).toBe((await runCli(['compact', session, ...args])).code);
    expect(shown.stderr).toContain(`there is no memory to show: ${why}`);
  });

  it('ends with 4 when the budget is not met, and shows the memory all the same', async () => {
    const { code, stdout } = await runCli(['compact', session, '--budget', '10', '--show']);

    expect(code).toBe(4);
    expect(stdout).toMatch(/^Memory of/);
  });

  it('is a field of the JSON', async () => {
    const args = ['compact', session, '--json', '--show'];
    const [text, some, none, plain] = await Promise.all([
      runCli(['compact', session, '--budget', '10%', '--show']),
      runCli([...args, '--budget', '10%']),
      runCli([...args, '--budget', '200%']),
      runCli(['compact', session, '--json', '--dry-run']),
    ]);

    expect(JSON.parse(some?.stdout ?? '')).toMatchObject({ memory: text?.stdout.trimEnd(), isDryRun: false });
    expect(JSON.parse(none?.stdout ?? '')).toMatchObject({ status: 'skipped', memory: null });
    expect(JSON.parse(plain?.stdout ?? '')).not.toHaveProperty('memory');
  });

  it('stands below the table of a dry run, which writes no file', async () => {
    const [file, page] = [out('dry.json'), out('dry.html')];
    const names = ['--out', file, '--html', page];
    const { stdout } = await runCli(['compact', session, '--budget', '10%', '--dry-run', '--show', ...names]);

    expect(stdout).toMatch(/messages\nMemory of \d+ rounds/);
    expect([file, page].filter(existsSync)).toEqual([]);
  });

  it('leaves what it costs to the other side of the output', async () => {
    const args = ['--model', 'claude-opus-5', '--explain', '--show'];
    const { stdout, stderr } = await runCli(['compact', session, '--budget', '10%', ...args]);

    expect(stdout).not.toContain('costs with');
    expect(stderr).toContain('costs with');
  });

  it('is bold and broken between words on a screen', async () => {
    const args = ['compact', session, '--budget', '10%', '--show'];
    const screen = openTerminal(args, { cwd: folder.path, columns: 60 });
    const code = await screen.ended;
    const seen = await screen.until('its last words', (text) => text.includes('not written'));

    expect(code).toBe(0);
    expect(screen.raw()).toContain('\u001b[1m## What happened\u001b[22m');
    expect(seen).toMatch(/^Memory of \d+ rounds\. \[n\] numbers/);
    const told = seen.slice(0, seen.indexOf('## Files as they are now')).split('\n');
    expect(Math.max(...told.map(({ length }) => length))).toBeLessThanOrEqual(60);
    // As on a pipe, but for line breaks.
    const words = (text: string) => text.split(/\s+/);
    const { stdout } = await runCli(args);
    const plain = stdout.slice(0, stdout.indexOf('## Files as they are now'));
    expect(words(told.join('\n'))).toEqual(words(plain));
  });
});

describe('the page of roundfold compact --html', () => {
  it('has the memory, and nothing of it as markup', async () => {
    const page = out('page.html');
    await runCli(['compact', chat(), '--budget', '30%', '--strategy', 'summarize', '--show', '--html', page]);
    const text = readFileSync(page, 'utf8');

    expect(text).toMatch(/id="memory">The memory, as the model will read it<[\s\S]*id="survival"/);
    expect(text).toMatch(/<h3 id="memory-\d">What the user said<\/h3>/);
    expect(text).toContain('\\u{1b}[31mred\\u{202e} paint and &lt;/pre&gt;&lt;b&gt;nothing');
    expect(text).not.toContain('<b>');
  });
});
