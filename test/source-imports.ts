import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

/** A module and what it imports. */
export interface SourceModule {
  /** Path below the folder that was read, with `/`. */
  readonly path: string;
  readonly lines: number;
  /** Modules of the same folder, as paths like `path`. */
  readonly own: readonly string[];
  /** Everything else it names: packages and Node's modules. */
  readonly foreign: readonly string[];
}

/** `import … from 'x'`, `export … from 'x'`, `import 'x'` and `import('x')`; in built files also without any blanks. */
const IMPORTED =
  /(?:^|[\n;])(?:import|export)\s*(?:type\s+)?(?:[\w$]+\s*,\s*)?(?:\{[^}]*\}|\*(?:\s*as\s+[\w$]+)?|\b[\w$]+)\s*from\s*['"]([^'"]+)['"]|(?:^|[\n;])import\s*['"]([^'"]+)['"]|\bimport\(\s*['"`]([^'"`]+)['"`]\s*\)/g;

/** Every module below a folder whose name ends in `extension`. */
export function readModules(folder: string, extension: string): readonly SourceModule[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith(extension) && !path.endsWith('.d.ts'))
    .map((path) => readModule(folder, path));
}

function readModule(folder: string, path: string): SourceModule {
  const text = readFileSync(join(folder, path), 'utf8');
  const names = [...text.matchAll(IMPORTED)].map(
    ([, statement, bare, call]) => statement ?? bare ?? call ?? '',
  );
  return {
    path: path.replaceAll('\\', '/'),
    lines: text.split('\n').length,
    own: names
      .filter((name) => name.startsWith('.'))
      .map((name) => relative(folder, resolve(folder, dirname(path), name)).replaceAll('\\', '/')),
    foreign: names.filter((name) => !name.startsWith('.')),
  };
}

/** A ring of imports, or undefined when there is none. */
export function findCycle(modules: readonly SourceModule[]): readonly string[] | undefined {
  const imports = new Map(modules.map(({ path, own }) => [path, own]));
  const done = new Set<string>();
  const trail: string[] = [];
  const walk = (path: string): readonly string[] | undefined => {
    if (done.has(path)) return undefined;
    if (trail.includes(path)) return [...trail.slice(trail.indexOf(path)), path];
    trail.push(path);
    for (const next of imports.get(path) ?? []) {
      const cycle = walk(next);
      if (cycle !== undefined) return cycle;
    }
    trail.pop();
    done.add(path);
    return undefined;
  };
  for (const { path } of modules) {
    const cycle = walk(path);
    if (cycle !== undefined) return cycle;
  }
  return undefined;
}

/** All modules that loading `entry` loads. */
export function reachableFrom(entry: string, modules: readonly SourceModule[]): readonly SourceModule[] {
  const byPath = new Map(modules.map((module) => [module.path, module]));
  const found = new Map<string, SourceModule>();
  const queue = [entry];
  for (let path = queue.pop(); path !== undefined; path = queue.pop()) {
    const module = byPath.get(path);
    if (module === undefined || found.has(path)) continue;
    found.set(path, module);
    queue.push(...module.own);
  }
  return [...found.values()];
}
