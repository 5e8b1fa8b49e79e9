import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { notCompacted, type Strategy, type StrategyContext } from '../compaction/plan/strategy.ts';
import { readConversation } from '../formats/registry.ts';
import { memory } from '../memory/summarizer.ts';
import { createTokenEstimator } from '../tokens/estimator.ts';
import { RunLog } from './run-log.ts';

const folder = mkdtempSync(join(tmpdir(), 'roundfold-log-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const idle = notCompacted('skipped', 'short-enough', 'nothing to do');
const strategy: Strategy = { name: 'idle', compact: async () => idle };
const conversation = readConversation([{ role: 'user', content: 'hello' }], 'openai-chat');
const context: StrategyContext = {
  estimator: createTokenEstimator(),
  targetTokens: 1,
  trigger: 'auto',
  pins: {},
  summarizer: memory,
  ownSummarizer: memory,
  bindsReasoning: false,
  signal: undefined,
};

describe('RunLog', () => {
  it.each([
    ['a run', 'short-enough', 1],
    ['a run that failed', 'summary-empty', 1],
    ['a plan that does not pay', 'economics-not-worth-it', 0],
    ['a plan that came to nothing', 'below-trigger', 0],
  ])('has %s (%s) as %i records', async (what, reason, count) => {
    const path = join(folder, what);
    const log = new RunLog(path, () => undefined);
    await log.noting(strategy).compact(conversation, context);
    log.settle(notCompacted('skipped', reason, ''));
    // What was not run leaves no record, and none is written twice.
    log.settle(idle);

    const lines = existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n') : [];
    expect(lines.length).toBe(count);
  });

  it('tells when it cannot be written', async () => {
    const failures: unknown[] = [];
    const log = new RunLog(join(folder, 'no', 'such', 'folder'), (error) => failures.push(error));
    await log.noting(strategy).compact(conversation, context);
    log.settle(idle);

    expect(failures.length).toBe(1);
  });
});
