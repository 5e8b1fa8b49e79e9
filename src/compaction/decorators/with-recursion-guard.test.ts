import { describe, expect, it } from 'vitest';
import { messagesOfShape } from '../../../test/support/shapes.ts';
import { strategyContext } from '../../../test/support/strategy-context.ts';
import { type Conversation, withMessages } from '../../conversation/format.ts';
import { anthropicMessages } from '../../formats/anthropic-messages/format.ts';
import type { Summarizer } from '../../memory/summary-request.ts';
import type { Outcome, Strategy } from '../plan/strategy.ts';
import { createStrategy } from '../strategies/registry.ts';
import { withRecursionGuard } from './with-recursion-guard.ts';

const rawsOf = (shape: string) => messagesOfShape(shape, ' and so on'.repeat(40)).map(({ raw }) => raw);
const body = rawsOf('ucrcrcrua');
const conversation = anthropicMessages.read(body);
const summarize = createStrategy('summarize', { keepRounds: 1, minGain: 0 });

/** Compacts another conversation, with the same strategy, from inside the summarizer of the first. */
async function compactInside(strategy: Strategy, other: Conversation) {
  const inside: Outcome[] = [];
  const summarizer: Summarizer = {
    name: 'nesting',
    asksModel: false,
    async summarize() {
      if (inside.length < 3) inside.push(await strategy.compact(other, context));
      return { status: 'summarized', text: 'short', usage: undefined };
    },
  };
  const context = strategyContext({ summarizer });
  const outer = await strategy.compact(conversation, context);
  return { outer, inside };
}

describe('withRecursionGuard', () => {
  it.each([
    { title: 'itself', other: conversation },
    { title: 'the same list, read again', other: anthropicMessages.read(body) },
    { title: 'a copy of the list', other: anthropicMessages.read([...body]) },
    { title: 'the list grown meanwhile', other: anthropicMessages.read([...body, ...rawsOf('u')]) },
    { title: 'what is left of it so far', other: withMessages(conversation, conversation.messages.slice(2)) },
    { title: 'its beginning', other: anthropicMessages.read(body.slice(0, 3)) },
  ])('refuses to compact a conversation inside its own compaction: $title', async ({ other }) => {
    const { outer, inside } = await compactInside(withRecursionGuard(summarize), other);

    expect(inside).toMatchObject([{ status: 'skipped', reason: 'nested' }]);
    expect(outer).toMatchObject({ status: 'compacted' });
  });

  it.each([
    { title: 'another one', other: anthropicMessages.read(rawsOf('ucrcrcrua')) },
    { title: 'one that only begins alike', other: anthropicMessages.read([body[0], ...rawsOf('ucrcrcrua')]) },
  ])('lets it compact $title', async ({ other }) => {
    const { inside } = await compactInside(withRecursionGuard(summarize), other);

    expect(inside.at(-1)).toMatchObject({ status: 'compacted' });
  });

  it('runs two empty conversations side by side', async () => {
    const strategy = withRecursionGuard(summarize);
    const outcomes = await Promise.all(
      [anthropicMessages.read([]), anthropicMessages.read([])].map((each) =>
        strategy.compact(each, strategyContext()),
      ),
    );

    expect(outcomes.map(({ reason }) => reason)).toEqual(['nothing-old', 'nothing-old']);
  });

  it('is free again after a run, also after one that threw', async () => {
    let isBroken = true;
    const strategy = withRecursionGuard({
      name: 'sometimes',
      async compact(...run) {
        if (isBroken) throw new Error('a bug');
        return summarize.compact(...run);
      },
    });
    await expect(strategy.compact(conversation, strategyContext())).rejects.toThrow('a bug');
    isBroken = false;

    expect(await strategy.compact(conversation, strategyContext())).toMatchObject({ status: 'compacted' });
    expect(await strategy.compact(conversation, strategyContext())).toMatchObject({ status: 'compacted' });
  });
});
