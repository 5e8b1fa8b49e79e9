import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, expectTypeOf, it } from 'vitest';
import {
  MAX_CONSECUTIVE_FAILURES,
  MAX_OVERFLOW_RETRIES,
  strategies,
} from '../../src/compaction/strategies/index.ts';
import * as root from '../../src/index.ts';
import {
  AUTOCOMPACT_TRIGGER_FRACTION,
  COLLAPSE_FRACTION,
  CRITICAL_FRACTION,
  WARNING_FRACTION,
} from '../../src/tokens/index.ts';

const { exports } = JSON.parse(readFileSync('package.json', 'utf8')) as {
  exports: Readonly<Record<string, string | { readonly default: string }>>;
};
const entries = Object.entries(exports).flatMap(([entry, target]) =>
  typeof target === 'string' ? [] : [{ entry, path: sourceOf(target.default) }],
);

function sourceOf(built: string): string {
  return built.replace('./dist/', 'src/').replace(/\.js$/, '.ts');
}

/** Values that an entry point passes on, with the file that declares each. */
function passedOn(path: string): readonly { readonly name: string; readonly source: string }[] {
  const statements = readFileSync(path, 'utf8').matchAll(/^export \{([^}]*)\} from '(\.[^']+)';$/gm);
  return [...statements].flatMap(([, names = '', from = '']) =>
    names
      .split(',')
      .map((name) => name.trim())
      .filter((name) => name !== '' && !name.startsWith('type '))
      .map((name) => ({ name, source: join(dirname(path), from) })),
  );
}

describe('the names that people know', () => {
  it.each([
    'createCompactor',
    'groupRounds',
    'ensureToolResultPairing',
    'truncateHeadForRetry',
    'safeSplitPoint',
    'slidingWindow',
    'summarize',
    'tokenBudget',
    'withLogging',
    'shouldCompact',
    'shouldAutoCompact',
    'tokenWarningState',
    'collapseReads',
    'snip',
    'contextWindowForModel',
    'formatSummary',
  ])('%s is in the root, and is a function', (name) => {
    expect(new Map<string, unknown>(Object.entries(root)).get(name)).toBeTypeOf('function');
  });

  it('have the numbers that people know as defaults', () => {
    const window = strategies.find(({ name }) => name === 'sliding-window');

    expect({
      trigger: AUTOCOMPACT_TRIGGER_FRACTION,
      warning: WARNING_FRACTION,
      critical: CRITICAL_FRACTION,
      collapse: COLLAPSE_FRACTION,
      failures: MAX_CONSECUTIVE_FAILURES,
      retries: MAX_OVERFLOW_RETRIES,
      keep: window?.options,
    }).toMatchObject({
      trigger: 0.9,
      warning: 0.8,
      critical: 0.95,
      collapse: 0.98,
      failures: 3,
      retries: 3,
      keep: { keepLast: { default: 10 } },
    });
  });
});

describe('the public surface', () => {
  it('has a root that can be read at a glance', () => {
    expect(Object.keys(root).length).toBeLessThanOrEqual(40);
  });

  it('gives back values of the types that it was given', () => {
    const list = [{ role: 'user' as const, content: 'hi' }];
    const mended = root.writeConversation(root.ensureToolResultPairing(root.readConversation(list)));

    expectTypeOf(mended).toEqualTypeOf<{ role: 'user'; content: string }[]>();
    expect(mended).toBe(list);
  });

  it.each(entries)('$entry documents every value where it is declared', ({ path }) => {
    const undocumented = passedOn(path).filter(({ name, source }) => {
      const declaration = new RegExp(
        String.raw`\*/\nexport (?:async )?(?:function\*?|const|class) ${name}\b`,
      );
      return !declaration.test(readFileSync(source, 'utf8'));
    });

    expect(undocumented).toEqual([]);
  });

  it.each(entries)('$entry says what it is for', ({ path }) => {
    expect(readFileSync(path, 'utf8')).toMatch(/^\/\*\*\n \* \S/);
  });
});
