import { defineConfig } from 'rolldown';

/**
 * One file per entry point and what entry points share in chunks: loading dozens of small modules costs Node several
 * times what loading one does (`bench/import.ts`). Types come from `tsc`, per source file.
 */
// biome-ignore lint/style/noDefaultExport: rolldown reads its configuration from the default export
export default defineConfig({
  input: {
    index: 'src/index.ts',
    'contracts/index': 'src/contracts/index.ts',
    'config/recordings': 'src/config/recordings.ts',
    'models/index': 'src/models/index.ts',
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
  },
});
