import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { runCli } from '../support/cli.ts';
import { hexadecimal, storeConversation } from '../support/stored-conversation.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const folder = temporaryFolder();

const lines = (text: string) =>
  text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);

describe('roundfold recall of many pages', () => {
  const path = join(folder.path, 'pages.sqlite');
  const text = Array.from({ length: 1000 }, (_, line) => `line ${line} of the logbook`).join('\n');
  const read = (...args: readonly string[]) => runCli(['recall', handle, ...args, '--store', path]);
  let handle: string;

  beforeAll(async () => {
    const [span] = await storeConversation({ path, texts: [text] });
    handle = span?.handle ?? '';
  });

  it('gives the first page, says how many there are, and goes on', async () => {
    const { code, stdout, stderr } = await read();
    const others = await Promise.all(['2', '3', '4', '5', '6'].map((page) => read('--page', page)));

    expect({ code, stderr }).toEqual({ code: 0, stderr: 'page 1 of 6; --page 2 goes on\n' });
    expect(stdout).toMatch(/^--- message 1: user\nline 0 of the logbook\n/);
    expect(stdout.length).toBeLessThan(8100);
    expect(others.at(-1)?.stderr).toBe('page 6 of 6\n');
    expect((await read('--all')).stdout).toBe([stdout, ...others.map((page) => page.stdout)].join(''));
  });

  it('gives several pages, and pages as JSON', async () => {
    const several = await read('--pages', '2-4');
    const json = lines((await read('--pages', '2-4', '--json')).stdout);

    expect(several.stderr).toBe('pages 2 to 4 of 6; --page 5 goes on\n');
    expect(json).toMatchObject(
      [2, 3, 4].map((page) => ({ version: 1, type: 'page', handle, start: 1, end: 3, page, pages: 6 })),
    );
    expect(json.map((page) => page['text']).join('')).toBe(several.stdout);
    expect(lines((await read('--json')).stdout)).toMatchObject([{ page: 1, pages: 6 }]);
  });

  it.each([
    { args: ['--page', '7'], words: 'there is no page 7: this handle has 6 pages' },
    { args: ['--pages', '5-9'], words: 'there is no page 7: this handle has 6 pages' },
    { args: ['--page', '0'], words: '--page takes a whole number' },
    { args: ['--pages', '4-2'], words: '--pages takes a first and a last page' },
    { args: ['--pages', '3'], words: '--pages takes a first and a last page' },
    { args: ['--page', '1', '--all'], words: 'cannot be combined' },
    { args: ['--pages', '1-2', '--raw'], words: 'cannot be combined' },
  ])('$args is refused: 2', async ({ args, words }) => {
    const { code, stdout, stderr } = await read(...args);

    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(words);
  });

  it('finds the page and the message', async () => {
    const { stdout, stderr } = await runCli(['search', 'line', '777', '--store', path]);
    const [match] = lines((await runCli(['search', '777', '--json', '--store', path])).stdout);
    const page = Number(match?.['page']);

    expect(stdout).toContain(
      `${handle} page ${page} of 6, message 1; conversation ${hexadecimal('first', 12)}\n`,
    );
    expect(stdout).toMatch(/\n {4}….{40,60} 777 of the logbook line 778 /);
    expect(stderr).toContain('roundfold recall HANDLE --page NUMBER reads one');
    expect((await read('--page', String(page))).stdout).toContain('line 777 of the logbook\n');
  });
});
