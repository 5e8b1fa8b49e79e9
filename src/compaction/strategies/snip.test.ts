import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { applyDamages, type Damage, damages, type Step, steps } from '../../../test/support/conversations.ts';
import { messagesOfShape } from '../../../test/support/shapes.ts';
import { writers } from '../../../test/support/step-writers.ts';
import { strategyContext } from '../../../test/support/strategy-context.ts';
import { findContract } from '../../contracts/registry.ts';
import { writeConversation } from '../../conversation/format.ts';
import { anthropicMessages } from '../../formats/anthropic-messages/format.ts';
import { findFormat } from '../../formats/registry.ts';
import { createStrategy } from './registry.ts';

/** Places of what is left, -1 for a message of ours; or why everything is. */
async function left(shape: string, options: Readonly<Record<string, unknown>> = {}) {
  const conversation = anthropicMessages.read(messagesOfShape(shape).map(({ raw }) => raw));
  const outcome = await createStrategy('snip', options).compact(conversation, strategyContext());
  if (outcome.status !== 'compacted') return outcome.reason;
  return outcome.conversation.messages.map(({ raw }) => conversation.frame.list.indexOf(raw)).join(' ');
}

const call = (number: number) => ({ id: `call_${number}`, name: 'bash', path: 'a', output: 'x' });
const silent = { thinking: undefined, said: undefined };

/** A call once more at the front, by an id that is answered further down: what answers it may not leave alone. */
const cutThroughHead: [readonly Step[], readonly Damage[], number, number] = [
  [
    { question: 'go', thinking: 'hm', said: 'so', calls: [call(0), call(1), call(2)] },
    { question: 'and', thinking: 'hm', said: 'so', calls: [] },
    { ...silent, question: 'go on', calls: [call(3), call(4)] },
    { question: 'a', thinking: 'hm', said: 'done', calls: [] },
    { ...silent, question: 'go on', said: 'well', calls: [call(5)] },
    { ...silent, question: undefined, said: 'done', calls: [] },
  ],
  [
    { kind: 'double', at: 22 },
    { kind: 'move', at: 22, to: 0 },
  ],
  1,
  1,
];

describe('snip', () => {
  it.each([
    { shape: 'ucrcrcrcr', options: { keepRounds: 2 }, places: '0 5 6 7 8' },
    { shape: 'ucrcrcrcr', options: { keepRounds: 1 }, places: '0 7 8' },
    { shape: 'ucrcrcrcr', options: { keepRounds: 4 }, places: 'nothing-to-do' },
    { shape: 'ucrcrcrcr', options: { keepRounds: 5 }, places: 'short-enough' },
    { shape: 'uauaua', options: { keepRounds: 1 }, places: '0 4 5' },
    { shape: 'ucrcrcrcr', options: { keepRounds: 1, keepHead: 2 }, places: '0 1 2 7 8' },
    { shape: 'ucrcrcrcr', options: { keepRounds: 1, keepHead: 3 }, places: '0 1 2 3 4 7 8' },
    { shape: 'ucrcrcrcr', options: { keepRounds: 1, keepHead: 4 }, places: 'short-enough' },
    { shape: 'crcrcrcr', options: { keepRounds: 1, keepHead: 1 }, places: '-1 0 1 6 7' },
    { shape: 'ucrcrcrcr', options: { keepMessages: 2 }, places: '0 7 8' },
    { shape: 'ucrcrcrcr', options: { keepMessages: 3 }, places: '0 5 6 7 8' },
    { shape: 'ucrcrcrcr', options: { keepMessages: 8 }, places: 'nothing-to-do' },
    { shape: 'ucrcrcrcr', options: { keepMessages: 9 }, places: 'short-enough' },
    { shape: 'ucrcrcrcr', options: { keepMessages: 2, keepRounds: 9 }, places: '0 7 8' },
    { shape: 'ucrcrcrcr', options: { keepMessages: 2, keepHead: 2 }, places: '0 1 2 7 8' },
    { shape: 'ucrcrcrcr', options: { keepMessages: 2, keepHead: 3 }, places: '0 1 2 7 8' },
    { shape: 'ucrcrcrcr', options: { keepMessages: 2, keepHead: 7 }, places: 'short-enough' },
  ])('leaves $places of $shape by $options', async ({ shape, options, places }) => {
    expect(await left(shape, options)).toBe(places);
  });

  it('keeps ten rounds unless told otherwise', async () => {
    expect(await left(`u${'cr'.repeat(10)}`)).not.toMatch(/^\d/);
    expect((await left(`u${'cr'.repeat(15)}`)).split(' ').length).toBe(21);
  });

  it.each(['uauaua', 'uauauau', 'ucrcrcr', 'ucrcrcra', 'crcrcrc'])(
    'begins with the user, for even and odd lengths: %s',
    async (shape) => {
      const conversation = anthropicMessages.read(messagesOfShape(shape).map(({ raw }) => raw));
      const outcome = await createStrategy('snip', { keepRounds: 1 }).compact(
        conversation,
        strategyContext(),
      );

      expect(outcome.status).toBe('compacted');
      if (outcome.status === 'compacted') expect(outcome.conversation.messages[0]?.role).toBe('user');
    },
  );

  describe.each(Object.entries(writers))('with a kept head in %s', (name, write) => {
    const format = findFormat(name)!;
    const errors = (value: unknown) =>
      findContract(name)!
        .check(value, { scope: 'messages' })
        .filter(({ severity }) => severity === 'error').length;

    test.prop([steps, damages, fc.integer({ min: 1, max: 3 }), fc.integer({ min: 1, max: 4 })], {
      examples: [cutThroughHead],
    })('makes no list worse', async (list, broken, keepRounds, keepHead) => {
      const messages = applyDamages(write(list), broken);
      const strategy = createStrategy('snip', { keepRounds, keepHead });
      const outcome = await strategy.compact(format.read(messages), strategyContext());
      if (outcome.status !== 'compacted') return;

      expect(errors(writeConversation(outcome.conversation))).toBeLessThanOrEqual(errors(messages));
    });
  });
});
