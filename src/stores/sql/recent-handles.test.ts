import { describe, expect, it } from 'vitest';
import { RecentHandles } from './recent-handles.ts';

/** Handles as they are made: hexadecimal digits of a hash. */
function handleOf(index: number): string {
  return `rf:${Math.imul(index + 1, 0x9e3779b1)
    .toString(16)
    .slice(-8)
    .padStart(8, '0')}`;
}

describe('handles that were asked for lately', () => {
  it('are known from the second time on', () => {
    const handles = new RecentHandles();
    for (const handle of ['', 'a', 'rf:1', 'rf:12345678']) {
      expect([handles.note(handle), handles.note(handle), handles.note(handle)]).toEqual([false, true, true]);
    }
  });

  it('are told apart, nearly always', () => {
    const handles = new RecentHandles();
    const taken = Array.from({ length: 20_000 }, (_one, index) => handles.note(handleOf(index)));
    expect(taken.filter(Boolean).length).toBeLessThan(20);
  });

  it('lose their places in the end', () => {
    const handles = new RecentHandles();
    handles.note('rf:first');
    for (let index = 0; index < 100_000; index++) handles.note(handleOf(index));
    expect(handles.note('rf:first')).toBe(false);
  });

  it('keep most of their places for a while', () => {
    const handles = new RecentHandles();
    for (let index = 0; index < 400; index++) handles.note(handleOf(index));
    const known = Array.from({ length: 400 }, (_one, index) => handles.note(handleOf(index)));
    expect(known.filter(Boolean).length).toBeGreaterThan(300);
  });
});
