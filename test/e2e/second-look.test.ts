import {
  appendFileSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { writeAgentHome } from '../support/agent-home.ts';
import { runCli } from '../support/cli.ts';
import { pricedSession } from '../support/priced-session.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const folder = temporaryFolder();

/** Loaded before the command and in each of its threads: writes down every file that is opened. */
const recorder = folder.write(
  'recorder.mjs',
  `import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
const { appendFileSync } = fs;
for (const name of ['openSync', 'createReadStream']) {
  const original = fs[name];
  fs[name] = (path, ...rest) => {
    appendFileSync(process.env.OPENED_FILES, path + '\\n');
    return original(path, ...rest);
  };
}
syncBuiltinESMExports();
`,
);

let looks = 0;

/** Runs a command, and says which files of a folder it opened. */
async function look(path: string, cache: string, args: readonly string[], cwd?: string) {
  const opened = folder.write(`opened-${looks++}`, '');
  const env = {
    HOME: folder.path,
    XDG_CACHE_HOME: cache,
    OPENED_FILES: opened,
    NODE_OPTIONS: `--import=${recorder}`,
  };
  const { code, stdout, stderr } = await runCli(args, { env, ...(cwd !== undefined && { cwd }) });
  const names = readFileSync(opened, 'utf8')
    .split('\n')
    .filter((file) => file.startsWith(`${path}/`))
    .map((file) => basename(file));
  return { code, stdout, stderr, read: [...new Set(names)].toSorted() };
}

const session = (length: number, words = 200) =>
  pricedSession(
    Array.from({ length }, (_, index) => ({
      minute: index,
      sends: `hour ${index}: `.concat('tide '.repeat(words)),
      read: 1000,
      written: 1000 + index,
    })),
  );

const contents = {
  'broken.jsonl': session(9).trimEnd().split('\n').slice(0, 16).join('\n'),
  'half-line.jsonl': `${session(8)}{"type":"us`,
  'no-session.json': '{"price":3}',
  'whole.jsonl': session(7),
};
const names = Object.keys(contents);

/** A session, a broken one, one with a half line, and a file that holds none. */
function writeFiles(name: string) {
  const path = join(folder.path, name);
  mkdirSync(path, { recursive: true });
  for (const [file, content] of Object.entries(contents)) folder.write(`${name}/${file}`, content);
  return { path, cache: join(folder.path, `${name}-cache`) };
}

describe.each(['sessions', 'check', 'inspect'])('a second look with %s', (command) => {
  const indexOf = (cache: string) => join(cache, 'roundfold', `${command}.jsonl`);

  it.each([
    { shape: 'for people', more: [] },
    { shape: 'for programs', more: ['--json'] },
  ])('says the same $shape without reading a file', async ({ more }) => {
    const { path, cache } = writeFiles(`${command}-same-${more.length}`);
    const first = await look(path, cache, [command, path, ...more]);
    const second = await look(path, cache, [command, path, ...more]);

    expect(first.read).toEqual(names);
    expect(second).toEqual({ ...first, read: [] });
  });

  it('reads so many files that threads do it once too', async () => {
    const { path, cache } = writeFiles(`${command}-large`);
    const large = session(300, 1500);
    // Threads read from 50 MB on.
    for (let bytes = 0; bytes < 50_000_000; bytes += large.length)
      writeFileSync(join(path, bytes === 0 ? 'large.jsonl' : `large-${bytes}.jsonl`), large);
    const first = await look(path, cache, [command, path, '--json']);
    const second = await look(path, cache, [command, path, '--json']);

    expect(first.read).toContain('large.jsonl');
    expect(second).toEqual({ ...first, read: [] });
  });

  it('reads a file that has changed, though it is as long as before', async () => {
    const { path, cache } = writeFiles(`${command}-changed`);
    await look(path, cache, [command, path]);
    const file = join(path, 'whole.jsonl');
    writeFileSync(file, readFileSync(file, 'utf8').replace('hour 1', 'hour 9'));
    const again = await look(path, cache, [command, path]);

    expect(again.read).toEqual(['whole.jsonl']);
  });

  it('forgets a file that is gone', async () => {
    const { path, cache } = writeFiles(`${command}-gone`);
    await look(path, cache, [command, path]);
    rmSync(join(path, 'broken.jsonl'));
    appendFileSync(join(path, 'whole.jsonl'), '\n');
    await look(path, cache, [command, path]);

    expect(readFileSync(indexOf(cache), 'utf8')).not.toContain('broken.jsonl');
  });

  it('keeps what it knows where only its owner can read it', async () => {
    const { path, cache } = writeFiles(`${command}-private`);
    await look(path, cache, [command, path]);

    expect(statSync(indexOf(cache)).mode & 0o777).toBe(0o600);
    expect(statSync(join(cache, 'roundfold')).mode & 0o777).toBe(0o700);
  });

  it.each([
    { damage: 'is empty', harm: () => '' },
    { damage: 'is half there', harm: (text: string) => text.slice(0, text.length / 2) },
    { damage: 'has another number in it', harm: (text: string) => text.replace(/"found":\[/, '"found":[1,') },
    { damage: 'is of another version', harm: (text: string) => text.replace(/"by":"[^"]*"/, '"by":"0.0.0"') },
    { damage: 'is something else', harm: () => '{"type":"roundfold-sessions","entries":[["a",{}]]}' },
  ])('does not believe an index that $damage, and replaces it', async ({ damage, harm }) => {
    const { path, cache } = writeFiles(`${command}-${damage.replaceAll(' ', '-')}`);
    const first = await look(path, cache, [command, path]);
    const good = readFileSync(indexOf(cache), 'utf8');
    writeFileSync(indexOf(cache), harm(good));
    const second = await look(path, cache, [command, path]);
    const third = await look(path, cache, [command, path]);

    expect(harm(good)).not.toBe(good);
    expect(second).toEqual(first);
    expect(third).toEqual({ ...first, read: [] });
  });

  it('does without an index where none can be written', async () => {
    const { path } = writeFiles(`${command}-blocked`);
    const blocked = folder.write(`${command}-is-a-file`, 'a file');
    const first = await look(path, blocked, [command, path]);
    const second = await look(path, blocked, [command, path]);

    expect(second).toEqual(first);
    expect(existsSync(join(blocked, 'roundfold'))).toBe(false);
  });

  it('knows a folder only by the name that it was given, since findings name files', async () => {
    const { path, cache } = writeFiles(`${command}-relative`);
    const whole = await look(path, cache, [command, path, '--json']);
    const relative = await look(path, cache, [command, `../${command}-relative`, '--json'], path);

    expect(relative.stdout).toBe(whole.stdout.replaceAll(path, `../${command}-relative`));
  });
});

describe('a second look with other options', () => {
  it.each([
    { command: 'check', more: ['--vendor', 'deepseek'] },
    { command: 'inspect', more: ['--top', '1'] },
    { command: 'inspect', more: ['--segment', 'all'] },
    { command: 'inspect', more: ['--model', 'gpt-5.5'] },
  ])('is a first one: $command $more', async ({ command, more }) => {
    const { path, cache } = writeFiles(`options-${command}-${more.join('')}`);
    await look(path, cache, [command, path]);
    const other = await look(path, cache, [command, path, ...more]);
    const fresh = await look(path, join(cache, 'none'), [command, path, ...more]);

    expect(other.read).toEqual(names);
    expect(other).toEqual(fresh);
  });
});

it('a session that OpenCode has only written beside its database is seen', async () => {
  const { files } = writeAgentHome(join(folder.path, 'home'));
  const path = join(folder.path, 'opencode');
  mkdirSync(path);
  const file = join(path, 'opencode.db');
  copyFileSync(files.opencode, file);
  const cache = join(folder.path, 'opencode-cache');
  const database = new DatabaseSync(file);
  database.exec('PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0');
  await look(path, cache, ['sessions', path, '--json']);
  const { size } = statSync(file);
  database.exec(`UPDATE session SET directory = '/quay'`);
  const again = await look(path, cache, ['sessions', path, '--json']);
  database.close();

  expect(statSync(`${file}`).size).toBe(size);
  expect(again.stdout).toContain('/quay');
});
