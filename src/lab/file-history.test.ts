import { describe, expect, test } from 'vitest';
import { tool, user } from '../../test/support/example-cut.ts';
import { fileHistoryOf, staleLinesOf } from './file-history.ts';

const old = 'const depthMetres = readDepth(berth);';
const changed = 'const depthMetres = measureDepth(berth);';
const other = 'export const quays = new Map<string, Quay>();';
const read = tool('Read', { file_path: 'src/berths.ts' }, `     1→${old}\n     2→${other}`);
const edit = tool('Edit', { file_path: 'src/berths.ts', old_string: old, new_string: changed }, 'ok');
const history = fileHistoryOf([user('Go.'), ...read, ...edit]);

describe('what becomes of lines of files', () => {
  test('a line that an edit replaced is known as such, the others are current', () => {
    expect([...history.replaced]).toEqual([old]);
    expect([...history.lines].toSorted()).toEqual([changed, old, other].toSorted());
  });

  test('an edit that failed replaced nothing', () => {
    const failed = tool('Edit', { file_path: 'src/berths.ts', old_string: old }, 'Error: not found');
    expect(fileHistoryOf([...read, ...failed]).replaced.size).toBe(0);
  });

  test('a line that is written again is current again', () => {
    const back = tool('Edit', { file_path: 'src/berths.ts', old_string: changed, new_string: old }, 'ok');
    expect([...fileHistoryOf([...read, ...edit, ...back]).replaced]).toEqual([changed]);
  });

  test('a line that another file still has is current', () => {
    const copy = tool('Read', { file_path: 'src/copy.ts' }, old);
    expect(fileHistoryOf([...read, ...copy, ...edit]).replaced.size).toBe(0);
  });

  test('a file written as a whole replaces all that it had', () => {
    const write = tool('Write', { file_path: 'src/berths.ts', content: changed }, 'ok');
    expect([...fileHistoryOf([...read, ...write]).replaced].toSorted()).toEqual([old, other].toSorted());
  });

  test('what a command prints of a file is known, what a test prints is none', () => {
    const printed = tool('Bash', { command: 'cat src/berths.ts' }, old);
    const tested = tool('Bash', { command: 'npm test' }, other);
    expect([...fileHistoryOf([...printed, ...tested]).lines]).toEqual([old]);
  });
});

describe('stale lines of a text', () => {
  test.each<[string, string, number]>([
    ['a replaced line shown as if it were current', `src/berths.ts:\n${old}\n${other}`, 1],
    ['the same in a fence or behind a number', `\`\`\`ts\n  1→${old}\n\`\`\``, 1],
    ['the same in quotation marks', `It says \`${old}\` there.`, 1],
    ['a current line', other, 0],
    ['a replaced line that says so', `was: ${old}`, 0],
    ['a removed line of a patch', `- ${old}\n+ ${changed}`, 0],
    ['a fence that says so', `Before the edit:\n\`\`\`\n${old}\n\`\`\``, 0],
    ['words that are no line of a file', 'The depth is read from the berth, and that is that.', 0],
  ])('%s: %i', (_, text, count) => {
    expect(staleLinesOf(text, history).stale).toHaveLength(count);
  });

  test('are a share of the lines of files that are shown', () => {
    expect(staleLinesOf(`${old}\nsome words about nothing at all\n${other}`, history)).toEqual({
      shown: 2,
      stale: [old],
    });
  });
});
