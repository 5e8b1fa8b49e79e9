import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { ownWords } from './own-words.ts';

describe('ownWords', () => {
  it.each([
    {
      title: 'a text without tags, as it is',
      text: 'Fix <b>this</b> & a < b',
      own: 'Fix <b>this</b> & a < b',
    },
    {
      title: 'what stands around a passage, on lines of its own',
      text: 'Fix it.<system-reminder>Never mind.</system-reminder>Never push.',
      own: 'Fix it.\nNever push.',
    },
    { title: 'nothing of a passage', text: '<bash-stdout>only this</bash-stdout>', own: '' },
    {
      title: 'tags with spaces in their names',
      text: 'a <permissions instructions>must</permissions instructions>b',
      own: 'a \nb',
    },
    { title: 'everything behind a tag that is never closed', text: 'a<skill>never b', own: 'a\nnever b' },
    { title: 'everything before a tag that was never opened', text: 'never a</skill>b', own: 'never a\nb' },
    { title: 'what is between two passages', text: '<skill>x</skill>y<skill>z</skill>', own: 'y' },
    {
      title: 'nothing of what a harness says in the user’s name',
      text: '\n[Request interrupted by user]',
      own: '',
    },
  ])('gives $title', ({ text, own }) => {
    expect(ownWords(text)).toBe(own);
  });

  it('counts what stands behind ten thousand tags as the user’s', () => {
    expect(ownWords(`${'<skill>'.repeat(20_000)}Never push.`)).toMatch(/Never push\.$/);
  });

  test.prop([
    fc.array(
      fc.oneof(
        fc.constantFrom('<skill>', '</skill>', '<system-reminder>', '</system-reminder>', '<', '>', '\n'),
        fc.string({ maxLength: 8 }),
      ),
    ),
  ])('only ever leaves out', (pieces) => {
    const text = pieces.join('');
    let at = 0;
    for (const line of ownWords(text).split('\n')) {
      const found = text.indexOf(line, at);
      expect(found).not.toBe(-1);
      at = found + line.length;
    }
  });
});
