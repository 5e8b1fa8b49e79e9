import { describe, expect, it } from 'vitest';
import { createCompactor } from '../../src/compaction/compactor.ts';
import type { CompactionEvent, CompactorOptions } from '../../src/compaction/options.ts';
import { RoundfoldError } from '../../src/conversation/errors.ts';
import { AUTOCOMPACT_TRIGGER_FRACTION } from '../../src/tokens/thresholds.ts';
import { deepFreeze } from '../support/deep-freeze.ts';
import { session } from '../support/probing-session.ts';

const countWords = (text: string) => text.split(' ').length;

/** What a compactor measures for a list. */
async function measured(value: unknown, options: Partial<CompactorOptions> = {}): Promise<number> {
  const events: CompactionEvent[] = [];
  const onEvent = (event: CompactionEvent) => void events.push(event);
  await createCompactor({ windowTokens: 100_000, ...options, onEvent }).compact(value);
  const started = events.find(({ type }) => type === 'compaction-start');
  return started?.type === 'compaction-start' ? started.tokens : Number.NaN;
}

/** The error of options that cannot be meant. */
function refusal(options: CompactorOptions): RoundfoldError {
  try {
    createCompactor(options);
  } catch (error) {
    if (RoundfoldError.is(error)) return error;
    throw error;
  }
  throw new Error('it was taken');
}

describe('an automatic run', () => {
  it('is due at exactly the trigger, and not one token below', async () => {
    const messages = deepFreeze(session(30));
    const tokens = await measured(messages, { countTokens: countWords });
    const ask = (trigger: number) =>
      createCompactor({ windowTokens: 100_000, trigger, countTokens: countWords }).maybeCompact(messages);

    expect(tokens).toBeGreaterThan(30 * 120);
    expect((await ask(tokens)).outcome.status).toBe('compacted');
    expect((await ask(tokens + 1)).outcome).toMatchObject({ status: 'skipped', reason: 'below-trigger' });
  });

  it('becomes due with the one word that is missing', async () => {
    const messages = session(30);
    const shorter = [...messages, { role: 'assistant', content: 'and' }, { role: 'user', content: 'go on' }];
    const longer = shorter.with(-1, { role: 'user', content: 'go on now' });
    const trigger = (await measured(shorter, { countTokens: countWords })) + 1;
    const options = { windowTokens: 100_000, trigger, countTokens: countWords };

    expect((await createCompactor(options).maybeCompact(shorter)).value).toBe(shorter);
    expect((await createCompactor(options).maybeCompact(longer)).outcome.status).toBe('compacted');
  });

  it('counts with the counter it is given, and with no other', async () => {
    const messages = session(30);
    const ask = (countTokens: (text: string) => number) =>
      createCompactor({ windowTokens: 20_000, countTokens }).maybeCompact(messages);

    expect((await ask(() => 0)).outcome.reason).toBe('below-trigger');
    expect((await ask((text) => text.length)).outcome).not.toMatchObject({ reason: 'below-trigger' });
  });
});

describe('thresholds', () => {
  const of = (options: CompactorOptions) => createCompactor(options).thresholds;

  it.each<{ title: string; options: CompactorOptions; trigger: number; target: number }>([
    {
      title: 'leave room for the answer and one more turn',
      options: { windowTokens: 200_000 },
      trigger: 167_000,
      target: 58_450,
    },
    {
      title: 'come with the model',
      options: { model: 'claude-opus-4-5' },
      trigger: 167_000,
      target: 58_450,
    },
    {
      title: 'leave less room where answers are short',
      options: { windowTokens: 200_000, maxOutputTokens: 2000 },
      trigger: 200_000 * AUTOCOMPACT_TRIGGER_FRACTION,
      target: 200_000 * AUTOCOMPACT_TRIGGER_FRACTION * 0.35,
    },
    {
      title: 'are shares of small windows',
      options: { windowTokens: 10_000, maxOutputTokens: 1000 },
      trigger: 7200,
      target: 4320,
    },
    {
      title: 'are taken in tokens',
      options: { windowTokens: 100_000, trigger: 50_000, target: 12_345 },
      trigger: 50_000,
      target: 12_345,
    },
    {
      title: 'are taken as shares of the window',
      options: { windowTokens: 100_000, trigger: 0.5, target: 0.2 },
      trigger: 50_000,
      target: 20_000,
    },
    {
      title: 'may be raised up to the window, in tokens',
      options: { windowTokens: 100_000, trigger: 100_000, target: 99_999 },
      trigger: 100_000,
      target: 99_999,
    },
    {
      title: 'may be raised up to the window, as a share',
      options: { windowTokens: 100_000, trigger: 1, target: 0.999 },
      trigger: 100_000,
      target: 99_900,
    },
    {
      title: 'never come without a limit',
      options: { windowTokens: 0 },
      trigger: Number.POSITIVE_INFINITY,
      target: Number.POSITIVE_INFINITY,
    },
    {
      title: 'come without a limit where a trigger says so',
      options: { windowTokens: 0, trigger: 40_000, target: 10_000 },
      trigger: 40_000,
      target: 10_000,
    },
  ])('$title', ({ options, trigger, target }) => {
    const { triggerTokens, targetTokens } = of(options);

    expect(triggerTokens).toBe(trigger);
    // Shares are of whole tokens.
    if (Number.isFinite(target)) expect(Math.abs(targetTokens - target)).toBeLessThanOrEqual(1);
    else expect(targetTokens).toBe(target);
  });

  it('are what runs go by', async () => {
    const messages = session(60);
    const tokens = await measured(messages);
    const { outcome } = await createCompactor({
      windowTokens: tokens * 2,
      trigger: 0.4,
      target: 0.15,
      strategy: 'token-budget',
    }).maybeCompact(messages);

    expect(outcome.status).toBe('compacted');
    if (outcome.status !== 'compacted') return;
    expect(outcome.receipt.tokensAfter).toBeLessThanOrEqual(tokens * 0.3);
    expect(outcome.receipt.tokensAfter).toBeGreaterThan(tokens * 0.2);
  });
});

describe('options that cannot be meant are refused with a remedy', () => {
  const numbers = [Number.NaN, Number.POSITIVE_INFINITY, -1];

  it.each<{ title: string; options: Record<string, unknown>; message: RegExp; remedy: RegExp }>([
    {
      title: 'no window at all',
      options: {},
      message: /neither model nor windowTokens/,
      remedy: /windowTokens/,
    },
    {
      title: 'a model that nobody knows',
      options: { model: 'kiln-9000' },
      message: /nobody knows the window of "kiln-9000"/,
      remedy: /windowTokens/,
    },
    ...['windowTokens', 'maxOutputTokens', 'trigger', 'target'].flatMap((name) =>
      numbers.map((value) => ({
        title: `${name} ${value}`,
        options: { windowTokens: 1000, [name]: value },
        message: new RegExp(`^${name} is ${value}`),
        remedy: /tokens/,
      })),
    ),
    {
      title: 'a number that is a text',
      options: { windowTokens: '1000' },
      message: /windowTokens is 1000/,
      remedy: /tokens/,
    },
    {
      title: 'a trigger above the window',
      options: { windowTokens: 1000, trigger: 1001 },
      message: /trigger is 1001/,
      remedy: /up to the window of 1000/,
    },
    {
      title: 'a target at the trigger',
      options: { windowTokens: 1000, trigger: 500, target: 500 },
      message: /target is 500/,
      remedy: /below the trigger of 500/,
    },
    {
      title: 'no time for a summarizer',
      options: { windowTokens: 1000, summarizerTimeout: 0 },
      message: /summarizerTimeout is 0/,
      remedy: /milliseconds/,
    },
    {
      title: 'an option that nobody knows',
      options: { windowTokens: 1000, triggerTokens: 500 },
      message: /unknown option "triggerTokens"/,
      remedy: /trigger, target/,
    },
    {
      title: 'a format that does not exist',
      options: { windowTokens: 1000, format: 'morse' },
      message: /unknown format "morse"/,
      remedy: /anthropic-messages/,
    },
    {
      title: 'a strategy that does not exist',
      options: { windowTokens: 1000, strategy: 'magic' },
      message: /unknown strategy "magic"/,
      remedy: /ladder/,
    },
  ])('$title', ({ options, message, remedy }) => {
    const error = refusal(options);

    expect(error.code).toBe('usage');
    expect(error.message).toMatch(message);
    expect(error.remedy).toMatch(remedy);
  });
});
