import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { chat, chatShape } from '../../test/support/chat-shapes.ts';
import { messagesOfShape } from '../../test/support/shapes.ts';
import { alignToGroup, atomicGroups, protectedHeadEnd } from './atomic-groups.ts';
import { legalCuts } from './legality.ts';

const shapes = fc.string({ unit: fc.constantFrom('s', 'u', 'a', 'C', 't'), maxLength: 24 });
const messagesOf = (shape: string) => chat(chatShape(shape)).messages;

describe('atomicGroups', () => {
  it('takes a result that stands in a user message for a result', () => {
    expect(atomicGroups(messagesOfShape('ucrau')).map(({ start }) => start)).toEqual([0, 1, 4]);
  });

  it('is empty for an empty list', () => {
    expect(atomicGroups([])).toEqual([]);
  });

  test.prop([shapes])('leaves nothing out, and every border is a legal cut', (shape) => {
    const messages = messagesOf(shape);
    const groups = atomicGroups(messages);
    const cuts = legalCuts(messages);

    expect(groups.flatMap(({ start, end }) => messages.slice(start, end))).toEqual(messages);
    for (const { start } of groups) expect(cuts).toContain(start);
  });
});

describe('alignToGroup', () => {
  test.prop([shapes, fc.nat(30)])('never moves forward, except to the protected head', (shape, index) => {
    const messages = messagesOf(shape);
    const aligned = alignToGroup(messages, index);

    expect(aligned).toBeLessThanOrEqual(Math.min(index, messages.length));
    expect(alignToGroup(messages, aligned)).toBe(aligned);
    expect(legalCuts(messages)).toContain(aligned);
  });
});

describe('protectedHeadEnd', () => {
  it.each([
    { shape: '', keepFirst: 3, end: 0 },
    { shape: 'ss', keepFirst: 0, end: 2 },
    { shape: 'ua', keepFirst: -1, end: 0 },
    { shape: 'ua', keepFirst: 9, end: 2 },
    { shape: 'uCtau', keepFirst: 2, end: 4 },
    { shape: 'uCtau', keepFirst: 1, end: 1 },
  ])('protects $end of $shape with $keepFirst', ({ shape, keepFirst, end }) => {
    expect(protectedHeadEnd(messagesOf(shape), keepFirst)).toBe(end);
  });

  test.prop([shapes, fc.nat(10)])('is a legal cut', (shape, keepFirst) => {
    const messages = messagesOf(shape);
    const head = protectedHeadEnd(messages, keepFirst);

    expect(atomicGroups(messages).some(({ start, end }) => start < head && head < end)).toBe(false);
  });
});
