import { describe, expect, it } from 'vitest';
import type { ToolCallBlock } from '../../conversation/message.ts';
import { argumentLines } from './argument-lines.ts';

function call(input: unknown): ToolCallBlock {
  return { type: 'tool-call', id: 'call_1', name: 'edit', input, runBy: 'client', raw: undefined };
}

function nested(depth: number, inner: unknown): unknown {
  return depth === 0 ? inner : { a: nested(depth - 1, inner) };
}

describe('argumentLines', () => {
  it.each([
    {
      what: 'texts as they are',
      input: { path: 'a.ts', old: 'say "a\\b"' },
      lines: 'path: a.ts\nold: say "a\\b"',
    },
    { what: 'several lines below their name', input: { new: 'one\n\ttwo' }, lines: 'new:\none\n\ttwo' },
    {
      what: 'numbers and lists as JSON',
      input: { limit: 3, of: ['a', 1], no: null },
      lines: 'limit: 3\nof: ["a",1]\nno: null',
    },
    {
      what: 'texts in lists unescaped',
      input: { edits: [{ old: 'a\nb', all: true }, { old: 'c' }] },
      lines: 'edits.0.old:\na\nb\nedits.0.all: true\nedits.1: {"old":"c"}',
    },
    { what: 'JSON in a string', input: '{"path":"a\\nb"}', lines: 'path:\na\nb' },
    { what: 'free text', input: '*** Begin Patch\n+a', lines: '*** Begin Patch\n+a' },
    { what: 'a bare list', input: ['a'], lines: '["a"]' },
    { what: 'nothing', input: {}, lines: '' },
    { what: 'what is missing', input: undefined, lines: '' },
    { what: 'what JSON has no word for', input: { a: undefined, b: 1 }, lines: 'b: 1' },
  ])('writes $what', ({ input, lines }) => {
    expect(argumentLines(call(input))).toBe(lines);
  });

  it('goes no deeper than it has to', () => {
    expect(argumentLines(call(nested(50, 'one\ntwo')))).toMatch(/^(a\.){5}a: \{"a":.*one\\ntwo/);
  });
});
