import { describe, expect, it } from 'vitest';
import { messagesOfShape } from '../../../test/support/shapes.ts';
import { strategyContext } from '../../../test/support/strategy-context.ts';
import { anthropicMessages } from '../../formats/anthropic-messages/format.ts';
import { requestTokens } from '../../tokens/measure.ts';
import { decorate } from '../decorators/decorate.ts';
import type { Edit } from './plan.ts';
import { changeOf, finish, judgeTarget, notCompacted, type Strategy } from './strategy.ts';

const context = strategyContext();
const options = { strategy: 'mine', reason: 'did it' };
const read = (shape: string) =>
  anthropicMessages.read(messagesOfShape(shape, ' and so on'.repeat(40)).map(({ raw }) => raw));
const finishOf = (shape: string, ...edits: readonly Edit[]) => finish(read(shape), edits, context, options);

describe('finish', () => {
  it('accounts for legal edits', () => {
    const outcome = finishOf('ucrcrau', { type: 'drop', start: 1, end: 3 });

    expect(outcome).toMatchObject({
      status: 'compacted',
      reason: 'did it',
      receipt: { strategy: 'mine', messagesBefore: 7, messagesAfter: 5 },
    });
  });

  it('has nothing to do without edits', () => {
    expect(finishOf('ucrau')).toMatchObject({ status: 'skipped', reason: 'nothing-to-do' });
  });

  it.each<{ title: string; edit: Edit; at: number }>([
    { title: 'a drop that begins between', edit: { type: 'drop', start: 2, end: 3 }, at: 2 },
    { title: 'a drop that ends between', edit: { type: 'drop', start: 0, end: 4 }, at: 4 },
    { title: 'a summary that ends between', edit: { type: 'summarize', start: 1, end: 2, text: 'S' }, at: 2 },
    { title: 'a drop beyond the end', edit: { type: 'drop', start: 1, end: 99 }, at: 99 },
  ])('refuses to part a call from its result: $title', ({ edit, at }) => {
    const outcome = finishOf('ucrcrau', edit);

    expect(outcome).toMatchObject({ status: 'failed', reason: 'illegal-plan' });
    expect(outcome).toMatchObject({
      message: expect.stringContaining(`mine: nothing may be cut at message ${at}`),
    });
    expect(changeOf(outcome)).toBeUndefined();
  });

  it.each<{ title: string; shape: string; edit: Edit }>([
    { title: 'dropped', shape: 'ucrau', edit: { type: 'drop', start: 3, end: 5 } },
    { title: 'summarised', shape: 'ucrau', edit: { type: 'summarize', start: 1, end: 5, text: 'S' } },
    { title: 'answered behind its back', shape: 'ucrau', edit: { type: 'insert', before: 5, text: 'x' } },
    { title: 'shortened', shape: 'ucrcr', edit: { type: 'rewrite', message: 4, block: 0, text: 'x' } },
    { title: 'stripped', shape: 'ucrcr', edit: { type: 'strip', message: 4, block: 0 } },
    { title: 'robbed of its call', shape: 'ucrcr', edit: { type: 'drop', start: 1, end: 5 } },
  ])('refuses that the current turn is $title', ({ shape, edit }) => {
    expect(finishOf(shape, edit)).toMatchObject({
      status: 'failed',
      reason: 'illegal-plan',
      message: expect.stringMatching(/message 4 is part of the current turn, which stays as it is/),
    });
  });

  it('lets a message of ours stand right before the current turn', () => {
    const outcome = finishOf(
      'ucrcrau',
      { type: 'drop', start: 1, end: 6, isSummarised: true },
      { type: 'insert', before: 6, text: 'S', isSummary: true },
    );

    expect(outcome).toMatchObject({ status: 'compacted', receipt: { messagesAfter: 3 } });
  });

  it('gives nothing that is not smaller', () => {
    const text = 'long '.repeat(2000);

    expect(finishOf('ucrcrau', { type: 'summarize', start: 1, end: 3, text })).toMatchObject({
      status: 'insufficient',
      reason: 'not-smaller',
    });
  });

  it('tells the usage in every case', () => {
    const usage = { promptTokens: 3, outputTokens: 1 };
    const edits: readonly Edit[][] = [
      [],
      [{ type: 'drop', start: 1, end: 3 }],
      [{ type: 'drop', start: 1, end: 2 }],
      [{ type: 'insert', before: 1, text: 'x' }],
    ];

    for (const each of edits)
      expect(finish(read('ucrcrau'), each, context, { ...options, usage }).usage).toBe(usage);
  });
});

describe('judgeTarget', () => {
  const outcome = finishOf('ucrcrau', { type: 'drop', start: 1, end: 3 });
  const tokens = changeOf(outcome)!.receipt.tokensAfter;

  it('lets be what is within the target, and what is no result', () => {
    const skipped = notCompacted('skipped', 'off', 'off');

    expect(judgeTarget(outcome, tokens, 'x')).toBe(outcome);
    expect(judgeTarget(skipped, 0, 'x')).toBe(skipped);
  });

  it('makes a missed target insufficient, with the result as the best there is and what is in the way', () => {
    const missed = judgeTarget(outcome, tokens - 1, 'the tools (9 tokens)');
    const { receipt, conversation, plan, undo } = changeOf(outcome)!;

    expect(missed).toEqual({
      status: 'insufficient',
      reason: 'floor-exceeds-target',
      message: `${tokens} tokens are left of ${receipt.tokensBefore}, more than the target of ${tokens - 1}; most of it is the tools (9 tokens)`,
      usage: undefined,
      best: { receipt, conversation, plan, undo },
    });
    expect(changeOf(missed)?.conversation).toBe(conversation);
    expect(Math.round(requestTokens(conversation, context.estimator))).toBe(tokens);
  });
});

describe('changeOf', () => {
  it.each(['skipped', 'insufficient', 'failed'] as const)(
    'finds none where nothing was made: %s',
    (status) => {
      expect(changeOf(notCompacted(status, 'x', 'x'))).toBeUndefined();
    },
  );
});

describe('decorate', () => {
  const inner = (isDue?: Strategy['isDue']): Strategy => ({
    name: 'inner',
    compact: async () => notCompacted('skipped', 'off', 'off'),
    ...(isDue === undefined ? {} : { isDue }),
  });
  const isDueAround = (strategy: Strategy) =>
    decorate(strategy, strategy.compact).isDue?.(read('u'), { estimator: context.estimator });

  it('is named as the inner one, and due when that is', () => {
    expect(decorate(inner(), inner().compact).name).toBe('inner');
    expect(isDueAround(inner())).toBe(false);
    expect(isDueAround(inner(() => true))).toBe(true);
    expect(isDueAround(inner(() => false))).toBe(false);
  });
});
