import { describe, expect, it } from 'vitest';
import { deepFreeze } from '../../../test/support/deep-freeze.ts';
import { strategyContext } from '../../../test/support/strategy-context.ts';
import { summaryMessageText } from '../../conversation/summary-message.ts';
import { anthropicMessages } from '../../formats/anthropic-messages/format.ts';
import type { Edit } from '../plan/edit.ts';
import { finishPlan } from '../plan/strategy.ts';
import { diffMessages } from './message-diff.ts';

const picture = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } };
const wire = {
  text: { role: 'user', content: 'a question' },
  picture: { role: 'user', content: [picture] },
  answer: { role: 'assistant', content: [{ type: 'text', text: 'an answer' }] },
  thought: {
    role: 'assistant',
    content: [
      { type: 'thinking', thinking: 'hm', signature: 's' },
      { type: 'text', text: 'so' },
    ],
  },
  call: { role: 'assistant', content: [{ type: 'tool_use', id: 'c1', name: 'x', input: {} }] },
  result: { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content: 'long' }] },
};

const cases: readonly {
  readonly why: string;
  readonly words: readonly (keyof typeof wire)[];
  readonly steps: readonly (readonly Edit[])[];
  readonly changes: string;
}[] = [
  {
    why: 'a note before a result that became shorter is not that result',
    words: ['text', 'call', 'result', 'text'],
    steps: [
      [
        { type: 'insert', before: 2, text: 'a note' },
        { type: 'rewrite', message: 2, block: 0, text: 'short' },
      ],
    ],
    changes: 'kept 0>0, kept 1>1, new >2, changed 2>3, kept 3>4',
  },
  {
    why: 'a summary before a message that lost its picture is not that message',
    words: ['text', 'answer', 'picture', 'answer'],
    steps: [
      [
        { type: 'summarize', start: 1, end: 2, text: summaryMessageText('all before') },
        { type: 'strip', message: 2, block: 0, text: '[picture]' },
      ],
    ],
    changes: 'kept 0>0, gone 1>, new >1, changed 2>2, kept 3>3',
  },
  {
    why: "a note of the user's is not the answer that lost its reasoning",
    words: ['text', 'thought', 'text'],
    steps: [
      [
        { type: 'insert', before: 1, text: 'a note' },
        { type: 'strip', message: 1, block: 0 },
      ],
    ],
    changes: 'kept 0>0, new >1, changed 1>2, kept 2>3',
  },
  {
    why: 'neighbours that both became smaller keep their order',
    words: ['text', 'picture', 'picture', 'answer'],
    steps: [
      [
        { type: 'strip', message: 1, block: 0, text: '[first]' },
        { type: 'strip', message: 2, block: 0, text: '[second]' },
      ],
    ],
    changes: 'kept 0>0, changed 1>1, changed 2>2, kept 3>3',
  },
  {
    why: 'a message that left did not become its neighbour',
    words: ['answer', 'text', 'picture', 'answer'],
    steps: [
      [
        { type: 'drop', start: 1, end: 2 },
        { type: 'strip', message: 2, block: 0, text: '[picture]' },
      ],
    ],
    changes: 'kept 0>0, gone 1>, changed 2>1, kept 3>2',
  },
  {
    why: 'a message that lost all it had is gone',
    words: ['text', 'picture', 'answer'],
    steps: [[{ type: 'strip', message: 1, block: 0 }]],
    changes: 'kept 0>0, gone 1>, kept 2>1',
  },
  {
    why: 'what became smaller in one step and left in the next is gone',
    words: ['text', 'call', 'result', 'text'],
    steps: [[{ type: 'rewrite', message: 2, block: 0, text: 'short' }], [{ type: 'drop', start: 1, end: 3 }]],
    changes: 'kept 0>0, gone 1>, gone 2>, kept 3>1',
  },
];

describe('diffMessages', () => {
  it.each(cases)('knows that $why', ({ words, steps, changes }) => {
    const before = anthropicMessages.read(deepFreeze(words.map((word) => structuredClone(wire[word]))));
    const context = strategyContext();
    const compacted = finishPlan(before, { steps }, context, { strategy: 'test', reason: 'test' });
    const diff = diffMessages(before, compacted, context.estimator);

    expect(
      diff
        .map((entry) => `${entry.change} ${entry.before?.index ?? ''}>${entry.after?.index ?? ''}`)
        .join(', '),
    ).toBe(changes);
  });
});
