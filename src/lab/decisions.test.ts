import { describe, expect, test } from 'vitest';
import { said, tool, user } from '../../test/support/example-cut.ts';
import { decisionsOf, keptDecisions } from './decisions.ts';

const run = tool('Bash', { command: 'ls' }, 'nothing');

describe('decision sentences', () => {
  test.each<[string, string, readonly string[]]>([
    [
      'conclude or explain something about a name',
      'I looked around. The crash is caused by `tideTable` being read twice. Next file.',
      ['The crash is caused by `tideTable` being read twice.'],
    ],
    [
      'have to name something in the middle of the work',
      'This fails because nobody has looked at it yet.',
      [],
    ],
    ['are no announcements', 'Now let me read the tideTable in full and see more.', []],
    [
      'stand without the marks of a list',
      '- Root cause: `quayDepth` is compared as text.\n- ok',
      ['Root cause: `quayDepth` is compared as text.'],
    ],
  ])('%s', (_, text, found) => {
    expect(decisionsOf([user('Go.'), said(text), ...run])).toEqual(found);
  });

  test('at the end of a turn count without a name as well', () => {
    const sentence = 'This fails because nobody has looked at it yet.';
    expect(decisionsOf([user('Go.'), said(sentence), user('Then do.')])).toEqual([sentence]);
  });

  test('are only those of the model', () => {
    expect(decisionsOf([user('It fails because tideTable is read twice.'), ...run])).toEqual([]);
  });

  test('are kept word for word, whatever line breaks and emphasis are', () => {
    const sentence = 'The crash is caused by **tideTable** being read twice.';
    expect(keptDecisions([sentence], 'so: the crash is caused by\n  tideTable being read twice.').size).toBe(
      1,
    );
    expect(keptDecisions([sentence], 'the crash was caused by tideTable being read twice').size).toBe(0);
  });
});
