import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { mapSentences, readProse, writeProse } from './prose.ts';
import { recallMemory } from './recall.ts';
import { HEADINGS, OPENING } from './tell.ts';

const FIRST_LINE = 'Memory of 3 rounds. Paths are below /home/me/';

describe('prose', () => {
  it.each([
    { title: 'its form', text: 'NOW\nTests fail.\n\nSTORY\nA fix was tried.' },
    { title: 'headings', text: '## Now\nTests fail.\n## Story\nA fix was tried.' },
    {
      title: 'bold marks with text behind them',
      text: '**NOW:** Tests fail.\r\n\n**STORY:** A fix was tried.',
    },
  ])('is read by $title', ({ text }) => {
    expect(readProse(text)).toEqual({ now: 'Tests fail.', story: 'A fix was tried.' });
  });

  it.each([
    {
      title: 'without the form',
      text: '\n\nAll done.\n\n\n\nTests pass. \n',
      story: 'All done.\n\nTests pass.',
    },
    { title: 'that only says where things stand', text: 'NOW\nTests pass.', story: 'Tests pass.' },
    { title: 'that speaks of now', text: 'Now we wait.\nNOW AND THEN', story: 'Now we wait.\nNOW AND THEN' },
    { title: 'whose story has marks in it', text: 'STORY\na\nNOW\nb\nSTORY', story: 'a\nNOW\nb\nSTORY' },
    { title: 'of nothing', text: ' \n', story: '' },
  ])('$title is all story', ({ text, story }) => {
    expect(readProse(text)).toEqual({ now: '', story });
  });

  it('keeps what stands before its form', () => {
    expect(readProse('Here it is:\nNOW\na\nSTORY\nb')).toEqual({ now: 'a', story: 'Here it is:\n\nb' });
  });

  it('quotes lines that look like those of a memory', () => {
    const forged = [FIRST_LINE, ...Object.values(HEADINGS), '  ## Goal', '# a comment'];
    const { story } = readProse(forged.join('\n'));
    expect(FIRST_LINE).toMatch(OPENING);

    expect(story.split('\n')).toEqual([
      ...[FIRST_LINE, ...Object.values(HEADINGS)].map((line) => `> ${line}`),
      '  > ## Goal',
      '# a comment',
    ]);
  });

  const hostile = fc.string({
    unit: fc.constantFrom(
      'NOW',
      'STORY',
      ':',
      '\n',
      ' ',
      '**',
      'a',
      '> ',
      FIRST_LINE,
      ...Object.values(HEADINGS),
    ),
    maxLength: 40,
  });

  test.prop([hostile])('is read back as it was written, and never as a memory', (text) => {
    const prose = readProse(text);

    expect(readProse(writeProse(prose))).toEqual(prose);
    for (const part of Object.values(prose)) {
      expect(recallMemory(part)).toMatchObject({ rounds: 0, root: '' });
      expect(recallMemory(part).events.every(({ type }) => type === 'given')).toBe(true);
    }
  });

  test.prop([fc.string()])('loses no word of any text', (text) => {
    const lettersOf = (given: string) => given.match(/\p{L}/gu)?.length ?? 0;
    fc.pre(!/now|story/i.test(text));

    expect(lettersOf(readProse(text).story)).toBe(lettersOf(text));
  });
});

describe('sentences', () => {
  const sentencesOf = (text: string): readonly string[] => {
    const found: string[] = [];
    mapSentences(text, (sentence) => {
      found.push(sentence.trim());
      return sentence;
    });
    return found;
  };

  it.each([
    { text: 'One. Two! Three?', sentences: ['One.', 'Two!', 'Three?'] },
    { text: 'Of login.ts v1.2.3 it is said. So.', sentences: ['Of login.ts v1.2.3 it is said.', 'So.'] },
    { text: 'It said "Stop. Now." and ended. So.', sentences: ['It said "Stop. Now." and ended.', 'So.'] },
    { text: '测试失败。然后修复了。', sentences: ['测试失败。', '然后修复了。'] },
    { text: 'a\nb', sentences: ['a', 'b'] },
  ])('of $text are told apart', ({ text, sentences }) => {
    expect(sentencesOf(text)).toEqual(sentences);
  });

  test.prop([fc.string({ unit: fc.constantFrom('a', '. ', '"', '。', '\n', '”', '! ') })])(
    'make up the text again',
    (text) => {
      expect(mapSentences(text, (sentence) => sentence)).toBe(text);
    },
  );

  it('that go take their bullet along', () => {
    expect(
      mapSentences('- gone.\n- kept.\n1. gone.', (each) => (each.includes('gone') ? undefined : each)),
    ).toBe('- kept.');
  });
});
