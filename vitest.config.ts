import { defineConfig } from 'vitest/config';

// biome-ignore lint/style/noDefaultExport: vitest reads its configuration from the default export
export default defineConfig({
  test: {
    include: ['{src,test,bench}/**/*.test.ts'],
    testTimeout: 60_000,
    // One worker for each of two cores: by default one of them would wait.
    maxWorkers: 2,
    reporters: ['default', './test/closing-line-reporter.ts'],
  },
});
