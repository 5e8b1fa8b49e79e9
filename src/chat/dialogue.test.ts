import { fc, test } from '@fast-check/vitest';
import { describe, expect } from 'vitest';
import { createCompactor } from '../compaction/compactor.ts';
import { strategies } from '../compaction/strategies/registry.ts';
import { Dialogue } from './dialogue.ts';
import { anthropicWire, openaiWire } from './providers/provider.ts';

const step = fc.oneof(
  fc.record({ say: fc.string({ minLength: 1, maxLength: 400 }) }),
  fc.record({ compact: fc.constantFrom(...strategies.map(({ name }) => name)) }),
);

describe('Dialogue', () => {
  test.prop([fc.array(step, { maxLength: 25 }), fc.constantFrom(anthropicWire, openaiWire)], { numRuns: 60 })(
    'undoing everything gives back every message that was ever said, and redoing the state before',
    async (steps, wire) => {
      const dialogue = new Dialogue(wire, 'm');
      const said: unknown[] = [...dialogue.messages];
      for (const one of steps) {
        if ('say' in one) {
          const messages = [wire.userMessage(one.say), wire.assistantMessage(`about ${one.say} `.repeat(9))];
          said.push(...messages);
          dialogue.add(...messages);
        } else if (!dialogue.isEmpty) {
          const compactor = createCompactor({
            strategy: one.compact,
            windowTokens: 1000,
            format: wire.format,
          });
          const { outcome } = await compactor.compact<unknown>(dialogue.body);
          if (outcome.status === 'compacted') dialogue.accept(outcome);
        }
      }
      const before = dialogue.messages;
      let undone = 0;
      while (dialogue.undo() !== undefined) undone++;
      expect(dialogue.messages).toEqual(said);
      // What is saved is plain data, and works as well.
      const again = new Dialogue(wire, 'm', JSON.parse(JSON.stringify(dialogue.state)));
      for (let index = 0; index < undone; index++) again.redo();
      expect(again.messages).toEqual(JSON.parse(JSON.stringify(before)));
    },
  );
});
