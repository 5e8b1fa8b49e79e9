import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { messagesOfShape, recordsOfWords } from '../../test/support/shapes.ts';
import { currentTurnStart } from './current-turn.ts';
import { legalCuts } from './legality.ts';

describe('the current turn', () => {
  it.each([
    { shape: '', start: 0 },
    { shape: 'u', start: 0 },
    { shape: 'uuu', start: 0 },
    { shape: 'uau', start: 2 },
    { shape: 'uauu', start: 2 },
    { shape: 'uaucr', start: 3 },
    { shape: 'uaucrcr', start: 5 },
    { shape: 'uaucru', start: 3 },
    { shape: 'uaua', start: 3 },
    { shape: 'uauc', start: 3 },
  ])('of $shape begins at $start', ({ shape, start }) => {
    expect(currentTurnStart(messagesOfShape(shape))).toBe(start);
  });

  it('holds every record of the response whose results wait', () => {
    expect(currentTurnStart(recordsOfWords('U1 A1 U2 A2 A2(a) A2(b) T(a) T(b)'))).toBe(3);
  });

  test.prop([fc.stringMatching(/^u(a|cr|u){0,12}$/)])(
    'begins where the list may be cut, and holds the newest message',
    (shape) => {
      const messages = messagesOfShape(shape);
      const start = currentTurnStart(messages);

      expect(legalCuts(messages)).toContain(start);
      expect(start).toBeLessThan(messages.length);
    },
  );
});
