/**
 * Builds `dist/`: one file per entry point, and chunks for what they share. Loading dozens of small modules costs Node
 * several times what loading one does (`bench/import.ts`). Types come from `tsc`, per source file.
 */
import { rmSync } from 'node:fs';
import { build } from 'rolldown';

/** What nearly every entry point needs, and what of it only keepers do. */
const SHARED = /src\/(core|formats|redact|strategies|decorators|economics|summarizers\/[^/]+\.ts)/;
const APART =
  /src\/(core\/(engine\/|atomic-groups|canonical|chain|find-checkpoint|markers|progress|project-view|volatile)|formats\/folded\/)/;

rmSync('dist', { recursive: true, force: true });

await build({
  input: {
    index: 'src/index.ts',
    'contracts/index': 'src/contracts/index.ts',
    'cli/compare/worker': 'src/cli/compare/worker.ts',
    'config/keeping': 'src/config/keeping.ts',
    'config/node': 'src/config/node.ts',
    'config/recordings': 'src/config/recordings.ts',
    'economics/index': 'src/economics/index.ts',
    'integrations/ai-sdk': 'src/integrations/ai-sdk.ts',
    'integrations/langchain': 'src/integrations/langchain.ts',
    'models/index': 'src/models/index.ts',
    'simulator/index': 'src/simulator/index.ts',
    'stores/index': 'src/stores/index.ts',
    'cli/main': 'src/cli/main.ts',
  },
  platform: 'node',
  external: /^[^./]/,
  output: {
    dir: 'dist',
    format: 'esm',
    sourcemap: true,
    entryFileNames: '[name].js',
    chunkFileNames: 'chunks/[name]-[hash].js',
    hashCharacters: 'hex',
    // Comments and blanks cost as much to compile as code; the sources are in the package, and the maps lead to them.
    // What nearly every entry point needs is one file: each further file costs as much as a lot of code.
    codeSplitting: {
      groups: [
        {
          name: 'library',
          test: (id: string) => SHARED.test(id) && !APART.test(id),
        },
      ],
    },
    minify: { compress: false, mangle: true, codegen: true },
  },
});
