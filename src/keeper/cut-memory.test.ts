import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { applyDamages, damages, steps, writers } from '../../test/support/conversations.ts';
import { recordsOfWords } from '../../test/support/shapes.ts';
import { legalCuts } from '../conversation/legality.ts';
import { hasToolCall, type Message } from '../conversation/message.ts';
import { findFormat } from '../formats/registry.ts';
import { rememberedCuts } from './cut-memory.ts';

/** What is to be remembered, by looking at the whole list. */
function cutsOf(messages: readonly Message[]): readonly number[] {
  return legalCuts(messages).filter((cut) => cut === 0 || !hasToolCall(messages[cut - 1] as Message)); // within the list
}

describe('remembered cuts', () => {
  test.prop([steps, damages, fc.constantFrom(...Object.keys(writers))], { numRuns: 500 })(
    'are the legal cuts that are not behind a call, however the list has grown',
    (list, broken, name) => {
      const format = findFormat(name)!;
      const raws = applyDamages(writers[name]?.(list) ?? [], broken);
      const messages = raws.map((raw) => format.readMessage(raw));
      for (const length of [Math.floor(messages.length / 2), messages.length]) {
        const grown = messages.slice(0, length);
        expect(rememberedCuts(grown)).toEqual(cutsOf(grown));
      }
    },
  );

  it.each(['U1 A1 A1(a) T(a) A1 U2', 'U1 A1(a,b) T(a) A1 T(b) A2', 'U1 A1(a) U2', 'U1 T(x) A1'])(
    'are those cuts of %s',
    (words) => {
      const messages = recordsOfWords(words);
      expect(rememberedCuts(messages)).toEqual(cutsOf(messages));
    },
  );

  it('know the border that a summary of the provider is', () => {
    const format = findFormat('anthropic-messages')!;
    const raws = [
      { role: 'user', content: 'a' },
      { role: 'assistant', content: [{ type: 'compaction', content: 'b' }] },
      { role: 'user', content: 'c' },
    ];
    const messages = raws.map((raw) => format.readMessage(raw));
    expect(rememberedCuts(messages)).toEqual([0, 2, 3]);
  });
});
