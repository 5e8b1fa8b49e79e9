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
    'Could you make sure that the totals still match?',
    'can you rename it, and make sure nothing else changes?',
    'After each step show me the result and wait for my answer',
    'skip 4 and 6, do the rest',
    'no more global variables please',
    'ok, do small commits as you go',
    "let's start with the parser, keep the old one working",
    'If the build fails, you must stop.',
    'I think you should ask me before every deploy.',
    'Move it to Friday without changing the seats.',
    'I would like to move house without changing the contract.',
    'When you write the summary, keep it consistent with the others.',
    'Die Datei darf nicht gelöscht werden.',
    'Verwende bitte nur die Standardbibliothek.',
    'Utilise toujours des guillemets simples',
    'Usa siempre comillas simples en el código',
    '请用中文回答，不要翻译代码',
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
    'Could you make sure it is applied?',
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
    "Let's just cancel it instead.",
    'Current plan: use a queue between the two.',
    'We should look at the logs.',
    'I wonder whether it should be kept.',
    'Consider where each of these files should go.',
    'The comment says that it should be freed at once.',
    'In theory, both should have the same date.',
    'According to the manual, the fee should be waived.',
    'The reader is opened but never closed.',
    'Only `close()` clears it.',
    'It returns null instead of throwing.',
    'The error paths are only covered by one test.',
    'It took at least 3 hours to finish.',
    'There should always be a folder for each user.',
    'the date of the build never changes',
    'Das ist immer noch kaputt',
    'Ça ne marche toujours pas',
    '我必须先走了',
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

  it('takes a list for demanded whose first line demands, item by item', () => {
    expect(demandsOf('Rules:\n- tabs for indents\n- tests first\n\nThanks for all of it')).toEqual([
      '- tabs for indents',
      '- tests first',
    ]);
    expect(demandsOf('Please never:\n\n1. touch the vendor folder\n2. rename a table')).toEqual([
      'Please never:',
      '1. touch the vendor folder',
      '2. rename a table',
    ]);
  });

  it('takes of another list only the items that demand', () => {
    expect(demandsOf('Some notes:\n- the parser is slow\n- never call it twice\n- it is from 2019')).toEqual([
      '- never call it twice',
    ]);
  });

  it('takes the items of a list within a list by the line that leads them', () => {
    const inner = '2. the options must include:\n   - a name\n   - a size';
    const text = `Steps for today:\n1. open the shop, it is ${'very '.repeat(120)}early\n${inner}\n3. close it`;
    expect(demandsOf(text)).toEqual(['2. the options must include:', '- a name', '- a size']);
  });

  it('reads a sentence on where a margin has broken it, and gives it line by line', () => {
    const first = 'Whenever something in the folder of the generated code looks wrong, do';
    const second = 'not mend it there but in the generator that has written it.';
    expect(demandsOf(`${first}\n${second} It is old.`)).toEqual([first, second]);
  });

  it('does not part at the number of an item or at a word cut short', () => {
    expect(demandsOf('2. Never use a shim, e.g. for fetch. Thanks.')).toEqual([
      '2. Never use a shim, e.g. for fetch.',
    ]);
  });

  it('does not take a quotation for a demand', () => {
    expect(demandsOf('The page says "never switch it off" in red letters')).toEqual([]);
    expect(demandsOf('It prints `must be a number` and ends')).toEqual([]);
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
