import { describe, expect, it } from 'vitest';
import { messagesOfShape } from '../../../test/support/shapes.ts';
import type { Format } from '../../conversation/format.ts';
import { DROPPED_TEXT, openingText } from '../../conversation/summary-message.ts';
import { anthropicMessages } from '../../formats/anthropic-messages/format.ts';
import { openaiChat } from '../../formats/openai-chat/format.ts';
import { dropOldest } from './dropping.ts';

function drop(
  shape: string,
  limit = shape.length,
  { format = anthropicMessages as Format, enough = 99 } = {},
) {
  const raws = messagesOfShape(shape).map(({ raw }) => raw);
  const conversation = { ...anthropicMessages.read(raws), format };
  return dropOldest(conversation, {}, { limit, isEnough: (dropped) => dropped.length >= enough });
}

describe('dropOldest', () => {
  it.each([
    { shape: '', limit: 0, drops: [] },
    { shape: 'u', limit: 1, drops: [] },
    { shape: 'uau', limit: 3, drops: [[1, 2]] },
    { shape: 'uaucra', limit: 4, drops: [[1, 2]] },
    { shape: 'ucrcrau', limit: 7, drops: [[1, 6]] },
    { shape: 'ucrcrau', limit: 4, drops: [[1, 3]] },
    { shape: 'ucrcrau', limit: 2, drops: [] },
    { shape: 'uauau', limit: 5, drops: [[1, 4]] },
  ])(
    'drops $drops of $shape up to $limit: whole stretches, never what is pinned',
    ({ shape, limit, drops }) => {
      const edits = drop(shape, limit);

      expect(edits).toEqual(drops.map(([start, end]) => ({ type: 'drop', start, end })));
    },
  );

  it('quotes the newest request where what follows it has begun to leave', () => {
    expect(drop('uaucrcra', 5)).toEqual([
      { type: 'drop', start: 1, end: 5 },
      {
        type: 'insert',
        before: 5,
        opening: [openingText({ kind: 'request', text: 'question 2' })],
        text: DROPPED_TEXT,
      },
    ]);
  });

  it('stops as soon as it is enough', () => {
    expect(drop('ucrcrcra', 8, { enough: 2 })).toEqual([{ type: 'drop', start: 1, end: 5 }]);
    expect(drop('ucrcrcra', 8, { enough: 0 })).toEqual([]);
  });

  it('leaves one list of edits for each gap between pinned messages', () => {
    const conversation = anthropicMessages.read(messagesOfShape('uaucrau').map(({ raw }) => raw));
    const edits = dropOldest(conversation, { patterns: [/text 4/] }, { limit: 7, isEnough: () => false });

    expect(edits).toEqual([
      { type: 'drop', start: 1, end: 3 },
      { type: 'drop', start: 5, end: 6 },
    ]);
  });

  it.each([
    { format: anthropicMessages as Format, inserts: [{ type: 'insert', before: 2, text: DROPPED_TEXT }] },
    { format: openaiChat as Format, inserts: [] },
  ])('puts a user message in front of an answer where $format.name wants one', ({ format, inserts }) => {
    expect(drop('crcr', 2, { format })).toEqual([{ type: 'drop', start: 0, end: 2 }, ...inserts]);
  });

  it('drops nothing of a list that is one response', () => {
    expect(drop('aa')).toEqual([]);
  });
});
