import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
} from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it, onTestFinished } from 'vitest';
import { sqliteStore } from '../../src/stores/sqlite.ts';
import { defaultStorePath } from '../../src/stores/sqlite-file.ts';
import { checkpointOf, commitAlone, leaseOf, lookupOf, spanOf } from '../support/store-records.ts';
import { recordOfWrite } from '../support/store-tasks.ts';
import { storeFiles, wrongAfterFileCut, wrongAfterLogCut } from '../support/store-truncation.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const folder = temporaryFolder();
let paths = 0;
const newPath = () => join(folder.path, `${++paths}`, 'store.sqlite');
const NOBODY = 65_534;
const isRoot = process.getuid?.() === 0;

function open(path: string, waitMilliseconds = 100) {
  const store = sqliteStore({ path, waitMilliseconds });
  onTestFinished(() => store.close());
  return store;
}

const checkpoint = checkpointOf();
const modeOf = (path: string) => statSync(path).mode & 0o777;

describe('a store in a file', () => {
  it('makes its folder and its files for the owner alone', async () => {
    const path = newPath();
    await commitAlone(open(path), checkpoint);
    expect(modeOf(join(path, '..'))).toBe(0o700);
    for (const suffix of ['', '-wal', '-shm']) expect(modeOf(`${path}${suffix}`)).toBe(0o600);
  });

  it('has large pages, and a log that stays short', async () => {
    const path = newPath();
    const store = open(path);
    const body = Buffer.alloc(10_000);
    for (let index = 0; index < 500; index++) await store.restore({ span: spanOf({ start: index, body }) });
    const raw = new DatabaseSync(path);
    expect(raw.prepare('pragma page_size').get()).toEqual({ page_size: 8192 });
    raw.close();
    expect(statSync(`${path}-wal`).size).toBeLessThan(3_000_000);
  });

  it('closes a file to others that was open to them', async () => {
    const path = newPath();
    const first = sqliteStore({ path });
    await commitAlone(first, checkpoint);
    await first.close();
    chmodSync(path, 0o644);
    expect(await open(path).find(lookupOf(checkpoint))).toStrictEqual(checkpoint);
    expect(modeOf(path)).toBe(0o600);
  });

  it.each([
    { env: { XDG_DATA_HOME: '/data', HOME: '/home/me' }, path: '/data/roundfold/store.sqlite' },
    {
      env: { XDG_DATA_HOME: 'relative', HOME: '/home/me' },
      path: '/home/me/.local/share/roundfold/store.sqlite',
    },
    { env: { HOME: '/home/me' }, path: '/home/me/.local/share/roundfold/store.sqlite' },
  ])('is at $path by default', ({ env, path }) => {
    expect(defaultStorePath(env)).toBe(path);
  });

  it('is one store for all that open it', async () => {
    const path = newPath();
    const [one, two] = [open(path), open(path)];
    await Promise.all([one.list(), two.list()]);
    await commitAlone(one, checkpoint);
    expect(await two.find(lookupOf(checkpoint))).toStrictEqual(checkpoint);
  });
});

describe('a path that is no store', () => {
  it.each([
    { what: 'a folder', make: (path: string) => mkdirSync(path), message: /not a file/ },
    {
      what: 'a link',
      make: (path: string) => symlinkSync(folder.write('target', ''), path),
      message: /symbolic link/,
    },
    {
      what: 'another program’s database',
      make: (path: string) => {
        const other = new DatabaseSync(path);
        other.exec('create table notes (text)');
        other.close();
      },
      message: /belongs to another program/,
    },
    {
      what: 'some other file',
      make: (path: string) => renameSync(folder.write('other', 'no database at all '.repeat(100)), path),
      message: /damaged, or no database/,
    },
    {
      what: 'a store of a later version',
      make: (path: string) => {
        const later = new DatabaseSync(path);
        later.exec('pragma application_id = 0x72666c64; pragma user_version = 99; create table t (x)');
        later.close();
      },
      message: /tables of version 99.* up to version 5/,
    },
    {
      what: 'a store of an earlier version',
      make: (path: string) => {
        const earlier = new DatabaseSync(path);
        earlier.exec('pragma application_id = 0x72666c64; pragma user_version = 3; create table t (x)');
        earlier.close();
      },
      message: /tables of version 3.* from version 5 on/,
    },
  ])('is refused when it is $what, and used when that is gone', async ({ make, message }) => {
    const path = newPath();
    mkdirSync(join(path, '..'), { recursive: true });
    make(path);
    const store = open(path);
    for (const call of [() => store.list(), () => leaseOf(store)]) {
      await expect(call()).rejects.toMatchObject({
        code: 'store',
        message: expect.stringMatching(message),
        remedy: expect.any(String),
      });
    }
    rmSync(path, { recursive: true });
    await commitAlone(store, checkpoint);
    expect(await store.find(lookupOf(checkpoint))).toStrictEqual(checkpoint);
  });

  it('is refused when its folder is a file, and used when that is gone', async () => {
    const parent = folder.write('a-file', '');
    const store = open(join(parent, 'store.sqlite'));
    await expect(store.list()).rejects.toMatchObject({ code: 'store', message: /cannot be opened/ });
    rmSync(parent);
    expect(await store.list()).toEqual([]);
  });
});

describe('a store that fails for a while', () => {
  it('says that it is locked, reads on, and goes on afterwards', async () => {
    const path = newPath();
    const store = open(path, 30);
    await commitAlone(store, checkpoint);
    const other = new DatabaseSync(path);
    other.exec('begin immediate');
    await expect(leaseOf(store)).rejects.toMatchObject({
      code: 'store',
      message: /locked by another process/,
    });
    expect(await store.find(lookupOf(checkpoint))).toStrictEqual(checkpoint);
    other.exec('rollback');
    other.close();
    expect(await leaseOf(store)).toBeDefined();
  });

  it('waits for the other, and reads meanwhile', async () => {
    const path = newPath();
    const store = open(path, 20_000);
    await commitAlone(store, checkpoint);
    const other = new DatabaseSync(path);
    other.exec('begin immediate');
    const lease = leaseOf(store);
    expect(await store.find(lookupOf(checkpoint))).toStrictEqual(checkpoint);
    other.exec('commit');
    other.close();
    expect(await lease).toBeDefined();
  });

  it('starts anew when its file was removed', async () => {
    const path = newPath();
    const store = open(path);
    await commitAlone(store, checkpoint);
    for (const suffix of ['', '-wal', '-shm']) rmSync(`${path}${suffix}`);
    await commitAlone(store, checkpoint);
    expect(existsSync(path)).toBe(true);
    expect(await open(path).find(lookupOf(checkpoint))).toStrictEqual(checkpoint);
  });

  it('says that it is damaged when its file is cut short under it, and lives on', async () => {
    const path = newPath();
    // Long names, so that the index has pages all over the file.
    const spans = Array.from({ length: 400 }, (_one, index) =>
      spanOf({ handle: `rf:${index}`.padEnd(200, 'x'), start: index, body: Buffer.alloc(10_000, index) }),
    );
    // The log is not empty as long as the writer is there: then SQLite does not look how long the file is.
    await commitAlone(open(path), checkpoint, spans);
    const reader = open(path);
    await reader.list();
    truncateSync(path, Math.floor(statSync(path).size / 2));
    const recalled = await Promise.allSettled(spans.map((span) => reader.recall(span)));
    const served = recalled.flatMap((one, index) =>
      one.status === 'fulfilled' ? [[one.value?.body, spans[index]?.body] as const] : [],
    );
    expect(served.length).toBeGreaterThan(50);
    for (const [found, written] of served) expect(Buffer.from(found ?? [])).toEqual(written);
    const reasons = recalled.flatMap((one) => (one.status === 'rejected' ? [String(one.reason)] : []));
    expect(reasons.length).toBeGreaterThan(100);
    for (const reason of reasons) expect(reason).toMatch(/is damaged|could not be read/);
  });

  it('takes a file that was put in the place of a damaged one', async () => {
    const path = newPath();
    const first = sqliteStore({ path });
    await commitAlone(first, checkpoint);
    await first.close();
    renameSync(path, `${path}.copy`);
    renameSync(folder.write('broken', 'no database at all '.repeat(500)), path);
    const store = open(path);
    await expect(store.find(lookupOf(checkpoint))).rejects.toMatchObject({
      code: 'store',
      message: /damaged/,
    });
    renameSync(`${path}.copy`, path);
    expect(await store.find(lookupOf(checkpoint))).toStrictEqual(checkpoint);
  });
});

interface ProbeReport {
  readonly found: unknown;
  readonly written: number;
  readonly result: { readonly code: string; readonly message: string } | undefined;
}

/** A process in other circumstances, asked again and again. */
function probe(
  command: string,
  argumentList: readonly string[],
  identity: { uid?: number; gid?: number } = {},
) {
  const child = spawn(command, argumentList, { stdio: ['pipe', 'pipe', 'inherit'], ...identity });
  onTestFinished(async () => {
    child.stdin.end();
    if (child.exitCode === null) await once(child, 'exit');
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async () => JSON.parse(String((await lines.next()).value)) as ProbeReport; // printed by our own script
  return {
    pid: child.pid ?? 0,
    next,
    again() {
      child.stdin.write('\n');
      return next();
    },
  };
}

const probeScript = join(import.meta.dirname, '../support/store-probe.ts');

describe('a store without the right to write', () => {
  it.each([
    { what: 'while others have it open', isOpen: true },
    { what: 'with nothing beside it', isOpen: false },
  ])('can be read $what, and written as soon as it may', async ({ isOpen }) => {
    const path = newPath();
    const store = open(path);
    const { checkpoint: first, spans } = recordOfWrite(0);
    await commitAlone(store, first, spans);
    if (!isOpen) await store.close();
    chmodSync(folder.path, 0o755);
    chmodSync(join(path, '..'), 0o555);
    const files = ['', '-wal', '-shm'].map((suffix) => `${path}${suffix}`).filter((file) => existsSync(file));
    for (const file of files) chmodSync(file, 0o444);
    // Root may write everywhere, so somebody else has to try.
    const identity = isRoot ? { uid: NOBODY, gid: NOBODY } : {};
    const child = probe(process.execPath, [probeScript, path, '1'], identity);
    expect(await child.next()).toMatchObject({
      found: 1,
      written: 1,
      result: { code: 'store', message: expect.stringMatching(/is read-only/) },
    });
    if (isRoot) for (const file of [join(path, '..'), ...files]) chownSync(file, NOBODY, NOBODY);
    chmodSync(join(path, '..'), 0o755);
    for (const file of files) chmodSync(file, 0o600);
    expect(await child.again()).toMatchObject({ found: 1, written: 501 });
  });
});

describe('a full disk', () => {
  const shell = (command: string) => spawnSync('bash', ['-c', command]).status === 0;
  const canMount = isRoot && shell('mount --version');

  it.runIf(canMount)('is told, loses nothing, and is no obstacle once there is room', async () => {
    const disk = join(folder.path, 'small-disk');
    mkdirSync(disk);
    expect(shell(`mount -t tmpfs -o size=1m tmpfs ${disk}`)).toBe(true);
    onTestFinished(() => void shell(`umount -l ${disk}`));
    const child = probe(process.execPath, [probeScript, join(disk, 'store.sqlite')]);
    const full = await child.next();
    expect(full).toMatchObject({ result: { code: 'store', message: expect.stringMatching(/disk is full/) } });
    expect(full.written).toBeGreaterThan(5);
    expect(shell(`mount -o remount,size=64m ${disk}`)).toBe(true);
    expect(await child.again()).toMatchObject({ found: 1, written: full.written + 500 });
  });

  it('is the same when files may not grow', async () => {
    const path = newPath();
    const limited = `trap '' XFSZ; ulimit -S -f 1200; exec "$0" "$@"`;
    const child = probe('bash', ['-c', limited, process.execPath, probeScript, path]);
    const full = await child.next();
    expect(full).toMatchObject({ result: { code: 'store', message: expect.stringMatching(/written|full/) } });
    expect(full.written).toBeGreaterThan(5);
    const store = open(path);
    for (let index = 0; index < full.written; index++) {
      const { checkpoint: expected } = recordOfWrite(index);
      expect(await store.find(lookupOf(expected))).toStrictEqual(expected);
    }
    expect(await store.verify()).toEqual([]);
  });
});

describe('files that end early', () => {
  const STEP = 1777;

  it('serve what was settled, and nothing that was not written', async () => {
    const cuts = temporaryFolderNow();
    const files = await storeFiles(cuts);
    for (let length = files.lastInLog; length < files.log.length; length += STEP) {
      expect(await wrongAfterLogCut(cuts, files, length)).toEqual([]);
    }
    expect(await wrongAfterLogCut(cuts, files, files.log.length)).toEqual([]);
    for (let length = 0; length <= files.database.length; length += STEP) {
      expect(await wrongAfterFileCut(cuts, files, length)).toEqual([]);
    }
  });
});

function temporaryFolderNow(): string {
  const path = join(folder.path, 'cuts');
  mkdirSync(path);
  return path;
}
