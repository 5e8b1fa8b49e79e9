import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { steps } from '../../../test/support/conversations.ts';
import { deepFreeze } from '../../../test/support/deep-freeze.ts';
import { writers } from '../../../test/support/step-writers.ts';
import { strategyContext } from '../../../test/support/strategy-context.ts';
import { findContract } from '../../contracts/registry.ts';
import type { Conversation } from '../../conversation/format.ts';
import { findFormat } from '../../formats/registry.ts';
import type { Summarizer } from '../../memory/summary-request.ts';
import type { Strategy } from '../plan/strategy.ts';
import * as entry from '../strategies/index.ts';
import { createStrategy } from '../strategies/registry.ts';
import { withBreaker } from './with-breaker.ts';
import { withHooks } from './with-hooks.ts';
import { withLogging } from './with-logging.ts';
import { withMinimumGain } from './with-minimum-gain.ts';
import { withRecursionGuard } from './with-recursion-guard.ts';
import { withRedaction } from './with-redaction.ts';
import { withRetry } from './with-retry.ts';
import { withTimeout } from './with-timeout.ts';
import { withValidation } from './with-validation.ts';

const contract = findContract('anthropic-messages')!;
const countErrors = (value: unknown) =>
  contract.check(value, { scope: 'messages' }).filter(({ severity }) => severity === 'error').length;

/** Every decorator in a shape in which it has no reason to act. */
const decorators: Readonly<Record<string, (inner: Strategy) => Strategy>> = {
  withBreaker: (inner) => withBreaker(inner),
  withHooks: (inner) => withHooks(inner, { before: () => undefined, after: () => 'ignored' }),
  withLogging: (inner) => withLogging(inner, () => undefined),
  withMinimumGain: (inner) => withMinimumGain(inner, { share: 0 }),
  withRecursionGuard,
  withRedaction: (inner) => withRedaction(inner, (text) => text),
  withRetry: (inner) => withRetry(inner, { attempts: 3 }),
  withTimeout: (inner) => withTimeout(inner, { timeoutMs: 60_000 }),
  withValidation: (inner) => withValidation(inner, countErrors),
  'all of them': (inner) => Object.values(single).reduce((strategy, decorate) => decorate(strategy), inner),
};
const { 'all of them': _all, ...single } = decorators;

const stub: Summarizer = {
  name: 'stub',
  asksModel: true,
  summarize: async ({ messages }) => ({
    status: 'summarized',
    text: `${messages.length} messages`,
    usage: { promptTokens: 70, outputTokens: 7 },
  }),
};
const refusing: Summarizer = {
  ...stub,
  summarize: async () => ({
    status: 'failed',
    reason: 'refused',
    message: 'no',
    usage: { promptTokens: 5, outputTokens: 1 },
  }),
};

const strategies = [
  { title: 'none', strategy: createStrategy('none'), summarizer: stub },
  { title: 'sliding-window', strategy: createStrategy('sliding-window', { keepLast: 2 }), summarizer: stub },
  {
    title: 'summarize',
    strategy: createStrategy('summarize', { keepRounds: 1, minGain: 0 }),
    summarizer: stub,
  },
  {
    title: 'summarize with a summarizer that refuses',
    strategy: createStrategy('summarize', { keepRounds: 1, minGain: 0 }),
    summarizer: refusing,
  },
];

const format = findFormat('anthropic-messages')!;
const write = writers['anthropic-messages']!;
const conversations = steps.map((list): Conversation => format.read(deepFreeze(write(list))));

it('knows every decorator that is exported', () => {
  const exported = Object.keys(entry).filter((name) => name.startsWith('with'));

  expect(Object.keys(single).sort(), 'add a row to `decorators` above').toEqual(exported.sort());
});

describe.each(Object.entries(decorators))('%s', (_name, decorate) => {
  describe.each(strategies)('around $title', ({ strategy, summarizer }) => {
    test.prop([conversations, fc.constantFrom('auto', 'manual', 'overflow'), fc.nat(300)], { numRuns: 40 })(
      'passes the outcome on as it is, usage and all',
      async (conversation, trigger, targetTokens) => {
        const context = deepFreeze(strategyContext({ summarizer, trigger, targetTokens }));
        const isLarger = (outcome: Awaited<ReturnType<Strategy['compact']>>) =>
          outcome.status === 'compacted' && outcome.receipt.tokensAfter > outcome.receipt.tokensBefore;
        const expected = await strategy.compact(conversation, context);
        // No decorator is without a reason to act on a result that is larger.
        fc.pre(!isLarger(expected));

        expect(await decorate(strategy).compact(conversation, context)).toEqual(expected);
      },
    );

    it('keeps the name', () => {
      expect(decorate(strategy).name).toBe(strategy.name);
    });
  });

  it.each([true, false, undefined])('is due when the strategy is: %s', (due) => {
    const inner = createStrategy('none');
    const strategy = decorate(due === undefined ? inner : { ...inner, isDue: () => due });

    expect(strategy.isDue?.(format.read([]), strategyContext())).toBe(due === true);
  });

  it('throws what the strategy throws, since nobody expected it', async () => {
    const fault = new Error('a bug');
    const broken: Strategy = { name: 'broken', compact: () => Promise.reject(fault) };

    await expect(decorate(broken).compact(format.read([]), strategyContext())).rejects.toBe(fault);
  });
});
