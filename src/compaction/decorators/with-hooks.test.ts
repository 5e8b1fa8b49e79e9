import { describe, expect, it } from 'vitest';
import { deepFreeze } from '../../../test/support/deep-freeze.ts';
import { messagesOfShape } from '../../../test/support/shapes.ts';
import { strategyContext } from '../../../test/support/strategy-context.ts';
import { readSummaryMessage } from '../../conversation/summary-message.ts';
import { anthropicMessages } from '../../formats/anthropic-messages/format.ts';
import type { Summarizer, SummaryRequest } from '../../memory/summary-request.ts';
import type { Compacted, Outcome } from '../plan/strategy.ts';
import { createStrategy } from '../strategies/registry.ts';
import { type HookRun, withHooks } from './with-hooks.ts';

const conversation = anthropicMessages.read(
  deepFreeze(messagesOfShape('ucrcrcrua', ' and so on'.repeat(40)).map(({ raw }) => raw)),
);
const eager = { keepRounds: 1, minGain: 0 };
const summarize = createStrategy('summarize', eager);
const usage = { promptTokens: 30, outputTokens: 3 };

/** Remembers what it is asked. */
function asking() {
  const requests: SummaryRequest[] = [];
  const summarizer: Summarizer = {
    name: 'asking',
    asksModel: true,
    async summarize(request) {
      requests.push(request);
      return { status: 'summarized', text: 'a summary', usage };
    },
  };
  return { requests, context: strategyContext({ summarizer }) };
}

function summaryIn(outcome: Outcome): string | undefined {
  const { messages } = (outcome as Compacted).conversation; // tested to be compacted beside
  return messages.map(readSummaryMessage).find((summary) => summary !== undefined);
}

const manual = strategyContext({ trigger: 'manual' });

describe('withHooks, before a run', () => {
  it('does not run what the hook does not want, and says why', async () => {
    const { requests, context } = asking();
    const strategy = withHooks(summarize, { before: () => ({ skip: 'the user is typing' }) });

    expect(await strategy.compact(conversation, context)).toEqual({
      status: 'skipped',
      reason: 'skipped-by-hook',
      message: 'summarize: the user is typing',
      usage: undefined,
    });
    expect(requests).toEqual([]);
  });

  it('takes the summary of the hook and asks nobody', async () => {
    const { requests, context } = asking();
    const strategy = withHooks(summarize, { before: async () => ({ summary: 'what I know' }) });
    const outcome = await strategy.compact(conversation, context);

    expect(outcome).toMatchObject({ status: 'compacted', usage: undefined });
    expect(summaryIn(outcome)).toContain('## What happened\n- By a model: what I know');
    expect(requests).toEqual([]);
  });

  it.each([
    { title: 'an empty one', summary: ' \n', reason: 'summary-empty' },
    { title: 'one that is too large', summary: 'word '.repeat(5000), reason: 'summary-too-large' },
  ])('does not take every summary: $title', async ({ summary, reason }) => {
    const strategy = withHooks(summarize, { before: () => ({ summary }) });

    expect(await strategy.compact(conversation, manual)).toMatchObject({ status: 'failed', reason });
  });

  it.each([
    { own: '', instructions: 'keep the ports', asked: 'keep the ports' },
    { own: 'keep the names', instructions: 'keep the ports', asked: 'keep the names\n\nkeep the ports' },
    { own: 'keep the names', instructions: ' ', asked: 'keep the names' },
    { own: '', instructions: undefined, asked: undefined },
  ])('asks for $asked', async ({ own, instructions, asked }) => {
    const { requests, context } = asking();
    const inner = createStrategy('summarize', { ...eager, instructions: own });
    const strategy = withHooks(inner, { before: () => ({ instructions }) });
    await strategy.compact(conversation, context);

    expect(requests.map(({ instructions: given }) => given)).toEqual([asked]);
  });

  it('tells the hook about the run', async () => {
    const runs: HookRun[] = [];
    const context = strategyContext({ trigger: 'overflow', targetTokens: 7, signal: AbortSignal.abort() });
    const strategy = withHooks(createStrategy('none'), { before: (run) => void runs.push(run) });
    await strategy.compact(conversation, context);

    const { trigger, targetTokens, signal } = context;
    expect(runs).toEqual([{ strategy: 'none', conversation, trigger, targetTokens, signal }]);
    expect(runs[0]?.conversation).toBe(conversation);
  });
});

describe('withHooks, after a run', () => {
  it.each([
    { title: 'a compaction', before: () => undefined, status: 'compacted' },
    { title: 'a run that was skipped', before: () => ({ skip: 'no' }), status: 'skipped' },
  ])('sees $title', async ({ before, status }) => {
    const seen: Outcome[] = [];
    const after = (outcome: Outcome) => void seen.push(outcome);
    const outcome = await withHooks(summarize, { before, after }).compact(conversation, manual);

    expect(seen).toEqual([outcome]);
    expect(outcome).toMatchObject({ status });
  });

  it('cannot change the outcome', async () => {
    const after = (outcome: Outcome) => Object.assign(outcome, { status: 'skipped' });
    const outcome = await withHooks(summarize, { after }).compact(conversation, manual);

    expect(outcome).toMatchObject({ status: 'failed', reason: 'hook-failed' });
  });
});

describe('withHooks, when a hook throws', () => {
  const fault = () => {
    throw new Error('out of coffee');
  };

  it.each([
    { name: 'before', hooks: { before: fault }, spent: undefined },
    { name: 'before', hooks: { before: () => Promise.reject('out of coffee') }, spent: undefined },
    { name: 'after', hooks: { after: fault }, spent: usage },
  ])('fails in $name, changes nothing and accounts for $spent', async ({ name, hooks, spent }) => {
    const { context } = asking();
    const outcome = await withHooks(summarize, hooks).compact(conversation, {
      ...context,
      trigger: 'manual',
    });

    expect(outcome).toMatchObject({ status: 'failed', reason: 'hook-failed', usage: spent });
    expect(outcome).toMatchObject({ message: expect.stringMatching(new RegExp(`${name} hook.*coffee`)) });
    expect(outcome).not.toHaveProperty('conversation');
  });
});
