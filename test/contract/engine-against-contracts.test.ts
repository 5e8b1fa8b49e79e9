import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { findContract } from '../../src/contracts/registry.ts';
import { legalCuts } from '../../src/conversation/cuts.ts';
import { writeConversation } from '../../src/conversation/format.ts';
import { ensureToolResultPairing } from '../../src/conversation/pairing.ts';
import { groupRounds } from '../../src/conversation/rounds.ts';
import { findFormat } from '../../src/formats/registry.ts';
import { applyDamages, damages, steps } from '../support/conversations.ts';
import { deepFreeze } from '../support/deep-freeze.ts';
import { writers } from '../support/step-writers.ts';

/** The engine judged by the providers' rules, which share no code with it. */
describe.each(Object.entries(writers))('%s', (name, write) => {
  const format = findFormat(name)!;
  const contract = findContract(name)!;
  const errors = (value: unknown) =>
    contract.check(value, { scope: 'messages' }).filter(({ severity }) => severity === 'error');
  const runs = { numRuns: 1000 };

  test.prop([steps], runs)('what the generator writes is legal, or nothing below proves anything', (list) => {
    expect(errors(write(list))).toEqual([]);
  });

  test.prop([steps], runs)('writing what was read gives the very same value', (list) => {
    const messages = deepFreeze(write(list));

    expect(writeConversation(format.read(messages))).toBe(messages);
  });

  test.prop([steps, damages], runs)('rounds of any list are the list', (list, broken) => {
    const messages = deepFreeze(applyDamages(write(list), broken));
    const { messages: views } = format.read(messages);

    expect(groupRounds(views).flatMap(({ start, end }) => views.slice(start, end))).toEqual(views);
  });

  test.prop([steps], runs)('repair gives a legal list back as it is', (list) => {
    const conversation = format.read(deepFreeze(write(list)));

    expect(ensureToolResultPairing(conversation)).toBe(conversation);
  });

  test.prop([steps, damages], runs)(
    'repair makes any damaged list legal, and twice changes no more',
    (list, broken) => {
      const damaged = deepFreeze(applyDamages(write(list), broken));
      fc.pre(damaged.length > 0);
      const once = ensureToolResultPairing(format.read(damaged));
      const repaired = writeConversation(once);

      expect(errors(repaired)).toEqual([]);
      expect(ensureToolResultPairing(format.read(deepFreeze(repaired)))).toMatchObject({
        messages: once.messages,
      });
      expect(writeConversation(ensureToolResultPairing(format.read(repaired)))).toBe(repaired);
    },
  );

  test.prop([steps], runs)(
    'every legal cut leaves two legal halves once a user message stands in front',
    (list) => {
      const { messages } = format.read(deepFreeze(write(list)));
      const front = format.userMessages([format.textBlock('what happened before')]);

      for (const cut of legalCuts(messages)) {
        for (const half of [messages.slice(0, cut), messages.slice(cut)]) {
          expect(errors([...front, ...half].map(({ raw }) => raw))).toEqual([]);
        }
      }
    },
  );

  test.prop([steps], runs)('rounds begin at legal cuts', (list) => {
    const { messages } = format.read(write(list));
    const cuts = new Set(legalCuts(messages));

    expect(groupRounds(messages).every(({ start }) => cuts.has(start))).toBe(true);
    expect(groupRounds(messages, { userTextJoins: 'next' }).every(({ start }) => cuts.has(start))).toBe(true);
  });
});

it('a result that stands in the list twice as one and the same value answers two calls', () => {
  const call = { functionCall: { name: 'read_file', args: { path: 'src/a.ts' } } };
  const answer = { functionResponse: { name: 'read_file', response: { output: 'text' } } };
  const result = { role: 'user', parts: [answer] };
  const list = deepFreeze([
    { role: 'user', parts: [{ text: 'look' }] },
    { role: 'model', parts: [call, call] },
    result,
    result,
    { role: 'model', parts: [{ text: 'done' }] },
  ]);
  const repaired = ensureToolResultPairing(findFormat('gemini')!.read(list));

  expect(writeConversation(repaired)).toEqual([
    ...list.slice(0, 2),
    { role: 'user', parts: [answer, answer] },
    list[4],
  ]);
});
