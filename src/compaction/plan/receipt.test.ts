import { describe, expect, it } from 'vitest';
import { messagesOfShape } from '../../../test/support/shapes.ts';
import type { Message } from '../../conversation/message.ts';
import { anthropicMessages } from '../../formats/anthropic-messages/format.ts';
import { createTokenEstimator } from '../../tokens/estimator.ts';
import { requestTokens } from '../../tokens/measure.ts';
import { applyPlan, type Edit } from './plan.ts';
import { writeReceipt } from './receipt.ts';

const estimator = createTokenEstimator();
const conversation = anthropicMessages.read(messagesOfShape('ucrcrau').map(({ raw }) => raw));

function receiptOf(...edits: readonly Edit[]) {
  return writeReceipt(conversation, applyPlan(conversation, { steps: [edits] }), {
    estimator,
    strategy: 'by hand',
  });
}

describe('a receipt', () => {
  it('names what left where it is kept, and nothing where a name would lead nowhere', () => {
    const applied = applyPlan(conversation, { steps: [[{ type: 'drop', start: 5, end: 6 }]] });
    const handleFor = (messages: readonly Message[]) => `rf:${messages.length}`;
    const handlesIn = (options: { handleFor?: typeof handleFor }) =>
      writeReceipt(conversation, applied, { estimator, strategy: 'by hand', ...options }).runs.map(
        ({ handle }) => handle,
      );

    expect(handlesIn({ handleFor })).toEqual([undefined, 'rf:1', undefined]);
    expect(handlesIn({})).toEqual([undefined, undefined, undefined]);
  });

  it('lists stretches of one fate with their tokens', () => {
    const { runs, ...rest } = receiptOf(
      { type: 'summarize', start: 1, end: 3, text: 'two messages' },
      { type: 'drop', start: 5, end: 6 },
    );

    expect(runs.map(({ fate, start, end }) => [fate, start, end])).toEqual([
      ['verbatim', 0, 1],
      ['summarised', 1, 3],
      ['verbatim', 3, 5],
      ['dropped', 5, 6],
      ['verbatim', 6, 7],
    ]);
    expect(rest).toMatchObject({ version: 1, strategy: 'by hand', messagesBefore: 7, messagesAfter: 5 });
    const tokens = runs.reduce((sum, run) => sum + run.tokens, estimator.profile.perRequestTokens);
    expect(Math.abs(tokens - rest.tokensBefore)).toBeLessThan(runs.length);
  });

  it('counts the summary that took the place, so that what was freed is what was really freed', () => {
    const short = receiptOf({ type: 'summarize', start: 1, end: 5, text: 'x' });
    const long = receiptOf({ type: 'summarize', start: 1, end: 5, text: 'many words '.repeat(200) });

    expect(short.tokensAfter).toBeLessThan(short.tokensBefore);
    expect(long.tokensAfter).toBeGreaterThan(long.tokensBefore);
  });

  it('counts instructions and tools, which no plan makes smaller', () => {
    const framed = anthropicMessages.read({
      system: 'instructions '.repeat(50),
      tools: [{ name: 'probe', description: 'looks', input_schema: { type: 'object' } }],
      messages: [{ role: 'user', content: 'x' }],
    });
    const bare = anthropicMessages.read([{ role: 'user', content: 'x' }]);
    const { frame } = framed;
    const around = estimator.countSystem(frame) + estimator.countTools(frame);

    expect(around).toBeGreaterThan(50);
    expect(requestTokens(framed, estimator)).toBeCloseTo(requestTokens(bare, estimator) + around);
  });

  it('is plain data', () => {
    const receipt = receiptOf({ type: 'drop', start: 1, end: 3 });

    expect(JSON.parse(JSON.stringify(receipt))).toEqual(receipt);
  });

  it('of an empty conversation has no runs', () => {
    const empty = anthropicMessages.read([]);
    const applied = applyPlan(empty, { steps: [] });

    expect(writeReceipt(empty, applied, { estimator, strategy: 'none' }).runs).toEqual([]);
  });
});
