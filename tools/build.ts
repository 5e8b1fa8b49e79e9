/**
 * Builds `dist/`: one file per entry point, and chunks for what they share. Loading dozens of small modules costs Node
 * several times what loading one does (`bench/import.ts`). Types come from `tsc`, per source file.
 */
import { rmSync } from 'node:fs';
import { build } from 'rolldown';

rmSync('dist', { recursive: true, force: true });

await build({
  input: {
    index: 'src/index.ts',
    'contracts/index': 'src/contracts/index.ts',
    'cli/compare/worker': 'src/cli/compare/worker.ts',
    'compaction/economics/index': 'src/compaction/economics/index.ts',
    'integrations/node': 'src/integrations/node.ts',
    'keeper/index': 'src/keeper/index.ts',
    'integrations/ai-sdk': 'src/integrations/ai-sdk.ts',
    'integrations/langchain': 'src/integrations/langchain.ts',
    'simulator/index': 'src/simulator/index.ts',
    'stores/index': 'src/stores/index.ts',
    'tokens/index': 'src/tokens/index.ts',
    'transcripts/recordings': 'src/transcripts/recordings.ts',
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
    minify: { compress: false, mangle: true, codegen: true },
  },
});
