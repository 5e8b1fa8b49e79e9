import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { apart, nodeRooms, packages, rooms } from './layers.ts';
import { findCycle, reachableFrom, readModules } from './source-imports.ts';

const source = readModules('src', '.ts').filter(({ path }) => !path.endsWith('.test.ts'));
const roomOf = (path: string) => (path.includes('/') ? (path.split('/')[0] ?? '') : 'index');
const filesOnDisk = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter(
  (path) => path.endsWith('.ts') && !path.endsWith('.test.ts'),
);

describe('the source', () => {
  it('was read whole: a check that reads nothing proves nothing', () => {
    expect(source).toHaveLength(filesOnDisk.length);
    expect(source.length).toBeGreaterThan(60);
    expect(source.flatMap(({ own }) => own).length).toBeGreaterThan(source.length);
  });

  it('imports only files that exist', () => {
    const missing = source.flatMap(({ path, own }) =>
      own.filter((name) => !existsSync(`src/${name}`)).map((name) => `${path} → ${name}`),
    );

    expect(missing).toEqual([]);
  });

  it('has only rooms whose place is known', () => {
    const found = new Set(source.map(({ path }) => roomOf(path)).filter((room) => room !== 'index'));

    expect([...found].sort()).toEqual([...rooms].sort());
  });

  it('imports only from rooms before its own', () => {
    const wrong = source.flatMap(({ path, own }) => {
      const room = roomOf(path);
      const before = room === 'index' ? rooms : rooms.slice(0, rooms.indexOf(room));
      const allowed = apart.includes(room) ? [room] : [room, ...before];
      return own.filter((name) => !allowed.includes(roomOf(name))).map((name) => `${path} → ${name}`);
    });

    expect(wrong).toEqual([]);
  });

  it('has no ring of imports', () => {
    expect(findCycle(source)).toBeUndefined();
  });

  it('uses packages and Node modules only where they belong', () => {
    const wrong = source.flatMap(({ path, foreign }) => {
      const room = roomOf(path);
      return foreign
        .filter((name) => {
          if (name.startsWith('node:')) return !nodeRooms.includes(room);
          return !(packages[room] ?? []).some((known) => name === known || name.startsWith(`${known}/`));
        })
        .map((name) => `${path} → ${name}`);
    });

    expect(wrong).toEqual([]);
  });

  it('keeps every file below 400 lines', () => {
    const long = source.filter(({ path, lines }) => lines > 400 && !path.endsWith('.gen.ts'));

    expect(long.map(({ path, lines }) => `${path}: ${lines}`)).toEqual([]);
  });
});

const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as {
  exports: Readonly<Record<string, string | { types: string; default: string }>>;
  bin: Readonly<Record<string, string>>;
};

describe('the built package', () => {
  const built = readModules('dist', '.js');

  /** Source files that went into a built file, by its source map; a file that only passes on has none. */
  const sourcesOf = (path: string): readonly string[] => {
    if (!existsSync(`dist/${path}.map`)) return [];
    const { sources } = JSON.parse(readFileSync(`dist/${path}.map`, 'utf8')) as {
      sources: readonly string[];
    };
    return sources.map((name) => join(dirname(`dist/${path}`), name).replaceAll('\\', '/'));
  };

  const engineRooms = ['contracts', 'conversation', 'formats', 'tokens', 'memory', 'compaction', 'providers'];

  it.each([
    { entry: 'index.js', folders: [...engineRooms, 'report'], files: 80 },
    { entry: 'contracts/index.js', folders: ['contracts'], files: 20 },
    ...['ai-sdk', 'langchain'].map((name) => ({
      entry: `integrations/${name}.js`,
      folders: [...engineRooms, 'keeper', 'integrations'],
      files: 80,
    })),
    {
      entry: 'proxy/fetch.js',
      folders: [...engineRooms, 'stores', 'keeper', 'transcripts', 'proxy'],
      files: 80,
    },
  ])('$entry reaches no package, no Node module and only $folders', ({ entry, folders, files }) => {
    const reached = reachableFrom(entry, built);
    const sources = reached.flatMap(({ path }) => sourcesOf(path)).filter((name) => name !== 'src/index.ts');

    expect(sources.length).toBeGreaterThan(files);
    expect(reached.flatMap(({ path, foreign }) => foreign.map((name) => `${path} → ${name}`))).toEqual([]);
    expect(sources.filter((name) => !folders.some((folder) => name.startsWith(`src/${folder}/`)))).toEqual(
      [],
    );
  });

  it('exports from every entry point what its source does, and nothing else', async () => {
    const entries = Object.values(manifest.exports).flatMap((entry) =>
      typeof entry === 'string' ? [] : [entry.default.replace('./dist/', '').replace(/\.js$/, '')],
    );
    const names = async (path: string) => Object.keys((await import(path)) as object).sort();

    expect(entries.length).toBeGreaterThan(10);
    for (const entry of entries)
      expect(await names(resolve(`dist/${entry}.js`)), entry).toEqual(
        await names(resolve(`src/${entry}.ts`)),
      );
  });

  it('has a file for every entry point of the manifest', () => {
    const { exports, bin } = manifest;
    const named = [
      ...Object.values(exports).flatMap((entry) =>
        typeof entry === 'string' ? entry : Object.values(entry),
      ),
      ...Object.values(bin),
    ];

    expect(named.filter((path) => !existsSync(path))).toEqual([]);
  });
});

describe('the checks themselves', () => {
  const module = (path: string, ...own: string[]) => ({ path, own, lines: 1, foreign: [] });

  it('find a ring', () => {
    expect(findCycle([module('a', 'b'), module('b', 'c'), module('c', 'a')])).toEqual(['a', 'b', 'c', 'a']);
    expect(findCycle([module('a', 'b', 'c'), module('b', 'c'), module('c')])).toBeUndefined();
  });

  it('follow imports as far as they go', () => {
    const modules = [module('a', 'b'), module('b', 'c'), module('c'), module('d')];

    expect(reachableFrom('a', modules).map(({ path }) => path)).toEqual(['a', 'b', 'c']);
  });
});
