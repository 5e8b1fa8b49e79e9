/**
 * Builds `dist/`: a file for every entry point that package.json names, and chunks for what they share. Loading dozens of
 * small modules costs Node several times what loading one does (`bench/import.ts`). Types come from `tsc`, per source file.
 */
import { readFileSync, rmSync } from 'node:fs';
import { build } from 'rolldown';

interface Manifest {
  readonly exports: Readonly<Record<string, string | { readonly default: string }>>;
  readonly bin: Readonly<Record<string, string>>;
}

/** Loaded by path in a thread of their own. */
const WORKERS = [
  './dist/cli/compare/worker.js',
  './dist/cli/examine/worker.js',
  './dist/proxy/threads/worker.js',
];

const { exports, bin } = JSON.parse(readFileSync('package.json', 'utf8')) as Manifest; // our own file
const built = [
  ...Object.values(exports).flatMap((target) => (typeof target === 'string' ? [] : [target.default])),
  ...Object.values(bin),
  ...WORKERS,
].map((path) => path.replace(/^(\.\/)?dist\//, '').replace(/\.js$/, ''));

/** Rooms whose files are always loaded together: each is one chunk, since every further file costs as much as a lot of code. */
const TOGETHER = [
  ['contracts', /src\/contracts\/(?!index)/],
  ['conversation', /src\/conversation\/(?!index)/],
  ['formats', /src\/formats\/(?!(?:.*\/)?(?:convert|folded|index|mend))/],
  ['tokens', /src\/tokens\/(?!exact-counter|index)/],
  ['compaction', /src\/compaction\/(?!(?:.*\/)?index)/],
] as const;

rmSync('dist', { recursive: true, force: true });

await build({
  input: Object.fromEntries(built.map((name) => [name, `src/${name}.ts`])),
  platform: 'node',
  preserveEntrySignatures: 'allow-extension',
  external: /^[^./]/,
  output: {
    dir: 'dist',
    format: 'esm',
    sourcemap: true,
    entryFileNames: '[name].js',
    chunkFileNames: 'chunks/[name]-[hash].js',
    hashCharacters: 'hex',
    codeSplitting: {
      includeDependenciesRecursively: false,
      groups: TOGETHER.map(([name, test]) => ({ name, test })),
    },
    // Node prints the line that an error comes from: lines stay, and so do the names of classes and functions in stack traces.
    minify: {
      compress: false,
      mangle: { keepNames: { class: true, function: true } },
      codegen: { removeWhitespace: false },
    },
  },
});
