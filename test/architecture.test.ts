import { existsSync, readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { layers, nodeFolders, packages } from './layers.ts';
import { findCycle, reachableFrom, readModules } from './source-imports.ts';

const source = readModules('src', '.ts').filter(({ path }) => !path.endsWith('.test.ts'));
const folderOf = (path: string) => (path.includes('/') ? (path.split('/')[0] ?? '') : 'index');
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

  it('has only folders whose place is known', () => {
    const folders = new Set(source.map(({ path }) => folderOf(path)).filter((folder) => folder !== 'index'));

    expect([...folders].filter((folder) => !(folder in layers))).toEqual([]);
  });

  it('imports in one direction only', () => {
    const wrong = source.flatMap(({ path, own }) => {
      const folder = folderOf(path);
      const allowed = folder === 'index' ? Object.keys(layers) : [folder, ...(layers[folder] ?? [])];
      return own.filter((name) => !allowed.includes(folderOf(name))).map((name) => `${path} → ${name}`);
    });

    expect(wrong).toEqual([]);
  });

  it('has no ring of imports', () => {
    expect(findCycle(source)).toBeUndefined();
  });

  it('uses packages and Node modules only where they belong', () => {
    const wrong = source.flatMap(({ path, foreign }) => {
      const folder = folderOf(path);
      return foreign
        .filter((name) => {
          if (name.startsWith('node:')) return !nodeFolders.includes(folder);
          return !(packages[folder] ?? []).some((known) => name === known || name.startsWith(`${known}/`));
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

describe('the built package', () => {
  const built = readModules('dist', '.js');

  it('is there and as large as the source', () => {
    expect(built.length).toBe(source.length);
  });

  it.each(['index.js', 'contracts/index.js'])('%s reaches no package and no Node module', (entry) => {
    const reached = reachableFrom(entry, built);

    expect(reached.length).toBeGreaterThan(5);
    expect(reached.flatMap(({ path, foreign }) => foreign.map((name) => `${path} → ${name}`))).toEqual([]);
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
