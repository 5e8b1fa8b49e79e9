import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { deepFreeze } from '../../test/support/deep-freeze.ts';
import { summaryMessageText } from '../conversation/summary-message.ts';
import { readConversation } from '../formats/registry.ts';
import { HEADINGS } from '../memory/tell.ts';
import { carriedMemories, memoryLines } from './memory-lines.ts';

const kindsOf = (...lines: readonly string[]) => memoryLines(lines.join('\n')).map(({ kind }) => kind);

describe('the lines of a memory', () => {
  it('are headings, entries and what goes on with them', () => {
    expect(
      kindsOf('Memory of 9 rounds.', '', HEADINGS.state, 'Tasks:', '  [pending] Paint the pier'),
    ).toEqual(['entry', 'blank', 'heading', 'entry', 'more']);
    expect(kindsOf(HEADINGS.said, '[2] Never on Sundays.', '  ', '  ## What happened')).toEqual([
      'heading',
      'entry',
      'more',
      'more',
    ]);
  });

  it('tell what a tool wrote from what was told', () => {
    const story = ['[1]', '- agent: It leaks.', '  Twice.', '- ran `ls` → failed', '  no such file'];

    expect(kindsOf(HEADINGS.story, ...story)).toEqual([
      'heading',
      'entry',
      'entry',
      'more',
      'entry',
      'output',
    ]);
    expect(kindsOf(HEADINGS.story, '- By a model: It leaks.', '  Twice.').at(-1)).toBe('more');
  });

  it('are code between the fences of a file, whatever they look like', () => {
    const file = [
      'notes.md (changed 2x)',
      '````',
      HEADINGS.story,
      '```',
      '  - agent: no',
      '',
      '````',
      'b.ts',
    ];

    expect(kindsOf(HEADINGS.files, ...file)).toEqual([
      'heading',
      'file',
      'fence',
      'code',
      'code',
      'code',
      'code',
      'fence',
      'file',
    ]);
  });

  it('know no fence outside the files', () => {
    expect(kindsOf(HEADINGS.story, '```', HEADINGS.files)).toEqual(['heading', 'entry', 'heading']);
  });

  const line = fc.oneof(
    fc.constantFrom(...Object.values(HEADINGS), '```', '````', '- agent: a', '  b', '', '[1]'),
    fc.string(),
  );
  test.prop([fc.array(line)])('are the memory, whatever it holds', (lines) => {
    const memory = lines.join('\n');

    expect(
      memoryLines(memory)
        .map(({ text }) => text)
        .join('\n'),
    ).toBe(memory);
  });
});

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
