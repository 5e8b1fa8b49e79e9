import { fc, test } from '@fast-check/vitest';
import { describe, expect } from 'vitest';
import { messagesOfShape } from '../../test/support/shapes.ts';
import { legalCuts } from '../conversation/cuts.ts';
import { createTokenEstimator } from '../tokens/token-estimator.ts';
import { messagesToKeepIndex } from './keep-index.ts';

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
