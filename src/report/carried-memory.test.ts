import { expect, it } from 'vitest';
import { deepFreeze } from '../../test/support/deep-freeze.ts';
import { summaryMessageText } from '../conversation/summary-message.ts';
import { readConversation } from '../formats/registry.ts';
import { carriedMemories } from './carried-memory.ts';

const text = (words: string) => ({ type: 'text', text: words });
const of = (...messages: readonly object[]) =>
  carriedMemories(deepFreeze(readConversation(messages)).messages);

it('finds what stands between the delimiters, and what is quoted in front of it', () => {
  const memory = summaryMessageText('Memory of 3 rounds.\n\n## What happened', {
    coveredUntil: 7,
    source: 'roundfold',
  });
  const request = '[newest request of the user before the messages below]\nPaint it.';
  const found = of(
    { role: 'user', content: [text('The pier leaks.'), text(request), text(memory)] },
    { role: 'assistant', content: 'I look.' },
  );

  expect(found).toEqual([
    { quoted: ['The pier leaks.', request], text: 'Memory of 3 rounds.\n\n## What happened' },
  ]);
});

it('finds nothing in words that only look like one', () => {
  const memory = summaryMessageText('Memory of 3 rounds.');

  expect(of({ role: 'user', content: `${memory} and more` }, { role: 'assistant', content: memory })).toEqual(
    [],
  );
});
