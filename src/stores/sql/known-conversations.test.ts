import { describe, expect, it } from 'vitest';
import { TOUCH_AFTER_MS } from '../last-use.ts';
import { KnownConversations } from './known-conversations.ts';

describe('conversations that were seen', () => {
  it('have the name that they had last', () => {
    const known = new KnownConversations(() => 0);
    expect(known.nameOf(1)).toBeUndefined();
    known.add(1, { name: 'one', usedAt: 0 });
    known.add(2, { name: 'two', usedAt: 0 });
    known.add(1, { name: 'another', usedAt: 0 });
    expect([known.nameOf(1), known.nameOf(2), known.nameOf(3)]).toEqual(['another', 'two', undefined]);
  });

  it('are looked up again when their last use is to be written down', () => {
    let now = 1000;
    const known = new KnownConversations(() => now);
    known.add(1, { name: 'one', usedAt: now });
    now += TOUCH_AFTER_MS;
    expect(known.nameOf(1)).toBe('one');
    now += 1;
    expect(known.nameOf(1)).toBeUndefined();
    known.add(1, { name: 'one', usedAt: now });
    expect(known.nameOf(1)).toBe('one');
  });

  it('are of a bounded number', () => {
    const known = new KnownConversations(() => 0);
    const rows = Array.from({ length: 5000 }, (_one, row) => row);
    for (const row of rows) known.add(row, { name: `conversation ${row}`, usedAt: 0 });
    expect(known.nameOf(4999)).toBe('conversation 4999');
    expect(rows.filter((row) => known.nameOf(row) !== undefined).length).toBeLessThanOrEqual(1000);
  });
});
