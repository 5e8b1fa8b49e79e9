import type { Reporter, TestModule } from 'vitest/node';

/** Ends the run with one plain line that any CI can read: `N passed, N failed[, N skipped]`. */
class ClosingLineReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    const counts = { passed: 0, failed: unhandledErrors.length, skipped: 0 };
    for (const module of modules) {
      if (module.errors().length > 0) counts.failed++;
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        if (state !== 'pending') counts[state]++;
      }
    }
    const skipped = counts.skipped > 0 ? `, ${counts.skipped} skipped` : '';
    // The default reporter has printed its own summary by then; a tick later ours is the last line.
    setImmediate(() =>
      process.stdout.write(`\n${counts.passed} passed, ${counts.failed} failed${skipped}\n`),
    );
  }
}

// biome-ignore lint/style/noDefaultExport: vitest loads a reporter from the default export
export default ClosingLineReporter;
