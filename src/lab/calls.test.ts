import { describe, expect, test } from 'vitest';
import { tool } from '../../test/support/example-cut.ts';
import type { ToolCallBlock } from '../conversation/message.ts';
import { changedFilesOf, editTextsOf } from './calls.ts';

function call(input: unknown): ToolCallBlock {
  return { type: 'tool-call', id: '1', name: 'edit', input, runBy: 'client', raw: undefined };
}

describe('what an edit quotes and what it writes', () => {
  test('the old text of an edit is quoted, the rest is written', () => {
    const texts = editTextsOf(call({ file_path: 'a.ts', old_string: 'one\ntwo', new_string: 'three' }));
    expect(texts).toEqual({ oldLines: ['one', 'two'], contextLines: [], newText: 'a.ts\nthree' });
  });

  test('edits in a list count one by one', () => {
    const texts = editTextsOf(call({ edits: [{ oldText: 'a' }, { oldText: 'b', newText: 'c' }] }));
    expect(texts).toEqual({ oldLines: ['a', 'b'], contextLines: [], newText: 'c' });
  });

  test('context and removed lines of a patch are quoted, added lines are written', () => {
    const patch = [
      '*** Begin Patch',
      '*** Update File: a.ts',
      '@@ function f',
      ' kept line',
      '-removed line',
      '+added line',
      '*** End Patch',
    ].join('\n');
    expect(editTextsOf(call(patch))).toEqual({
      oldLines: ['kept line', 'removed line'],
      contextLines: ['kept line'],
      newText: 'added line',
    });
  });

  test('SEARCH blocks are quoted', () => {
    const diff = 'a.ts\n<<<<<<< SEARCH\nold line\n=======\nnew line\n>>>>>>> REPLACE';
    expect(editTextsOf(call({ diff }))).toEqual({
      oldLines: ['old line'],
      contextLines: [],
      newText: 'a.ts\nnew line',
    });
  });

  test('arguments may be JSON text, and of any shape', () => {
    expect(editTextsOf(call('{"old_str": "x", "deep": [[null, 3]]}'))).toEqual({
      oldLines: ['x'],
      contextLines: [],
      newText: '',
    });
    expect(editTextsOf(call(undefined))).toEqual({ oldLines: [], contextLines: [], newText: '' });
  });
});

test('changed files are those that calls edit, write or patch, each once, by the end of its path', () => {
  const patch =
    '*** Begin Patch\n*** Update File: src/tide.ts\n-a\n+b\n*** Add File: new.md\n+x\n*** End Patch';
  const messages = [
    ...tool('Read', { file_path: '/srv/harbour/src/quay.ts' }, 'text'),
    ...tool('Edit', { file_path: '/srv/harbour/src/berth.ts', old_string: 'a', new_string: 'b' }, 'ok'),
    ...tool('Write', { file_path: './src/berth.ts', content: 'c' }, 'ok'),
    ...tool('apply_patch', { input: patch }, 'ok'),
    ...tool('Write', { file_path: '/etc/port.conf', content: 'c' }, 'The path must be within the workspace.'),
  ];
  expect(changedFilesOf(messages)).toEqual(['src/berth.ts', 'src/tide.ts', 'new.md']);
});
