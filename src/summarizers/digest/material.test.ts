import { describe, expect, it } from 'vitest';
import type { ToolCallBlock } from '../../core/message.ts';
import { effectsOf } from './call-effects.ts';
import { flattenValue } from './flatten.ts';
import { resultLines, statusOf } from './result-lines.ts';
import { ToolHabits } from './tool-habits.ts';

const call = (name: string, input: unknown): ToolCallBlock => ({
  type: 'tool-call',
  id: 't1',
  name,
  input,
  runBy: 'client',
  raw: undefined,
});

describe('effectsOf', () => {
  it.each([
    { of: 'an edit', name: 'Edit', input: { file_path: '/a/b.ts', old_string: 'x\ny', new_string: 'z' } },
    {
      of: 'an edit of another harness',
      name: 'edit',
      input: { path: '/a/b.ts', oldText: 'x\ny', newText: 'z' },
    },
    {
      of: 'a list of edits',
      name: 'MultiEdit',
      input: { file_path: '/a/b.ts', edits: [{ old_string: 'x\ny', new_string: 'z' }] },
    },
  ])('knows what $of changes', ({ name, input }) => {
    expect(effectsOf(call(name, input))).toMatchObject({
      kind: 'write',
      path: '/a/b.ts',
      changes: [{ path: '/a/b.ts', removed: ['x', 'y'], written: ['z'] }],
    });
  });

  it('reads a patch of several files: context stays, minus goes, plus comes', () => {
    const patch = [
      '*** Begin Patch',
      '*** Update File: src/a.ts',
      '@@ here',
      ' kept',
      '-old',
      '+new',
      '*** Add File: src/b.ts',
      '+whole',
      '*** End Patch',
    ].join('\n');

    for (const effects of [
      effectsOf(call('apply_patch', patch)),
      effectsOf(call('shell', { command: ['bash', '-lc', patch] })),
    ]) {
      expect(effects).toMatchObject({
        kind: 'write',
        title: expect.stringContaining('src/a.ts src/b.ts'),
        changes: [
          { path: 'src/a.ts', removed: ['old'], written: ['kept', 'new'] },
          { path: 'src/b.ts', removed: [], written: ['whole'] },
        ],
      });
    }
  });

  it('puts the first line of a command into the title and the rest below', () => {
    expect(effectsOf(call('Bash', { command: 'cd web\nnpm test' }))).toMatchObject({
      kind: 'shell',
      title: 'Bash: cd web',
      lines: ['npm test'],
    });
  });

  it.each([
    { input: undefined },
    { input: null },
    { input: 7 },
    { input: '{not json' },
    { input: { edits: 3, path: ['x'] } },
  ])('takes the odd input $input', ({ input }) => {
    expect(() => effectsOf(call('Edit', input))).not.toThrow();
  });
});

describe('flattenValue', () => {
  it('puts what belongs together on one line', () => {
    const value = {
      id: 'A1',
      user: { name: 'Mia', zip: 78750 },
      flights: [{ no: 'HAT1' }, { no: 'HAT2' }],
      tags: ['x', 'y'],
    };

    expect(flattenValue(value)).toEqual([
      'id: A1',
      'user: name: Mia, zip: 78750',
      'flights: no: HAT1',
      'flights: no: HAT2',
      'tags: x, y',
    ]);
  });

  it.each([
    { record: { kind: 'visa', id: 'card_17' }, lines: ['card_17: kind: visa'] },
    { record: { id: 'card_17' }, lines: ['card_17'] },
    { record: { id: 'card_17', items: [{ no: 1 }] }, lines: ['card_17', 'items: no: 1'] },
    { record: { id: 'other', none: '' }, lines: ['card_17: id: other, none: '] },
  ])('names a record by its id once: $lines', ({ record, lines }) => {
    expect(flattenValue({ cards: { card_17: record } })).toEqual(lines);
  });

  it('ends at a depth that no tool reaches', () => {
    let deep: unknown = 'bottom';
    for (let level = 0; level < 10_000; level++) deep = { inner: deep, list: [1, { a: 1 }] };

    expect(() => flattenValue(deep)).not.toThrow();
  });
});

describe('resultLines', () => {
  it.each([
    {
      why: 'numbers before the lines of a file go',
      text: '    1→first\n    2→\tsecond',
      isFile: true,
      lines: ['first', '\tsecond'],
    },
    { why: 'numbers of other results stay', text: '12\tapples', isFile: false, lines: ['12\tapples'] },
    {
      why: 'JSON on one line is taken apart',
      text: '[{"id": "X9", "price": 51}]',
      isFile: false,
      lines: ['id: X9, price: 51'],
    },
    { why: 'broken JSON stays as it is', text: '{"id": ', isFile: false, lines: ['{"id": '] },
    {
      why: 'what a shell tool says before the output goes',
      text: 'Chunk ID: 1\nWall time: 2\nOutput:\nOutput of it',
      isFile: false,
      lines: ['Output of it'],
    },
  ])('$why', ({ text, isFile, lines }) => {
    expect(resultLines(text, isFile)).toEqual(lines);
  });

  it('tells what a tool said of a change without the path', () => {
    expect(statusOf('The file /a/b.ts has been updated. Here is more\nand more', '/a/b.ts')).toBe(
      'file been updated',
    );
  });
});

describe('ToolHabits', () => {
  it('keeps the settings of tools and leaves out what is content', () => {
    const habits = new ToolHabits();
    for (let number = 0; number < 30; number++) {
      habits.add(call('grep', { pattern: `word${number}`, mode: 'files_only', limit: 200 }));
    }

    expect(habits.lines()).toEqual(['grep: mode files_only, limit 200']);
  });

  it('reads its own lines back', () => {
    const habits = new ToolHabits();
    habits.addLine('grep: mode files_only, limit 200 400');

    expect(habits.lines()).toEqual(['grep: mode files_only, limit 200 400']);
  });
});
