import { describe, expect, test } from 'vitest';
import { said, tool, user } from '../../test/support/example-cut.ts';
import { demandsOf } from './demands.ts';

describe("the user's demands", () => {
  test.each<[string, readonly string[]]>([
    ['Add a test. You must keep the API. Thanks!', ['You must keep the API.']],
    ["- don't use globals\n- be nice", ["- don't use globals"]],
    ['Use tabs only in makefiles, v1.2 too. Fine.', ['Use tabs only in makefiles, v1.2 too.']],
    ['The mustard is commonly green.', []],
    ['never', []],
    [`Never ${'x'.repeat(700)}`, []],
    ['<system-reminder>You must obey.</system-reminder>Please go on', []],
    ['This session is being continued from a previous conversation. Never stop.', []],
  ])('%s', (text, found) => {
    expect(demandsOf([user(text)])).toEqual(found);
  });

  test.each([
    'Please do not push yet.',
    'Fix the gauge, but never touch the lock file.',
    'You cannot use the network here.',
    'i dont want a merge conflict',
    "we don't need to keep the old table",
    'Report findings only, the worst first.',
    'can we only do the first of them',
    'That should never happen.',
    'Keep at least 3 copies of it.',
    'Make the smallest change to ensure the test passes.',
    '必须保留旧的接口，不要删除。',
    'Nunca borres la tabla vieja.',
  ])('%j is one', (sentence) => {
    expect(demandsOf([user(sentence)])).toEqual([sentence]);
  });

  test.each([
    'Should we always keep it?',
    'The date of the entry never changes.',
    'I have only seen it once this week.',
    'The error paths are never tested.',
    'There is only one caller of it.',
    'a class that copies only the fields it needs',
    "These functions don't map the field.",
    'You can avoid this by closing the file.',
    'It may or may not be relevant.',
    '36:    raise RuntimeError("must be a number")',
    'KeyError: value must be a string',
    '| total | must be summed |',
    'gauge.ts:12 must be read by nobody',
  ])('%j is none', (sentence) => {
    expect(demandsOf([user(sentence)])).toEqual([]);
  });

  test('only words of the user count, each demand once', () => {
    const messages = [
      user('Never do it.'),
      said('You must know.'),
      ...tool('run', {}, 'must fail'),
      user('Never do it.'),
    ];
    expect(demandsOf(messages)).toEqual(['Never do it.']);
  });

  test('what a command of the harness expands to is not the words of the user', () => {
    const messages = [user('<command-name>/review</command-name>'), user('You must review all of it.')];
    expect(demandsOf(messages)).toEqual([]);
    expect(demandsOf([...messages, said('ok'), user('You must stop now.')])).toEqual(['You must stop now.']);
  });

  test("the harness's own summary is left out", () => {
    expect(demandsOf([user('Goal: never stop.')], 'Goal: never stop.')).toEqual([]);
  });
});
