import { existsSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runCli } from '../support/cli.ts';
import { storeConversation } from '../support/stored-conversation.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { writtenSession } from '../support/written-session.ts';

const folder = temporaryFolder();
const text = writtenSession({ files: 6 });
const session = folder.write('session.jsonl', text);
const out = (name: string) => join(folder.path, name);
let files = 0;
/** A file of somebody else's. */
const foreign = () => folder.write(`other-${++files}.jsonl`, text);
const unfinished = () => readdirSync(folder.path).filter((name) => name.includes('unfinished'));

const store = out('store.sqlite');

describe('a file that roundfold did not write', () => {
  it.each([
    { title: 'inspect --html', args: (file: string) => ['inspect', '--html', file, session] },
    { title: 'compare --html', args: (file: string) => ['compare', '--html', file, session] },
    { title: 'compact --out', args: (file: string) => ['compact', '--out', file, session] },
    { title: 'compact --receipt', args: (file: string) => ['compact', '--receipt', file, session] },
    { title: 'compact --html', args: (file: string) => ['compact', '--html', file, session] },
    { title: 'compact --log', args: (file: string) => ['compact', '--log', file, session] },
    { title: 'demo --html', args: (file: string) => ['demo', '--html', file] },
    { title: 'chat --log', args: (file: string) => ['chat', '--log', file] },
    { title: 'store export', args: (file: string) => ['store', 'export', file, '--store', store] },
  ])('is not touched by $title, which ends with 2 and says how to allow it', async ({ args }) => {
    if (!existsSync(store)) await storeConversation({ path: store });
    const file = foreign();
    const { code, stdout, stderr } = await runCli(args(file), { env: { HOME: folder.path } });

    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(file);
    expect(stderr).toContain('--force');
    expect(readFileSync(file, 'utf8')).toBe(text);
    expect(unfinished()).toEqual([]);
  });

  it('is not touched through a link either', async () => {
    const file = foreign();
    const link = out('link.jsonl');
    symlinkSync(file, link);
    const { code } = await runCli(['compact', session, '--out', link]);

    expect(code).toBe(2);
    expect(readFileSync(file, 'utf8')).toBe(text);
  });

  it('is refused before anything is spent', async () => {
    const env = { ANTHROPIC_API_KEY: 'sk-test', ANTHROPIC_BASE_URL: 'http://127.0.0.1:9' };
    const args = ['--strategy', 'summarize', '--summarizer', 'anthropic', '--out', foreign()];
    const { code, stderr } = await runCli(['compact', session, ...args], { env });

    expect(code).toBe(2);
    expect(stderr).toContain('is there already');
  });

  it.each([
    { title: 'a page', args: ['inspect', session, '--html'] },
    { title: 'a conversation', args: ['compact', session, '--out'] },
  ])('gives way to $title with --force', async ({ args }) => {
    const file = foreign();
    const { code } = await runCli([...args, file, '--force']);

    expect(code).toBe(0);
    expect(readFileSync(file, 'utf8')).not.toBe(text);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });
});

describe('a file that is read', () => {
  it.each([
    { args: ['inspect', session, '--html', session] },
    { args: ['compare', session, '--html', session] },
    { args: ['compact', session, '--out', session] },
  ])('is never written to, --force or not: $args.0', async ({ args }) => {
    const { code, stderr } = await runCli([...args, '--force']);

    expect(code).toBe(2);
    expect(stderr).toContain('the file that is read');
    expect(readFileSync(session, 'utf8')).toBe(text);
  });
});

describe('a file that roundfold wrote', () => {
  it.each([
    { title: 'a page', args: ['inspect', session, '--html', out('page.html')] },
    { title: 'a log', args: ['compact', session, '--log', out('runs.log')] },
    { title: 'an export', args: ['store', 'export', out('export.jsonl'), '--store', store] },
  ])('gives way to the next one of its kind: $title', async ({ args }) => {
    if (!existsSync(store)) await storeConversation({ path: store });
    for (const _time of [1, 2]) expect(await runCli(args)).toMatchObject({ code: 0 });
  });

  it('does not give way to one of another kind', async () => {
    const page = out('first.html');
    await runCli(['inspect', session, '--html', page]);
    const written = readFileSync(page, 'utf8');
    const { code } = await runCli(['compact', session, '--receipt', page]);

    expect(code).toBe(2);
    expect(readFileSync(page, 'utf8')).toBe(written);
  });

  it('is known by its beginning: a receipt gives way to a receipt', async () => {
    const receipt = out('twice.json');
    for (const name of ['a.json', 'b.json']) {
      const { code } = await runCli(['compact', session, '--out', out(name), '--receipt', receipt]);
      expect(code).toBe(0);
    }
  });

  it('is any file with nothing in it, as `mktemp` makes them', async () => {
    const empty = folder.write('empty.json', '');

    expect(await runCli(['compact', session, '--out', empty])).toMatchObject({ code: 0 });
    expect(statSync(empty).size).toBeGreaterThan(0);
  });
});
