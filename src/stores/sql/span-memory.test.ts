import { describe, expect, it } from 'vitest';
import type { ArchivedSpan } from '../store.ts';
import { SpanMemory } from './span-memory.ts';

const MEGABYTE = 1024 * 1024;
const MINUTE = 60_000;

function spanOf(megabytes: number, text = ''): ArchivedSpan {
  const body = new Uint8Array(megabytes * MEGABYTE);
  return { tenant: 't', conversation: 'c', handle: 'rf:1', start: 0, end: 1, body, text, createdAt: 0 };
}

/** Keeps a span under a handle, as it was in a generation of the database. */
function keep(memory: SpanMemory, handle: string, span: ArchivedSpan, generation = 1): void {
  memory.add({ span: { ...span, handle }, usedAt: 0 }, generation);
}

const nameOf = (handle: string) => ({ tenant: 't', handle });

function keptOf(memory: SpanMemory, handles: readonly string[], generation = 1): readonly string[] {
  return handles.filter((handle) => memory.get(nameOf(handle), generation) !== undefined);
}

describe('the memory of spans', () => {
  const memoryOf = (now = () => 0) => new SpanMemory(now);

  it('takes 32 MB at most, texts included, and the oldest go first', () => {
    const memory = memoryOf();
    keep(memory, 'a', spanOf(16));
    keep(memory, 'b', spanOf(12));
    keep(memory, 'c', spanOf(0, 'x'.repeat(2 * MEGABYTE)));
    expect(keptOf(memory, ['a', 'b', 'c'])).toEqual(['a', 'b', 'c']);
    keep(memory, 'd', spanOf(1));
    expect(keptOf(memory, ['a', 'b', 'c', 'd'])).toEqual(['b', 'c', 'd']);
    keep(memory, 'e', spanOf(32));
    expect(keptOf(memory, ['a', 'b', 'c', 'd', 'e'])).toEqual(['e']);
  });

  it('counts nothing twice, nor what was removed', () => {
    const memory = memoryOf();
    for (let times = 0; times < 5; times++) keep(memory, 'a', spanOf(20));
    keep(memory, 'b', spanOf(12));
    expect(keptOf(memory, ['a', 'b'])).toEqual(['a', 'b']);
    memory.remove('a');
    memory.remove('a');
    keep(memory, 'c', spanOf(20));
    expect(keptOf(memory, ['a', 'b', 'c'])).toEqual(['b', 'c']);
    memory.clear();
    keep(memory, 'd', spanOf(32));
    expect(keptOf(memory, ['b', 'c', 'd'])).toEqual(['d']);
  });

  it('forgets nothing for what is too large by itself', () => {
    const memory = memoryOf();
    keep(memory, 'a', spanOf(1));
    keep(memory, 'b', spanOf(33));
    expect(keptOf(memory, ['a', 'b'])).toEqual(['a']);
  });

  it('ends with a generation of the database, whether somebody asks or adds', () => {
    const memory = memoryOf();
    keep(memory, 'a', spanOf(1));
    expect(keptOf(memory, ['a'], 2)).toEqual([]);
    expect(keptOf(memory, ['a'], 1)).toEqual([]);
    keep(memory, 'a', spanOf(1));
    keep(memory, 'b', spanOf(1), 2);
    expect(keptOf(memory, ['a', 'b'], 2)).toEqual(['b']);
  });

  it('gives nothing whose last use is to be written down again', () => {
    let now = 0;
    const memory = memoryOf(() => now);
    keep(memory, 'a', spanOf(1));
    now = 5 * MINUTE;
    expect(keptOf(memory, ['a'])).toEqual(['a']);
    now += 1;
    expect(keptOf(memory, ['a'])).toEqual([]);
  });

  it('shares no bytes, and keeps nothing but what a span is', () => {
    const memory = memoryOf();
    const given = { ...spanOf(0), body: Buffer.from('abc'), other: 1 };
    keep(memory, 'a', given);
    given.body.fill(0);
    const first = memory.get(nameOf('a'), 1);
    first?.body.fill(0);
    const expected = { ...spanOf(0), handle: 'a', body: new TextEncoder().encode('abc') };
    expect(memory.get(nameOf('a'), 1)).toStrictEqual(expected);
  });

  it('gives a tenant nothing of another one that has the same handle', () => {
    const memory = memoryOf();
    keep(memory, 'a', spanOf(0));
    expect(memory.get({ tenant: 'other', handle: 'a' }, 1)).toBeUndefined();
    keep(memory, 'a', { ...spanOf(0), tenant: 'other' });
    expect(memory.get({ tenant: 'other', handle: 'a' }, 1)?.tenant).toBe('other');
    expect(keptOf(memory, ['a'])).toEqual([]);
  });

  it('expects what it has and what was asked for before, of a bounded number', () => {
    const memory = memoryOf();
    expect([memory.expects('a'), memory.expects('a')]).toEqual([false, true]);
    keep(memory, 'b', spanOf(0));
    expect(memory.expects('b')).toBe(true);
    for (let index = 0; index < 10_000; index++) memory.expects(String(index));
    expect([memory.expects('a'), memory.expects('b')]).toEqual([false, true]);
  });
});
