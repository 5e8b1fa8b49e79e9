import { describe, expect, test } from 'vitest';
import { tool, user } from '../../test/support/example-cut.ts';
import { isCheckTold, lastCheckOf } from './last-check.ts';

function run(command: string, result: string) {
  return tool('Bash', { command }, result);
}

describe('the last check', () => {
  test('is the newest command that tests, builds or lints', () => {
    const messages = [
      user('Go.'),
      ...run('npm run build', 'built in 2 s'),
      ...run('cd /srv && npm test 2>&1 | tail -5', 'Tests 3 failed | 40 passed'),
      ...run('git add -A && git commit -m "run the tests again"', 'committed'),
      ...run('cat notes/test.md', 'a page'),
    ];
    expect(lastCheckOf(messages)?.command).toBe('cd /srv && npm test 2>&1 | tail -5');
  });

  test('is also a command that was run again, whatever it is called', () => {
    const messages = [...run('python3 reproduce.py', 'KeyError'), ...run('python3 reproduce.py', 'fine now')];
    expect(lastCheckOf(messages)).toMatchObject({ command: 'python3 reproduce.py', outcome: ['fine now'] });
  });

  test.each([
    'ls -la',
    'git -C /srv status',
    'git push',
    'rm reproduce.py',
    'gh pr view 7',
    'grep -rn build src',
  ])('is not %j, however often it runs', (command) => {
    expect(lastCheckOf([...run(command, 'one'), ...run(command, 'two more')])).toBeUndefined();
  });

  test('is not a call of another kind', () => {
    expect(lastCheckOf(tool('Read', { file_path: 'src/test.ts' }, 'passed'))).toBeUndefined();
  });
});

describe('a check is told', () => {
  const check = lastCheckOf(
    run('cd /srv/harbour && npm test -- berths 2>&1 | tail -5', 'Tests 3 failed | 40 passed'),
  );
  const isTold = (text: string) => check !== undefined && isCheckTold(check, text);

  test.each<[string, string, boolean]>([
    ['with its command and its outcome', 'Ran `npm test -- berths`: Tests 3 failed | 40 passed', true],
    ['with its outcome in other words', 'npm test -- berths still fails', true],
    ['with its outcome in front of it', 'Failed: npm test -- berths', true],
    ['not by the command alone', 'Ran npm test -- berths and looked at it.', false],
    ['not by the outcome alone', 'Tests 3 failed | 40 passed', false],
    ['not when they stand far apart', `npm test -- berths ${'. '.repeat(400)} failed`, false],
  ])('%s', (_, text, isExpected) => {
    expect(isTold(text)).toBe(isExpected);
  });

  test('where its whole result stands behind it, however long that is', () => {
    const result = `${'reading on and on\n'.repeat(100)}nothing to complain about`;
    const review = lastCheckOf(run('make check', result));
    expect(review !== undefined && isCheckTold(review, `make check\n${result}`)).toBe(true);
    expect(review !== undefined && isCheckTold(review, `make check\n${result.slice(0, 800)}`)).toBe(false);
  });
});
