import { describe, expect, it } from 'vitest';
import { createCompactor } from '../../src/compaction/compactor.ts';
import type { CompactionEvent, CompactorOptions } from '../../src/compaction/options.ts';
import { finish, type Strategy } from '../../src/compaction/plan/strategy.ts';
import type { Usage } from '../../src/conversation/message.ts';
import { deepFreeze } from '../support/deep-freeze.ts';
import { keeping } from '../support/keeping.ts';
import { callAndResult, session, words } from '../support/probing-session.ts';

const countWords = (text: string) => text.split(' ').length;

/** A compactor that counts words, and the tokens of each run it began. */
function counting(options: Partial<CompactorOptions> = {}) {
  const started: number[] = [];
  const compactor = createCompactor({
    windowTokens: 20_000,
    countTokens: countWords,
    ...options,
    onEvent: (event: CompactionEvent) => {
      if (event.type === 'compaction-start') started.push(event.tokens);
    },
  });
  return { compactor, started };
}

const reported = (promptTokens: number): Usage => ({ promptTokens, outputTokens: 0 });

describe('a reported usage', () => {
  const messages = deepFreeze(session(30));

  it('is believed where it speaks of the list, and is what a run begins with', async () => {
    const { compactor, started } = counting({ trigger: 5000, target: 1000 });
    const quiet = await compactor.maybeCompact(messages);
    const due = await compactor.maybeCompact(messages, { usage: reported(5000) });

    expect(quiet.outcome.reason).toBe('below-trigger');
    expect(due.outcome.status).toBe('compacted');
    // And what came after the newest response: a result of 120 words.
    expect(started).toHaveLength(1);
    expect(started[0]).toBeGreaterThanOrEqual(5120);
    expect(started[0]).toBeLessThan(5200);
  });

  it.each([0, 10, 400, 40_000, 4_623_740, Number.NaN])(
    'of %d tokens for 4,000 is of somebody else, and changes nothing',
    async (promptTokens) => {
      const below = await counting({ trigger: 6000 }).compactor.maybeCompact(messages, {
        usage: reported(promptTokens),
      });
      const above = await counting({ trigger: 3000 }).compactor.maybeCompact(messages, {
        usage: reported(promptTokens),
      });

      expect(below.outcome.reason).toBe('below-trigger');
      expect(above.outcome.status).toBe('compacted');
    },
  );

  it('and a large result that came after it make a run due together', async () => {
    const usage = reported(5000);
    const small = deepFreeze([...messages, ...callAndResult(30, 10)]);
    const large = deepFreeze([...messages, ...callAndResult(30, 1500)]);
    const options = { trigger: 6000, target: 5500 };

    expect((await counting(options).compactor.maybeCompact(small, { usage })).value).toBe(small);
    const { value, outcome } = await counting(options).compactor.maybeCompact(large, { usage });
    expect(outcome.status).toBe('compacted');
    expect(value.at(-1)).toBe(large.at(-1));
  });

  it('of before a compaction is not believed after it', async () => {
    // So little leaves that the old report would pass for one of what is left.
    const usage = reported(6000);
    const slight: Strategy = {
      name: 'slight',
      compact: async (conversation, context) =>
        finish(conversation, [{ type: 'drop', start: 1, end: 9 }], context, {
          strategy: 'slight',
          reason: 'less',
        }),
    };
    const { compactor, started } = counting({ trigger: 6000, target: 5800, strategy: slight });
    const { value, outcome } = await compactor.maybeCompact(messages, { usage });
    const again = await compactor.maybeCompact(value, { usage });
    const next = [...value, { role: 'user', content: 'go on' }];
    const later = await compactor.maybeCompact(next, { usage });

    expect(outcome.status).toBe('compacted');
    expect([again, later].map(({ outcome: { reason } }) => reason)).toEqual([
      'below-trigger',
      'below-trigger',
    ]);
    expect(started).toHaveLength(1);
  });

  it('of the response after a compaction is believed again', async () => {
    const { compactor, started } = counting({ trigger: 6000, target: 3500 });
    const { value } = await compactor.maybeCompact(messages, { usage: reported(7000) });
    const probe = counting();
    await probe.compactor.compact(value);
    const [left = 0] = probe.started;
    // Just below the trigger by our own count, just above it by the provider's.
    const next = [...value, ...callAndResult(30, Math.round(6000 - 1.25 * left))];
    const { outcome } = await compactor.maybeCompact(next, { usage: reported(1.5 * left) });

    expect(started).toHaveLength(2);
    expect(outcome.status).not.toBe('skipped');
  });
});

/** Writes into the very message that was sent before, as some clients do. */
function rewriteFirstResult(messages: readonly unknown[], text: string): void {
  const { content } = messages[2] as { content: { content: string }[] };
  for (const block of content) block.content = text;
}

describe('a message that was edited in place', () => {
  it('is measured anew', async () => {
    const messages = session(10);
    const { compactor } = counting({ trigger: 5000, target: 1000 });
    expect((await compactor.maybeCompact(messages)).outcome.reason).toBe('below-trigger');
    rewriteFirstResult(messages, words(5000));

    expect((await compactor.maybeCompact(messages)).outcome.status).toBe('compacted');
  });

  it('is measured anew when it has shrunk', async () => {
    const messages = [...session(0), ...callAndResult(0, 5000), ...callAndResult(1)];
    const { compactor, started } = counting({ trigger: 5000, strategy: 'none' });
    await compactor.maybeCompact(messages);
    rewriteFirstResult(messages, 'gone');
    const { outcome } = await compactor.maybeCompact(messages);

    expect(started).toHaveLength(1);
    expect(outcome.reason).toBe('below-trigger');
  });

  it('is served by no checkpoint of a keeper that was made for its old text', async () => {
    const messages = session(40);
    const { keeper } = keeping({ trigger: 4000, target: 2000, windowTokens: 40_000 });
    await keeper.prepare(messages);
    await keeper.settle();
    expect((await keeper.prepare(messages)).status).toBe('folded');
    rewriteFirstResult(messages, 'the valve is open now');
    const { status, value } = await keeper.prepare(messages);

    expect(status).toBe('unchanged');
    expect(value).toBe(messages);
    await keeper.settle();
  });
});
