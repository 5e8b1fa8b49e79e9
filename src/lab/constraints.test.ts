import { describe, expect, test } from 'vitest';
import { constraintsOf } from './constraints.ts';
import { said, tool, user } from './example-cut.ts';

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
    expect(constraintsOf([user(text)])).toEqual(found);
  });

  test('only words of the user count, each demand once', () => {
    const messages = [
      user('Never do it.'),
      said('You must know.'),
      ...tool('run', {}, 'must fail'),
      user('Never do it.'),
    ];
    expect(constraintsOf(messages)).toEqual(['Never do it.']);
  });

  test('what a command of the harness expands to is not the words of the user', () => {
    const messages = [user('<command-name>/review</command-name>'), user('You must review all of it.')];
    expect(constraintsOf(messages)).toEqual([]);
    expect(constraintsOf([...messages, said('ok'), user('You must stop now.')])).toEqual([
      'You must stop now.',
    ]);
  });

  test("the harness's own summary is left out", () => {
    expect(constraintsOf([user('Goal: never stop.')], 'Goal: never stop.')).toEqual([]);
  });
});
