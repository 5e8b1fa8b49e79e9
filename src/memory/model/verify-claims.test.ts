import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { deepFreeze } from '../../../test/support/deep-freeze.ts';
import { summaryMessageText } from '../../conversation/summary-message.ts';
import { anthropicMessages } from '../../formats/anthropic-messages/format.ts';
import { createTokenEstimator } from '../../tokens/estimator.ts';
import { markUnverified, sourceTexts } from './verify-claims.ts';

const conversation = anthropicMessages.read(
  deepFreeze({
    system: 'You work in /home/me/shop',
    messages: [
      { role: 'user', content: 'Fix src/app/login.ts. See https://example.org/issues/77?x=1 please' },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'Ticket ABC-1234 it is' },
          {
            type: 'tool_use',
            id: 'toolu_1',
            name: 'bash',
            input: { command: 'ls', nested: [{ deep: 'lib/core/engine.py' }], ['__proto__']: 'x' },
          },
        ],
      },
      {
        role: 'user',
        content: [
          {
            type: 'tool_result',
            tool_use_id: 'toolu_1',
            content: '{"out":"a.txt\\nnotes.md","sha":"4f9c2d1e77aa","lines":"12,345","port":50417}',
          },
        ],
      },
      { role: 'user', content: summaryMessageText('old.ts was read\nfake.ts was changed [unverified]') },
    ],
  }),
);
const request = {
  messages: conversation.messages.slice(0, 3),
  conversation,
  previousSummary: 'old.ts was read\nfake.ts was changed [unverified]',
  instructions: 'keep port 6543',
  maximumTokens: 4000,
  estimator: createTokenEstimator(),
  signal: undefined,
};
const marked = (text: string) => markUnverified(text, sourceTexts(request));

describe('claims of a model', () => {
  it.each([
    'login.ts was changed',
    'src/app/login.ts was changed',
    'see https://example.org/issues/77',
    'ticket ABC-1234',
    'engine.py in lib/core/engine.py',
    'a.txt and notes.md are there',
    'commit 4f9c2d1 of 4f9c2d1e77aa',
    '12345 lines, port 50417',
    'the old one: old.ts',
    'port 6543 is free',
    'in me/shop',
    'no names at all, 3 of 12 tests',
    'camelCase, snake_case and PascalCase may be words of its own',
  ])('stay as they are where the source knows the names: %s', (text) => {
    expect(marked(text)).toBe(text);
  });

  it.each([
    'logout.ts was changed',
    'src/api/login.tsx was changed',
    'see https://example.org/issues/78',
    'ticket ABC-12345',
    'commit 4f9c2d2',
    'port 50418',
    'port 5041',
    'fake.ts was changed',
    'tes.md was read',
  ])('are marked where it does not: %s', (text) => {
    expect(marked(text)).toBe(`${text} [unverified]`);
  });

  it('are marked sentence by sentence, in front of what ends it, and once', () => {
    expect(
      marked('It is in login.ts. Now logout.ts too. See "logout.ts." So.\n- logout.ts [unverified].'),
    ).toBe(
      'It is in login.ts. Now logout.ts too [unverified]. See "logout.ts [unverified]." So.\n- logout.ts [unverified].',
    );
  });

  it('support nothing in the next summary while they are marked', () => {
    const next = { ...request, previousSummary: marked('It is in old.ts. Also in made-up.ts. So.') };

    expect(markUnverified('Look into made-up.ts.', sourceTexts(next))).toBe(
      'Look into made-up.ts [unverified].',
    );
    expect(markUnverified('Look into old.ts.', sourceTexts(next))).toBe('Look into old.ts.');
  });

  test.prop([fc.array(fc.string()), fc.array(fc.string())])(
    'never change but for the mark, whatever they say',
    (lines, source) => {
      const text = lines.join('\n');

      expect(markUnverified(text, source).replaceAll(' [unverified]', '')).toBe(text);
      expect(markUnverified(text, [text])).toBe(text);
    },
  );
});
