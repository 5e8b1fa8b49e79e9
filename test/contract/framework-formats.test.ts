import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { undoPlan } from '../../src/compaction/plan/plan.ts';
import { legalCuts } from '../../src/conversation/cuts.ts';
import { writeConversation } from '../../src/conversation/format.ts';
import { ensureToolResultPairing } from '../../src/conversation/pairing.ts';
import { groupRounds } from '../../src/conversation/rounds.ts';
import { findFormat, recogniseFormat } from '../../src/formats/registry.ts';
import { applyDamages, damages, steps } from '../support/conversations.ts';
import { eagerStrategies } from '../support/conversations-cases.ts';
import { frameworks } from '../support/framework-conversations.ts';
import { strategyContext } from '../support/strategy-context.ts';

/** Steps in which one file is read again and again, and is long. */
const reading = steps.map((list) =>
  list.map((step) => ({
    ...step,
    calls: step.calls.map(({ output, ...call }) => ({
      ...call,
      name: 'read_file',
      path: 'src/a.ts',
      output: output.repeat(60),
    })),
  })),
);

/** What holds of wire formats holds of the messages of frameworks, judged by the frameworks' own code or rules. */
describe.each(Object.entries(frameworks))('%s', (_, { format: name, write, judge, idleStrategies }) => {
  const format = findFormat(name)!;
  const runs = { numRuns: 200 };
  const raws = (value: unknown) => value as readonly unknown[];
  const acted = new Map(eagerStrategies.map((strategy) => [strategy.name, 0]));

  test.prop([steps], runs)(
    'what the generator writes is legal, or nothing below proves anything',
    async (list) => {
      expect(await judge(write(list))).toEqual([]);
    },
  );

  test.prop([steps], runs)(
    'are recognised as soon as a tool is called, and written as the very same value',
    (list) => {
      const messages = write(list);
      fc.pre(list.some(({ calls }) => calls.length > 0));

      expect(recogniseFormat(messages)).toBe(format);
      expect(writeConversation(format.read(messages))).toBe(messages);
    },
  );

  test.prop([steps, damages], runs)('rounds of any list are the list', (list, broken) => {
    const { messages: views } = format.read(applyDamages(write(list), broken));

    expect(groupRounds(views).flatMap(({ start, end }) => views.slice(start, end))).toEqual(views);
  });

  test.prop([steps], runs)('repair gives a legal list back as it is', (list) => {
    const conversation = format.read(write(list));

    expect(ensureToolResultPairing(conversation)).toBe(conversation);
  });

  test.prop([steps, damages], runs)(
    'repair makes any damaged list legal, and changes it once',
    async (list, broken) => {
      // Blocks of live messages are not all data: only whole messages of them get lost.
      const isWhole = ({ kind }: { kind: string }) => !kind.endsWith('-block');
      const damaged = applyDamages(write(list), broken.filter(isWhole));
      fc.pre(damaged.length > 0);
      const repaired = raws(writeConversation(ensureToolResultPairing(format.read(damaged))));

      expect(await judge(repaired)).toEqual([]);
      expect(writeConversation(ensureToolResultPairing(format.read(repaired)))).toBe(repaired);
    },
  );

  test.prop([steps], runs)('every legal cut leaves two legal halves', async (list) => {
    const { messages, frame } = format.read(write(list));
    const front = format.userMessages([format.textBlock('what happened before')]);

    for (const cut of legalCuts(messages)) {
      for (const half of [messages.slice(0, cut), messages.slice(cut)]) {
        const written = format.replaceList(
          frame,
          [...front, ...half].map(({ raw }) => raw),
        );
        expect(await judge(raws(written))).toEqual([]);
      }
    }
  });

  it.each(eagerStrategies.filter((strategy) => strategy.name !== 'none'))(
    '$name keeps them legal and untouched ones the same values, and can be undone',
    async (strategy) => {
      const target = fc.integer({ min: 0, max: 400 });
      await fc.assert(
        fc.asyncProperty(fc.oneof(steps, reading), target, async (list, targetTokens) => {
          const given = write(list);
          const before = JSON.stringify(given);
          const outcome = await strategy.compact(format.read(given), strategyContext({ targetTokens }));
          if (outcome.status !== 'compacted') return;
          acted.set(strategy.name, (acted.get(strategy.name) ?? 0) + 1);
          const after = raws(writeConversation(outcome.conversation));

          expect(await judge(after)).toEqual([]);
          expect(JSON.stringify(given)).toBe(before);
          const verbatim = outcome.receipt.runs
            .filter(({ fate }) => fate === 'verbatim')
            .flatMap(({ start, end }) => given.slice(start, end));
          const known = new Set(given);
          const kept = after.filter((raw) => known.has(raw));
          expect(kept).toHaveLength(verbatim.length);
          expect(kept.every((raw, index) => raw === verbatim[index])).toBe(true);
          const undone = undoPlan(outcome.conversation, outcome.undo).messages;
          expect(undone.map(({ raw }) => raw)).toEqual(given);
          expect(undone.every(({ raw }, index) => raw === given[index])).toBe(true);
        }),
        { numRuns: 100 },
      );
    },
  );

  it('gave every strategy something to do but those that have nothing to do here', () => {
    const idle = [...acted].filter(([, times]) => times === 0).map(([strategy]) => strategy);
    expect(idle).toEqual(idleStrategies);
  });
});
