import { describe, expect, it } from 'vitest';
import { createCanonical } from './canonical.ts';
import { codeOf, WORDS } from './canonical-words.ts';

describe('words of the canonical form', () => {
  it('are one byte each, which no mark and no other word is', () => {
    const codes = WORDS.map(codeOf);
    expect(new Set(codes).size).toBe(WORDS.length);
    expect(codes.every((code) => code !== undefined && code >= 0x80 && code <= 0xff)).toBe(true);
    expect(codeOf('Role')).toBeUndefined();
  });

  it('have places that never change: the chains of stored checkpoints are made of them', () => {
    expect([codeOf('role'), codeOf('content'), codeOf('tool_result'), codeOf(WORDS.at(-1) ?? '')]).toEqual([
      0x80, 0x81, 0x96, 0xb6,
    ]);
  });

  it('are told apart from each other and from the character of their byte, as keys and as values', () => {
    const { textOf } = createCanonical('openai-chat');
    const texts = [...WORDS, '\u0080', '\u0081', 'roles', ''];
    for (const make of [
      (text: string) => ({ [text]: 1 }),
      (text: string) => ({ role: text }),
      (text: string) => ({ content: [{ type: text, role: 'x' }] }),
    ]) {
      expect(new Set(texts.map((text) => textOf(make(text)))).size).toBe(texts.length);
    }
  });
});
