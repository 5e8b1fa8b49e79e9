import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import * as root from '../../src/index.ts';

const folder = import.meta.dirname;

describe('the names that people know', () => {
  const known = [
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
  ];
  const index = readFileSync(`${folder}/../../src/index.ts`, 'utf8');
  const statements = [...index.matchAll(/^export \{([^}]*)\} from '\.\/([^']+)';$/gm)];
  const declaredIn = new Map(
    statements.flatMap(([, names = '', path = '']) =>
      names.split(',').map((name) => [name.trim(), path] as const),
    ),
  );

  it.each(known)('%s is there, and is a function', (name) => {
    expect(new Map<string, unknown>(Object.entries(root)).get(name)).toBeTypeOf('function');
  });

  it('have the numbers that people know as defaults', () => {
    const window = root.strategies.find(({ name }) => name === 'sliding-window');

    expect({
      trigger: root.AUTOCOMPACT_TRIGGER_FRACTION,
      warning: root.WARNING_FRACTION,
      critical: root.CRITICAL_FRACTION,
      collapse: root.COLLAPSE_FRACTION,
      failures: root.MAX_CONSECUTIVE_FAILURES,
      retries: root.MAX_OVERFLOW_RETRIES,
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

  it.each(Object.keys(root))('%s is documented where it is declared', (name) => {
    const source = readFileSync(`${folder}/../../src/${declaredIn.get(name)}`, 'utf8');
    const declaration = new RegExp(String.raw`\*/\nexport (?:async )?(?:function|const|class) ${name}\b`);

    expect(source).toMatch(declaration);
  });
});
