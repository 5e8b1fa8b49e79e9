import { expect, test } from 'vitest';
import { changedFilesOf } from './changed-files.ts';
import { tool } from './example-cut.ts';

test('changed files are those that calls edit, write or patch, each once, by the end of its path', () => {
  const patch =
    '*** Begin Patch\n*** Update File: src/tide.ts\n-a\n+b\n*** Add File: new.md\n+x\n*** End Patch';
  const messages = [
    ...tool('Read', { file_path: '/srv/harbour/src/quay.ts' }, 'text'),
    ...tool('Edit', { file_path: '/srv/harbour/src/berth.ts', old_string: 'a', new_string: 'b' }, 'ok'),
    ...tool('Write', { file_path: './src/berth.ts', content: 'c' }, 'ok'),
    ...tool('apply_patch', { input: patch }, 'ok'),
  ];
  expect(changedFilesOf(messages)).toEqual(['src/berth.ts', 'src/tide.ts', 'new.md']);
});
