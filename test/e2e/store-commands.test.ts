import { copyFileSync, existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { beforeAll, describe, expect, it } from 'vitest';
import { sqliteStore } from '../../src/stores/sqlite.ts';
import type { Checkpoint } from '../../src/stores/store.ts';
import { runCli } from '../support/cli.ts';
import { keeping, session } from '../support/keeping.ts';
import { checkpointOf } from '../support/store-records.ts';
import { hexadecimal, storeConversation, withSqlite } from '../support/stored-conversation.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const folder = temporaryFolder();
const filled = join(folder.path, 'filled.sqlite');
const DAY_MS = 24 * 60 * 60 * 1000;
const first = hexadecimal('first');
const old = hexadecimal('old');

const lines = (text: string) =>
  text
    .trim()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);

/** A copy of the filled store, for tests that change it. */
function copyOf(name: string): string {
  const path = join(folder.path, name);
  copyFileSync(filled, path);
  return path;
}

const over = (store: string, ...args: readonly string[]) => runCli([...args, '--store', store]);

let spans: Awaited<ReturnType<typeof storeConversation>>;

beforeAll(async () => {
  await storeConversation({
    path: filled,
    name: 'old',
    texts: Array.from({ length: 25 }, (_, index) => `part ${index} about the lighthouse`),
  });
  spans = await storeConversation({ path: filled });
});

describe('roundfold recall', () => {
  it('writes the messages byte for byte', async () => {
    for (const { handle, body } of spans) {
      const { code, stdout, stderr } = await over(filled, 'recall', handle, '--raw');

      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(Buffer.from(stdout).equals(body)).toBe(true);
    }
  });

  it('shows a page without what a terminal would act upon', async () => {
    const { code, stdout, stderr } = await over(filled, 'recall', spans[1]?.handle ?? '');

    expect({ code, stderr }).toEqual({ code: 0, stderr: 'page 1 of 1\n' });
    expect(stdout).toContain(
      '--- message 1: user\nline one\nline two\twith \\u{2028} separators, \\u{0} and',
    );
    expect(stdout).toContain('--- message 2: assistant\n[call] look\ntext:\nline one\nline two\twith');
  });

  it('gives the messages themselves as JSON', async () => {
    const { handle = '', start, end, body } = spans[1] ?? {};
    const [line] = lines((await over(filled, 'recall', handle, '--json', '--all')).stdout);

    expect(line).toMatchObject({
      version: 1,
      type: 'span',
      tenant: 'alice',
      conversation: first,
      start,
      end,
      pages: 1,
    });
    expect(line?.['messages']).toEqual(JSON.parse(Buffer.from(body ?? []).toString()));
  });

  it('gives back everything that a keeper took out', async () => {
    const path = join(folder.path, 'kept.sqlite');
    const { keeper, store } = keeping({ store: sqliteStore({ path }) });
    const messages = session(40);
    await keeper.prepare(messages);
    await keeper.settle();
    await keeper.close();
    await store.close();
    const [{ conversation = '' } = {}] = lines((await over(path, 'store', 'ls', '--json')).stdout);
    const [checkpoint] = lines((await over(path, 'store', 'show', String(conversation), '--json')).stdout);
    const handles = checkpoint?.['handles'] as { handle: string; start: number; end: number }[];

    expect(handles.length).toBeGreaterThan(0);
    for (const { handle, start, end } of handles) {
      expect((await over(path, 'recall', handle, '--raw')).stdout).toBe(
        JSON.stringify(messages.slice(start, end)),
      );
    }
  });

  it.each([
    { handle: 'rf:nothing', words: /nothing is stored under rf:nothing\n[\s\S]*roundfold search WORDS/ },
    { handle: 'nothing', words: /A handle begins with `rf:`/ },
  ])('$handle is unknown: 1, and what to do', async ({ handle, words }) => {
    const { code, stdout, stderr } = await over(filled, 'recall', handle);

    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(words);
  });

  it('asks for the tenant where there are several, and reads nothing of another one', async () => {
    const path = copyOf('tenants.sqlite');
    const [span] = await storeConversation({ path, name: 'first', tenant: 'bob', texts: ['bob was here'] });
    const { handle = '' } = span ?? {};
    const unclear = await over(path, 'recall', handle);
    const bob = await over(path, 'recall', handle, '--tenant', 'bob');

    expect(unclear.code).toBe(2);
    expect(unclear.stderr).toMatch(/--tenant: (alice, bob|bob, alice)/);
    expect(bob.stdout).toContain('bob was here');
    expect((await over(path, 'recall', handle, '--tenant', 'alice')).stdout).toContain('harbour');
    expect((await over(path, 'recall', handle, '--tenant', 'carol')).code).toBe(1);
    expect((await over(path, 'store', 'show', first.slice(0, 9))).stderr).toContain('2 tenants have');
    expect((await over(path, 'store', 'ls')).stdout).toMatch(/conversation +tenant +checkpoints/);
  });
});

describe('roundfold search', () => {
  it('finds all words in any case, with handle, page, message and excerpt', async () => {
    const [{ handle = '' } = {}] = spans;
    const { code, stdout } = await over(filled, 'search', 'PARSER', 'harbour');

    expect(code).toBe(0);
    expect(stdout).toContain(
      `${handle} page 1 of 1, message 1; conversation ${first.slice(0, 12)}\n    The harbour master`,
    );
    expect(lines((await over(filled, 'search', 'harbour', '--json')).stdout)).toMatchObject([
      {
        version: 1,
        type: 'match',
        tenant: 'alice',
        conversation: first,
        handle,
        start: 1,
        end: 3,
        page: 1,
        pages: 1,
        message: 1,
      },
    ]);
  });

  it('keeps to a limit and to a conversation', async () => {
    const count = async (...args: readonly string[]) =>
      lines((await over(filled, 'search', 'lighthouse', '--json', ...args)).stdout).length;

    expect(await count()).toBe(10);
    expect(await count('--limit', '30')).toBe(25);
    expect(await count('--conversation', old.slice(0, 8), '--limit', '3')).toBe(3);
    expect(await count('--conversation', first.slice(0, 8))).toBe(0);
  });

  it('is no failure when nothing is found', async () => {
    const { code, stdout, stderr } = await over(filled, 'search', 'submarine');

    expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
    expect(stderr).toContain('no stored messages');
  });
});

describe('roundfold store', () => {
  it('lists conversations, the last used first', async () => {
    const path = join(folder.path, 'two.sqlite');
    await storeConversation({ path, name: 'old', usedAt: Date.UTC(2026, 0, 2, 3, 4) });
    await storeConversation({ path });
    const { stdout } = await over(path, 'store', 'ls');
    const [newest, oldest] = lines((await over(path, 'store', 'ls', '--json')).stdout);

    expect(stdout.split('\n')[1]).toMatch(new RegExp(`^${first.slice(0, 12)} +2 +2 +\\d\\.\\d kB +20`));
    expect(stdout).toContain('2026-01-02 03:04');
    expect(newest).toMatchObject({ type: 'conversation', conversation: first, checkpoints: 2, spans: 2 });
    expect(oldest).toMatchObject({ conversation: old, usedAt: Date.UTC(2026, 0, 2, 3, 4) });
  });

  it('shows the checkpoints of one by the beginning of its id', async () => {
    const { code, stdout } = await over(filled, 'store', 'show', first.slice(0, 6));
    const [{ handle: one = '' } = {}, { handle: two = '' } = {}] = spans;
    const shown = lines((await over(filled, 'store', 'show', first, '--json')).stdout);

    expect(code).toBe(0);
    expect(stdout).toContain(`first 3 messages: 4,000 → 400 tokens, summarize`);
    expect(stdout).toContain(`  ${one} messages 2 to 3\n\nfirst 5 messages`);
    expect(stdout).toContain(`  ${two} messages 4 to 5\n  and 1 handle from above\n`);
    expect(shown).toMatchObject([
      { type: 'checkpoint', boundary: 3, tokensBefore: 4000, tokensAfter: 400, handles: [{ handle: one }] },
      { type: 'checkpoint', boundary: 5, strategy: 'summarize', handles: [{ handle: one }, { handle: two }] },
    ]);
  });

  it('shows so many handles as can be looked at, all when asked, and none where a receipt says nothing', async () => {
    const path = join(folder.path, 'many.sqlite');
    const runs = Array.from({ length: 25 }, (_, start) => ({
      fate: 'summarised' as const,
      start,
      end: start + 1,
      tokens: 9,
      handle: `rf:${start}`,
    }));
    const many = checkpointOf({ tenant: 'alice', conversation: 'many' });
    const empty = checkpointOf({ tenant: 'alice', conversation: 'empty', chain: 'empty' });
    await withSqlite({ path }, (store) =>
      store.restore([
        { checkpoint: { ...many, receipt: { ...many.receipt, runs } } },
        { checkpoint: { ...empty, receipt: {} as Checkpoint['receipt'] } },
      ]),
    );
    const count = (text: string) => text.match(/rf:/g)?.length ?? 0;
    const shown = (await over(path, 'store', 'show', 'many')).stdout;

    expect(count(shown)).toBe(20);
    expect(shown).toContain('… and 5 more (--all shows them)');
    expect(count((await over(path, 'store', 'show', 'many', '--all')).stdout)).toBe(25);
    expect(await over(path, 'store', 'show', 'empty')).toMatchObject({ code: 0, stderr: '' });
  });

  it.each([
    { id: 'ffff', code: 1, words: 'no stored conversation' },
    { id: '', code: 2, words: 'is empty' },
    { id: 'twin', code: 2, words: '2 conversations have an id that begins with twin' },
  ])('takes "$id" for no conversation: $code', async ({ id, code, words }) => {
    const path = copyOf('twins.sqlite');
    await withSqlite({ path }, async (store) => {
      const [checkpoint] = await store.checkpoints({ tenant: 'alice', conversation: first });
      for (const conversation of ['twin-1', 'twin-2'])
        if (checkpoint !== undefined)
          await store.restore({ checkpoint: { ...checkpoint, conversation, chain: conversation } });
    });
    for (const command of [['show'], ['forget', '--yes']]) {
      const { stderr, ...ended } = await over(path, 'store', ...command, id);

      expect(ended).toEqual({ code, stdout: '' });
      expect(stderr).toContain(words);
    }
  });

  it('prunes what was not used, and shows it first', async () => {
    const path = join(folder.path, 'prune.sqlite');
    await storeConversation({ path, name: 'old', usedAt: Date.now() - 40 * DAY_MS });
    await storeConversation({ path });
    const preview = await over(path, 'store', 'prune', '--older-than', '30d', '--dry-run');

    expect(preview.stdout).toMatch(
      new RegExp(`${old.slice(0, 12)}[\\s\\S]*would remove 4 records of 1 conversation,`),
    );
    expect((await over(path, 'store', 'prune', '--older-than', '50d')).stdout).toBe('removed 0 records\n');
    expect((await over(path, 'store', 'prune', '--older-than', '30d')).stdout).toBe('removed 4 records\n');
    expect(lines((await over(path, 'store', 'prune', '--max-bytes', '0', '--json')).stdout)).toEqual([
      { version: 1, type: 'pruned', isDryRun: false, records: 4 },
    ]);
    expect(await over(path, 'store', 'ls')).toEqual({
      code: 0,
      stdout: '',
      stderr: 'nothing is stored yet\n',
    });
  });

  it('forgets a conversation when it is told to, and not without', async () => {
    const path = copyOf('forget.sqlite');
    const refused = await over(path, 'store', 'forget', first);

    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain('--yes');
    expect((await over(path, 'store', 'verify')).stdout).toBe('sound 54 records\n');
    expect((await over(path, 'store', 'forget', first.slice(0, 8), '--yes')).stdout).toBe(
      `deleted 4 records of ${first}\n`,
    );
    expect((await over(path, 'recall', spans[0]?.handle ?? '')).code).toBe(1);
    expect(readFileSync(path).includes('harbour')).toBe(false);
  });
});

describe('roundfold store verify', () => {
  it('finds a flipped byte, and import mends it', async () => {
    const path = copyOf('flipped.sqlite');
    const backup = join(folder.path, 'mend.jsonl');
    await over(path, 'store', 'export', backup);
    flipByte(path, spans[0]?.handle ?? '');
    const { code, stdout } = await over(path, 'store', 'verify');
    const [fault, verdict] = lines((await over(path, 'store', 'verify', '--json')).stdout);
    const recalled = await over(path, 'recall', spans[0]?.handle ?? '');

    expect(code).toBe(1);
    expect(stdout).toBe(`damaged span ${spans[0]?.handle} of tenant alice\n1 fault in 54 records\n`);
    expect(fault).toMatchObject({ type: 'fault', kind: 'span', reason: 'damaged', name: spans[0]?.handle });
    expect(verdict).toMatchObject({ type: 'verification', records: 54, faults: 1 });
    expect({ ...recalled, stderr: '' }).toEqual({ code: 1, stdout: '', stderr: '' });
    expect(recalled.stderr).toContain('1 record is damaged');
    expect((await over(path, 'store', 'import', backup)).code).toBe(0);
    expect(await over(path, 'store', 'verify')).toMatchObject({ code: 0, stdout: 'sound 54 records\n' });
  });

  it('keeps an older copy when not all can be exported, and writes what there is to a pipe', async () => {
    const path = copyOf('partial.sqlite');
    flipByte(path, spans[0]?.handle ?? '');
    const older = '{"version":1,"type":"roundfold-export"}\n';
    const backup = folder.write('older.jsonl', older);
    const toFile = await over(path, 'store', 'export', backup);
    const toPipe = await over(path, 'store', 'export');

    expect([toFile.code, toPipe.code]).toEqual([1, 1]);
    expect(readFileSync(backup, 'utf8')).toBe(older);
    expect(readdirSync(folder.path).filter((name) => name.includes('unfinished'))).toEqual([]);
    expect(lines(toPipe.stdout).at(-1)).toMatchObject({ type: 'end', checkpoints: 27, spans: 26 });
    expect(toPipe.stderr).toContain('1 record is damaged');
  });
});

function flipByte(path: string, handle: string): void {
  const database = new DatabaseSync(path);
  const row = database.prepare('select id, body from records where name = ?').get(handle);
  const body = Uint8Array.from(row?.['body'] as Uint8Array);
  body[body.length - 5] = (body[body.length - 5] ?? 0) ^ 1;
  database.prepare('update records set body = ? where id = ?').run(body, Number(row?.['id']));
  database.close();
}

describe('roundfold store export and import', () => {
  it('give the same bytes again, however often', async () => {
    const file = join(folder.path, 'export.jsonl');
    const copy = join(folder.path, 'deep', 'copy.sqlite');
    const written = await over(filled, 'store', 'export', file, '--json');
    const piped = (await over(filled, 'store', 'export')).stdout;
    const imported = await over(copy, 'store', 'import', file, '--json');
    const again = await runCli(['store', 'import', '-', '--json', '--store', copy], { stdin: piped });

    expect(lines(written.stdout)).toEqual([{ version: 1, type: 'export', file, checkpoints: 27, spans: 27 }]);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readFileSync(file, 'utf8')).toBe(piped);
    expect(lines(imported.stdout)).toEqual([
      { version: 1, type: 'import', checkpoints: 27, spans: 27, added: 54 },
    ]);
    expect(lines(again.stdout)).toMatchObject([{ added: 0 }]);
    expect((await over(copy, 'store', 'export')).stdout).toBe(piped);
    expect((await over(copy, 'search', 'harbour')).stdout).toContain(spans[0]?.handle);
  });

  /** Each changes the lines of an export, and says where that is noticed. */
  const changes: readonly {
    readonly name: string;
    readonly change: (all: string[]) => string[];
    readonly line: number;
  }[] = [
    {
      name: 'a changed record',
      change: (all) => all.with(2, all[2]?.replace('alice', 'alicf') ?? ''),
      line: 3,
    },
    { name: 'half a line', change: (all) => all.with(5, all[5]?.slice(0, 300) ?? ''), line: 6 },
    { name: 'no JSON', change: (all) => all.with(7, 'what?'), line: 8 },
    { name: 'a missing line', change: (all) => all.toSpliced(4, 1), line: 55 },
    {
      name: 'two lines in each other’s place',
      change: (all) => all.with(3, all[4] ?? '').with(4, all[3] ?? ''),
      line: 56,
    },
    { name: 'a missing end', change: (all) => all.slice(0, -2), line: 56 },
    { name: 'a second export behind it', change: (all) => [...all.slice(0, -1), ...all], line: 57 },
    { name: 'a newer version', change: (all) => all.with(0, all[0]?.replace('1', '2') ?? ''), line: 1 },
  ];

  it.each(changes)('refuses $name, names line $line and stores nothing', async ({ name, change, line }) => {
    const all = (await over(filled, 'store', 'export')).stdout.split('\n');
    const file = folder.write(`${name}.jsonl`, change(all).join('\n'));
    const target = join(folder.path, `${name}.sqlite`);
    const { code, stdout, stderr } = await over(target, 'store', 'import', file);

    expect({ code, stdout }).toEqual({ code: 3, stdout: '' });
    expect(stderr).toContain(`${file}:${line}: `);
    expect(stderr).toContain('Nothing was stored.');
    expect(stderr).not.toMatch(/harbour|lighthouse/);
    expect(existsSync(target)).toBe(false);
  });

  it.each([
    { name: 'something else', content: '{"price":3}' },
    { name: 'nothing', content: '' },
  ])('refuses $name: neither an export nor a session, and stores nothing', async ({ name, content }) => {
    const file = folder.write(`${name}.jsonl`, content);
    const target = join(folder.path, `${name}.sqlite`);
    const { code, stdout, stderr } = await over(target, 'store', 'import', file);

    expect({ code, stdout }).toEqual({ code: 3, stdout: '' });
    expect(stderr).toContain(file);
    expect(existsSync(target)).toBe(false);
  });
});
