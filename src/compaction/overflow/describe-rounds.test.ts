import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { messagesOfShape, recordsOfWords } from '../../../test/support/shapes.ts';
import { groupRounds, nameRound } from '../../conversation/rounds.ts';
import { anthropicMessages } from '../../formats/anthropic-messages/format.ts';
import { createTokenEstimator } from '../../tokens/estimator.ts';
import { describeRounds } from './truncation.ts';

const estimator = createTokenEstimator();

function hintOf(...calls: readonly (readonly [name: string, input: unknown])[]): string | undefined {
  const content = calls.map(([name, input], index) => ({ type: 'tool_use', id: `t${index}`, name, input }));
  return describeRounds([anthropicMessages.readMessage({ role: 'assistant', content })], estimator)[0]?.hint;
}

describe('the hint of a round', () => {
  it.each([
    { name: 'Read', input: { file_path: 'src/a.ts' }, hint: 'src/a.ts', why: 'a file is read' },
    { name: 'edit', input: { path: 'src/b.ts' }, hint: 'src/b.ts', why: 'a file is changed' },
    { name: 'lint', input: { file_path: 'src/c.ts' }, hint: 'src/c.ts', why: 'any tool may name a file' },
    { name: 'bash', input: { command: 'cat notes.md' }, hint: 'notes.md', why: 'a command prints a file' },
    { name: 'bash', input: { command: ' npm test' }, hint: 'bash: npm', why: 'a command runs a program' },
    { name: 'bash', input: { command: '' }, hint: 'bash', why: 'nothing is run' },
    { name: 'ask_expert', input: { question: 'why?' }, hint: 'ask_expert', why: 'no argument tells more' },
    { name: 'ask_expert', input: '{"file_path":', hint: 'ask_expert', why: 'the arguments are broken' },
    { name: 'lint', input: { file_path: { deep: 1 } }, hint: 'lint', why: 'the path is none' },
    { name: 'bash', input: { command: ['ls'] }, hint: 'bash', why: 'the command is a list' },
  ])('is $hint where $why', ({ name, input, hint }) => {
    expect(hintOf([name, input])).toBe(hint);
  });

  it('is that of the first call, and undefined without any', () => {
    expect(hintOf(['ask_expert', {}], ['Read', { file_path: 'src/a.ts' }])).toBe('ask_expert');
    expect(hintOf()).toBeUndefined();
  });
});

describe('describeRounds', () => {
  test.prop([fc.stringMatching(/^[uacr]{0,12}$/), fc.constantFrom('previous', 'next')])(
    'describes the rounds of groupRounds: nothing left out, every message counted once',
    (shape, joins) => {
      const messages = Object.freeze(messagesOfShape(shape.replace(/^r+/, '')));
      const options = { userTextJoins: joins as 'previous' | 'next' };
      const described = describeRounds(messages, estimator, options);

      expect(described.map(({ round }) => round)).toEqual(groupRounds(messages, options));
      expect(described.flatMap((one) => one.messages)).toEqual(messages);
      expect(described.reduce((sum, { tokens }) => sum + tokens, 0)).toBeCloseTo(
        estimator.countMessages(messages),
      );
    },
  );

  it('names them with their size', () => {
    const [, round] = describeRounds(recordsOfWords('U1 A7(a) T(a)'), estimator);

    expect(round?.name).toBe(nameRound(round!.round, round!.tokens));
    expect(round?.name).toMatch(/^round 1 \(msg_7, messages 1–2, \d+ tokens\)$/);
  });
});
