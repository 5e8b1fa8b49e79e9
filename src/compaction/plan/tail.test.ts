import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { messagesOfShape } from '../../../test/support/shapes.ts';
import { legalCuts } from '../../conversation/cuts.ts';
import type { Format } from '../../conversation/format.ts';
import type { Message } from '../../conversation/message.ts';
import { anthropicMessages } from '../../formats/anthropic-messages/format.ts';
import { openaiChat } from '../../formats/openai-chat/format.ts';
import { createTokenEstimator } from '../../tokens/estimator.ts';
import { o200kProfile } from '../../tokens/profiles.ts';
import { messagesToKeepIndex, tailStart } from './tail.ts';

/** Every message has ten tokens, whatever is in it. */
const tens = createTokenEstimator({
  profile: { ...o200kProfile, perMessageTokens: 10 },
  countText: () => 0,
});

const conversationOf = (messages: readonly Message[], format: Format = anthropicMessages) => ({
  messages,
  format,
});

describe('tailStart', () => {
  it('begins with an answer where two messages of the user may not stand next to each other', () => {
    const messages = messagesOfShape('uauau');
    const options = { keepTokens: 0, keepRounds: 0 };

    expect(tailStart(conversationOf(messages, openaiChat), tens, options)).toBe(3);
    expect(tailStart(conversationOf(messages), tens, options)).toBe(4);
  });

  it.each([
    { shape: 'ucrcrcr', keepTokens: 0, keepRounds: 1, start: 5 },
    { shape: 'ucrcrcr', keepTokens: 0, keepRounds: 2, start: 3 },
    { shape: 'ucrcrcr', keepTokens: 0, keepRounds: 99, start: 0 },
    { shape: 'ucrcrcr', keepTokens: 39, keepRounds: 1, start: 5 },
    { shape: 'ucrcrcr', keepTokens: 40, keepRounds: 1, start: 3 },
    { shape: 'ucrcrcr', keepTokens: 60, keepRounds: 1, start: 1 },
    { shape: 'ucrcrcr', keepTokens: 70, keepRounds: 1, start: 0 },
    { shape: 'uaucrau', keepTokens: 0, keepRounds: 1, start: 5 },
    { shape: 'uaua', keepTokens: 0, keepRounds: 1, start: 2 },
    { shape: 'uaua', keepTokens: 0, keepRounds: 2, start: 1 },
    { shape: 'uaua', keepTokens: 0, keepRounds: 0, start: 3 },
    { shape: 'uauau', keepTokens: 0, keepRounds: 0, start: 4 },
    { shape: 'ucrcr', keepTokens: 0, keepRounds: 0, start: 3 },
    { shape: 'ucrcrcr', keepTokens: 0, keepRounds: 0, keepMessages: 3, start: 3 },
    { shape: 'ucrcrcr', keepTokens: 0, keepRounds: 0, keepMessages: 3, mostTokens: 30, start: 5 },
    { shape: 'ucrcrcr', keepTokens: 0, keepRounds: 3, mostTokens: 40, start: 3 },
    { shape: '', keepTokens: 0, keepRounds: 1, start: 0 },
  ])(
    'of $shape is $start when $keepRounds rounds or $keepTokens tokens stay',
    ({ shape, start, ...options }) => {
      expect(tailStart(conversationOf(messagesOfShape(shape)), tens, options)).toBe(start);
    },
  );

  it('goes back to where the list may be cut when a round begins between call and result', () => {
    const [user, call, result, answer] = messagesOfShape('ucra');
    const late = [user!, call!, answer!, result!, answer!];

    expect(legalCuts(late)).toContain(
      tailStart(conversationOf(late), tens, { keepTokens: 0, keepRounds: 1 }),
    );
  });

  test.prop([fc.stringMatching(/^u(a|cr|au){0,10}$/), fc.nat(150), fc.nat(6)])(
    'is a legal cut, and more to keep never makes a shorter tail',
    (shape, keepTokens, keepRounds) => {
      const messages = messagesOfShape(shape);
      const start = tailStart(conversationOf(messages), tens, { keepTokens, keepRounds });

      expect(legalCuts(messages)).toContain(start);
      expect(
        tailStart(conversationOf(messages), tens, {
          keepTokens: keepTokens + 10,
          keepRounds: keepRounds + 1,
        }),
      ).toBeLessThanOrEqual(start);
    },
  );
});

const estimator = createTokenEstimator();
const shapes = fc.stringMatching(/^u(a|cr|au){0,10}$/);

describe('messagesToKeepIndex', () => {
  test.prop([shapes, fc.nat(120)])('begins the longest tail that fits', (shape, budget) => {
    const messages = Object.freeze(messagesOfShape(shape));
    const index = messagesToKeepIndex(messages, estimator, budget);

    expect(estimator.countMessages(messages.slice(index))).toBeLessThanOrEqual(budget);
    if (index > 0) expect(estimator.countMessages(messages.slice(index - 1))).toBeGreaterThan(budget);
  });

  test.prop([shapes, fc.nat(120)])('always has a legal cut behind it that fits as well', (shape, budget) => {
    const messages = messagesOfShape(shape);
    const index = messagesToKeepIndex(messages, estimator, budget);

    expect(legalCuts(messages).some((cut) => cut >= index)).toBe(true);
  });
});
