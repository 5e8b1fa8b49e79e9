import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { demandsIn, firstSentence } from './demands.ts';

describe('demandsIn', () => {
  it.each([
    'Never touch the vendor folder.',
    'Please don’t push to main.',
    "You can't use a database here",
    'MUST keep the public API',
    'Use tabs instead of spaces!',
    'Die Datei darf nicht gelöscht werden.',
    'Mindestens drei Tests pro Datei',
    'Ne jamais supprimer les journaux',
    'Nunca borres la base de datos',
    'Non toccare mai il file di configurazione',
    'Raak de database nooit aan',
    'Nigdy nie usuwaj logów',
    'Veritabanına asla dokunma',
    'Jangan hapus berkas konfigurasi',
    'Никогда не удаляй журналы',
    '不要修改数据库',
    'データベースを変更しないで',
    '데이터베이스를 절대 수정하지 마',
    'يجب ألا تحذف السجلات',
  ])('finds %s', (sentence) => {
    expect(demandsIn(sentence)).toEqual([sentence]);
    expect(demandsIn(`Hello there.\n  ${sentence}  \nGoodbye`)).toEqual([sentence]);
  });

  it.each([
    { title: 'a question', text: 'What does this function return?' },
    { title: 'a word inside of another', text: 'The mustard and the commonly used lonely island' },
    { title: 'what is too short to name anything', text: 'Only.' },
    { title: 'what is too long to be said', text: `never ${'x'.repeat(600)}` },
    { title: 'what a harness wrote', text: '<system-reminder>You must always comply.</system-reminder>' },
  ])('finds nothing in $title', ({ text }) => {
    expect(demandsIn(text)).toEqual([]);
  });

  it('gives each sentence of a line by itself, in order, and leaves the others out', () => {
    expect(demandsIn('Fix it. Never push! It is late. Always run the tests. Thanks.')).toEqual([
      'Never push!',
      'Always run the tests.',
    ]);
  });

  it('does not part what has no space behind its mark', () => {
    expect(demandsIn('Only change src/a.ts and v1.2.')).toEqual(['Only change src/a.ts and v1.2.']);
  });

  it('parts long lines of scripts without spaces at their end marks', () => {
    expect(demandsIn(`${'你好世界。'.repeat(200)}不要删除日志。再见。`)).toEqual(['不要删除日志。']);
  });

  it('makes no sentence of two that a passage of the harness parted', () => {
    expect(demandsIn('Please never<system-reminder>x</system-reminder>push anything')).toEqual([
      'Please never',
    ]);
  });

  test.prop([
    fc.array(
      fc.oneof(
        fc.constantFrom('never ', 'only ', '不要', '. ', '! ', '\n', '\r\n', '<skill>', '</skill>'),
        fc.string(),
      ),
    ),
  ])('gives pieces of lines of the text, in order', (pieces) => {
    const text = pieces.join('');
    let at = 0;
    for (const demand of demandsIn(text)) {
      const found = text.indexOf(demand, at);
      expect(found).not.toBe(-1);
      expect(demand).not.toContain('\n');
      expect(demand).toBe(demand.trim());
      at = found + demand.length;
    }
  });
});

describe('firstSentence', () => {
  it.each([
    { text: '  Fix the login. Then rest.', first: 'Fix the login.' },
    { text: '\n\nfix v1.2\nthen rest', first: 'fix v1.2' },
    { text: ' \n ', first: '' },
  ])('is $first', ({ text, first }) => {
    expect(firstSentence(text)).toBe(first);
  });
});
