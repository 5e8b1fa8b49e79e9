import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { fitReply, inPieces, type ReplyPart } from './reply.ts';
import { exampleInput } from './script.ts';

const perCharacter = (text: string) => text.length;

describe('fitReply', () => {
  const parts: readonly ReplyPart[] = [
    { type: 'thinking', text: 'hmm' },
    { type: 'text', text: 'hello' },
    { type: 'tool-call', name: 'read', input: { path: 'a' } },
  ];

  it.each([
    { room: 100, kinds: ['thinking', 'text', 'tool-call'], stop: 'tool-call' },
    { room: 8 + 4 + 11, kinds: ['thinking', 'text'], stop: 'length' },
    { room: 8, kinds: ['thinking', 'text'], stop: 'length' },
    { room: 5, kinds: ['thinking', 'text'], stop: 'length' },
    { room: 3, kinds: ['thinking'], stop: 'length' },
    { room: 0, kinds: [], stop: 'length' },
  ])('$room tokens of room leave $kinds', ({ room, kinds, stop }) => {
    const fitted = fitReply({ parts }, { tokens: room, stop: 'length' }, perCharacter);
    expect(fitted.parts.map(({ type }) => type)).toEqual(kinds);
    expect(fitted.stop).toBe(stop);
  });

  test.prop([fc.array(fc.string({ unit: 'grapheme', minLength: 1 })), fc.nat(60)])(
    'never says more than there is room for, and leaves no half character',
    (texts, tokens) => {
      const reply = { parts: texts.map((text) => ({ type: 'text' as const, text })) };
      const fitted = fitReply(reply, { tokens, stop: 'window' }, perCharacter);
      const said = fitted.parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
      expect(said.length).toBeLessThanOrEqual(tokens);
      expect(texts.join('').startsWith(said)).toBe(true);
      expect(said.isWellFormed()).toBe(true);
      expect(fitted.stop).toBe(said === texts.join('') ? 'end' : 'window');
    },
  );
});

describe('inPieces', () => {
  test.prop([fc.string({ unit: 'binary' })])(
    'the pieces are the text, and none is half a character',
    (text) => {
      const pieces = inPieces(text);
      expect(pieces.join('')).toBe(text);
      if (text.isWellFormed())
        expect(pieces.every((piece) => piece !== '' && piece.isWellFormed())).toBe(true);
    },
  );
});

describe('exampleInput', () => {
  it('fits the types that a schema names', () => {
    const schema = {
      type: 'object',
      properties: {
        path: { type: 'string' },
        mode: { enum: ['read', 'write'] },
        line: { type: 'integer', minimum: 3 },
        deep: { type: 'object', properties: { flag: { type: ['boolean', 'null'] } }, required: ['flag'] },
        list: { type: 'array' },
        none: { type: 'null' },
      },
      required: ['path', 'mode', 'line', 'deep', 'list', 'none', '__proto__', 7],
    };
    const input = exampleInput(schema);
    expect(input).toMatchObject({
      path: 'example path',
      mode: 'read',
      line: 3,
      deep: { flag: true },
      list: [],
    });
    expect(Object.keys(input)).toContain('__proto__');
  });

  test.prop([fc.jsonValue()])('never throws', (value) => {
    const schema = {
      properties: { a: value, b: { type: 'object', properties: value, required: value } },
      required: ['a', 'b'],
    };
    expect(Object.keys(exampleInput(schema))).toEqual(['a', 'b']);
  });
});
