import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { demandsOf, firstSentence } from './demands.ts';

describe('demandsOf', () => {
  it.each([
    'Never touch the vendor folder.',
    'Please don’t push to main.',
    "You can't use a database here",
    'MUST keep the public API',
    'Use tabs instead of spaces!',
    'Use at most 3 retries; anything else is forbidden.',
    'From now on, write the tests first.',
    'Findings only, ordered by severity.',
    '- **E2E tests only** - no unit tests',
    'Change only src/a.ts and its test.',
    'The refund should go to my card.',
    'invalid themes must NEVER explode',
    'I never want to see a console.log again',
    'It is never OK to push on a Friday.',
    "I don't want to fly before 11 am.",
    "I'd prefer the morning flights.",
    "So — let's not do that this time.",
    "Let's just cancel it instead.",
    'Could you make sure that the totals still match?',
    'can you rename it, and make sure nothing else changes?',
    'Die Datei darf nicht gelöscht werden.',
    'Lösche nicht die alten Tabellen',
    'Mindestens drei Tests pro Datei',
    'Ne jamais supprimer les journaux',
    'Nunca borres la base de datos',
    'No modifiques los archivos de la carpeta vendor',
    'Non toccare mai il file di configurazione',
    'Raak de database nooit aan',
    'Nigdy nie usuwaj logów',
    'Veritabanına asla dokunma',
    'Jangan hapus berkas konfigurasi',
    'Никогда не удаляй журналы',
    'Пожалуйста, не трогай файл настроек',
    '不要修改数据库',
    '必须先写测试。',
    'データベースを変更しないで',
    '데이터베이스를 절대 수정하지 마',
    'يجب ألا تحذف السجلات',
  ])('finds %s', (sentence) => {
    expect(demandsOf(sentence)).toEqual([sentence]);
    expect(demandsOf(`Hello there.\n  ${sentence}  \nGoodbye`)).toEqual([sentence]);
  });

  it.each([
    'What does this function return?',
    'How should we proceed?',
    'Is there anything else I should know?',
    'Why is it never called?',
    "Can't you make an exception?",
    '必须重启吗？',
    "I don't have an order number",
    "I'm sorry, but I don't remember my user ID at the moment.",
    "Don't know, I was not there.",
    'I must have left it somewhere else.',
    'There must be something you can do.',
    "I'll make sure to find it first.",
    'That should be all for now.',
    'I read on the website that it should cover the fees.',
    'Basic economy can’t be changed, I heard.',
    'The field is never shown, and the cache is always empty.',
    'There is only one file left to fix up',
    "I've only recently started seeing this happen",
    'the parser cannot read it, so it fails',
    'Das funktioniert hier nicht',
    'Never mind.',
    'It is the stop hook that fails',
    'The mustard and the commonly used lonely island',
    'Only.',
    `never ${'x'.repeat(600)}`,
  ])('finds nothing in %s', (text) => {
    expect(demandsOf(text)).toEqual([]);
  });

  it('gives each sentence of a line by itself, in order, and leaves the others out', () => {
    expect(demandsOf('Fix it. Never push! It is late. Always run the tests. Thanks.')).toEqual([
      'Never push!',
      'Always run the tests.',
    ]);
  });

  it('does not part what has no space behind its mark', () => {
    expect(demandsOf('Only change src/a.ts and v1.2.')).toEqual(['Only change src/a.ts and v1.2.']);
  });

  it('parts scripts without spaces at their end marks', () => {
    expect(demandsOf('你好。不要删除日志。必须重启吗？务必测试！再见。')).toEqual([
      '不要删除日志。',
      '务必测试！',
    ]);
    expect(demandsOf(`${'你好世界。'.repeat(200)}不要删除日志。再见。`)).toEqual(['不要删除日志。']);
  });

  test.prop([
    fc.array(
      fc.oneof(fc.constantFrom('never ', 'only ', '不要', '. ', '! ', '。', '？', '\n', '\r\n'), fc.string()),
    ),
  ])('gives pieces of lines of the text, in order', (pieces) => {
    const text = pieces.join('');
    let at = 0;
    for (const demand of demandsOf(text)) {
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
