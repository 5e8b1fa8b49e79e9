import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { beforeAll, describe, expect, it } from 'vitest';
import { runCli } from '../support/cli.ts';
import { hexadecimal, storeConversation } from '../support/stored-conversation.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const folder = temporaryFolder();
const filled = join(folder.path, 'filled.sqlite');
const secret = 'a secret of more than sixteen bytes';
const sealed = join(folder.path, 'sealed.sqlite');
const first = hexadecimal('first');
let spans: Awaited<ReturnType<typeof storeConversation>>;

const over = (store: string, ...args: readonly string[]) => runCli([...args, '--store', store]);

beforeAll(async () => {
  spans = await storeConversation({ path: filled });
  await storeConversation({ path: sealed, secret });
});

describe('a store that cannot be used', () => {
  it.each([
    ['store', 'ls'],
    ['store', 'verify'],
    ['store', 'prune', '--older-than', '1d'],
    ['search', 'harbour'],
  ])('%s %s finds nothing where there is no store, and makes none', async (...args) => {
    const home = join(folder.path, 'home');
    mkdirSync(home, { recursive: true });
    const named = await over(join(home, 'none.sqlite'), ...args);
    const byDefault = await runCli(args, { env: { HOME: home } });

    expect({ ...named, stderr: '' }).toEqual({ code: 0, stdout: '', stderr: '' });
    expect(named.stderr).toContain('nothing is stored yet');
    expect(byDefault.stderr).toContain(join(home, '.local/share/roundfold/store.sqlite'));
    expect(readdirSync(home)).toEqual([]);
  });

  it.each([
    ['recall', 'rf:1'],
    ['store', 'show', 'a'],
    ['store', 'forget', 'a', '--yes'],
    ['store', 'export'],
  ])('%s %s fails where there is no store, and makes none', async (...args) => {
    const missing = join(folder.path, 'missing.sqlite');

    expect(await over(missing, ...args)).toMatchObject({ code: 1, stdout: '' });
    expect(existsSync(missing)).toBe(false);
  });

  const other = join(folder.path, 'other.sqlite');
  const newer = join(folder.path, 'newer.sqlite');

  it.each([
    { address: folder.path, code: 1, words: 'is not a file' },
    {
      address: folder.write('text.sqlite', 'harbour '.repeat(1000)),
      code: 1,
      words: 'damaged, or no database',
    },
    { address: join(folder.path, 'text.sqlite', 'below'), code: 1, words: 'cannot be opened' },
    { address: other, code: 1, words: 'belongs to another program' },
    { address: newer, code: 1, words: 'Update roundfold' },
    { address: 'redis://user:hunter2@host', code: 2, words: 'no kind of store' },
    { address: 'postgres://user:hunter2@127.0.0.1:1/none', code: 1, words: 'postgres://127.0.0.1:1/none' },
    { address: 'memory:', code: 2, words: 'ends with the command' },
    { address: 'sqlite:', code: 2, words: 'names no file' },
    { address: '', code: 2, words: 'no kind of store' },
  ])('$address ends with $code', async ({ address, code, words }) => {
    if (address === other) new DatabaseSync(other).exec('create table notes (text)');
    if (address === newer) {
      copyFileSync(filled, newer);
      new DatabaseSync(newer).exec('pragma user_version = 99');
    }
    const { stderr, ...ended } = await over(address, 'store', 'ls');

    expect(ended).toEqual({ code, stdout: '' });
    expect(stderr).toContain(words);
    expect(stderr).not.toMatch(/hunter2|harbour|\n {4}at /);
  });

  it.each([
    { args: ['recall', 'HANDLE'], secrets: [undefined, `${secret}!`] },
    { args: ['search', 'harbour'], secrets: [undefined, `${secret}!`] },
    { args: ['store', 'show', first], secrets: [undefined, `${secret}!`] },
    { args: ['store', 'verify'], secrets: [undefined, `${secret}!`] },
  ])('$args needs the secret of a sealed store', async ({ args, secrets }) => {
    const real = args.map((word) => (word === 'HANDLE' ? (spans[0]?.handle ?? '') : word));
    const under = (value: string | undefined) =>
      runCli(real, {
        env: { ROUNDFOLD_STORE: sealed, ...(value === undefined ? {} : { ROUNDFOLD_STORE_SECRET: value }) },
      });

    for (const value of secrets) {
      const { code, stderr } = await under(value);
      expect(code).toBe(1);
      expect(stderr).toContain('ROUNDFOLD_STORE_SECRET');
      expect(stderr).not.toContain(secret);
    }
    expect((await under(secret)).code).toBe(0);
    expect((await under('short')).code).toBe(2);
  });
});

describe('the command line', () => {
  it('explains and completes the commands over the store', async () => {
    const { code, stdout } = await runCli(['store', 'prune', '--help']);

    expect(code).toBe(0);
    expect(stdout).toMatch(/--older-than[\s\S]*Examples:\n {2}roundfold store prune/);
    expect((await runCli(['complete', '--', 'store', ''])).stdout).toMatch(/^ls\t[\s\S]*^forget\t/m);
    expect((await runCli(['complete', '--', 'recall', '--pa'])).stdout).toMatch(/--page\b[\s\S]*--pages/);
    expect(await runCli(['store', 'nonsense'])).toMatchObject({ code: 2, stdout: '' });
  });

  it('loads no store, no protocol, no schemas and no tokenizer for its help', () => {
    const listing = folder.write(
      'loaded.mjs',
      `import { registerHooks } from 'node:module';
       registerHooks({ load(url, context, next) { process.stderr.write(url + '\\n'); return next(url, context); } });`,
    );
    const { stderr } = spawnSync(process.execPath, ['--import', listing, 'dist/cli/main.js', '--help'], {
      encoding: 'utf8',
    });
    const loaded = stderr.trim().split('\n');
    const sources = loaded
      .filter((url) => url.includes('/dist/') && !url.includes('/node_modules/'))
      .map((url) => `${new URL(url).pathname}.map`)
      // The bundler's own few lines have no source.
      .filter((map) => existsSync(map))
      .flatMap((map) => (JSON.parse(readFileSync(map, 'utf8')) as { sources: string[] }).sources);

    expect(sources.join()).toContain('src/cli/main.ts');
    expect(sources.join()).not.toMatch(/src\/(stores\/|cli\/commands\/mcp-server)/);
    expect(
      loaded.filter((url) => /node:sqlite|\/(zod|pg|gpt-tokenizer|@modelcontextprotocol)\//.test(url)),
    ).toEqual([]);
  });
});
