import { describe, expect, it } from 'vitest';
import { fileAccess } from './file-access.ts';

const call = (name: string, input: unknown) =>
  ({ type: 'tool-call', id: 'x', name, input, runBy: 'client', raw: null }) as const;

describe('fileAccess', () => {
  it.each([
    { name: 'Read', input: { file_path: 'a.ts' }, kind: 'read', path: 'a.ts', range: undefined },
    {
      name: 'Read',
      input: { file_path: 'a.ts', offset: 5, limit: 9 },
      kind: 'read',
      path: 'a.ts',
      range: 'offset=5 limit=9',
    },
    { name: 'read_file', input: '{"path":"a.ts"}', kind: 'read', path: 'a.ts', range: undefined },
    {
      name: 'mcp__disk__read_text_file',
      input: { path: 'a.ts' },
      kind: 'read',
      path: 'a.ts',
      range: undefined,
    },
    {
      name: 'str_replace_editor',
      input: { command: 'view', path: 'a', view_range: [1, 5] },
      kind: 'read',
      path: 'a',
      range: 'view_range=[1,5]',
    },
    {
      name: 'str_replace_editor',
      input: { command: 'create', path: 'a' },
      kind: 'write',
      path: 'a',
      range: undefined,
    },
    {
      name: 'Edit',
      input: { file_path: 'a.ts', old_string: 'x' },
      kind: 'write',
      path: 'a.ts',
      range: undefined,
    },
    { name: 'bash', input: { command: 'cat src/a.ts' }, kind: 'read', path: 'src/a.ts', range: undefined },
    {
      name: 'shell',
      input: { command: ['bash', '-lc', "sed -n '1,200p' a.ts"] },
      kind: 'read',
      path: 'a.ts',
      range: '1,200',
    },
    {
      name: 'exec_command',
      input: '{"cmd":"head -n 20 a.ts"}',
      kind: 'read',
      path: 'a.ts',
      range: 'head -n 20',
    },
  ])('sees that $name with $input is a $kind of $path', ({ name, input, kind, path, range }) => {
    expect(fileAccess(call(name, input))).toEqual({ kind, path, range });
  });

  it.each([
    { name: 'bash', input: { command: 'cat a b' } },
    { name: 'bash', input: { command: 'cat a | grep b' } },
    { name: 'bash', input: { command: `cat ${'a'.repeat(5000)}` } },
    { name: 'Read', input: { file_path: 7 } },
    { name: 'Read', input: 'not json' },
    { name: 'search', input: { path: 'a' } },
  ])('makes nothing of $name with $input', ({ name, input }) => {
    expect(fileAccess(call(name, input))).toBeUndefined();
  });
});
