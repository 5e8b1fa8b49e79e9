import { describe, expect, it } from 'vitest';
import type { ArchivedSpan } from '../../core/store.ts';
import { RecalledSpans } from './recalled-spans.ts';

const MEGABYTE = 1024 * 1024;
const MINUTE = 60_000;

function spanOf(megabytes: number, text = ''): ArchivedSpan {
  const body = new Uint8Array(megabytes * MEGABYTE);
  return { tenant: 't', conversation: 'c', handle: 'rf:1', start: 0, end: 1, body, text, createdAt: 0 };
}

describe('spans that were recalled', () => {
  const recalledOf = (now = () => 0) => new RecalledSpans(now);
  const keptOf = (recalled: RecalledSpans, keys: readonly string[], generation = 1) =>
    keys.filter((key) => recalled.get(key, generation) !== undefined);

  it('take 32 MB at most, with their texts', () => {
    const recalled = recalledOf();
    recalled.get('a', 1);
    recalled.add('a', { span: spanOf(16), usedAt: 0 });
    recalled.add('b', { span: spanOf(12), usedAt: 0 });
    recalled.add('c', { span: spanOf(0, 'x'.repeat(2 * MEGABYTE)), usedAt: 0 });
    expect(keptOf(recalled, ['a', 'b', 'c'])).toEqual(['a', 'b', 'c']);
    recalled.add('d', { span: spanOf(1), usedAt: 0 });
    expect(keptOf(recalled, ['a', 'b', 'c', 'd'])).toEqual(['d']);
  });

  it('do not count twice, nor after they were removed', () => {
    const recalled = recalledOf();
    recalled.get('a', 1);
    for (let times = 0; times < 5; times++) recalled.add('a', { span: spanOf(20), usedAt: 0 });
    recalled.add('b', { span: spanOf(12), usedAt: 0 });
    expect(keptOf(recalled, ['a', 'b'])).toEqual(['a', 'b']);
    recalled.remove('a');
    recalled.remove('a');
    recalled.add('c', { span: spanOf(20), usedAt: 0 });
    expect(keptOf(recalled, ['a', 'b', 'c'])).toEqual(['b', 'c']);
  });

  it('are not pushed out by one that is too large by itself', () => {
    const recalled = recalledOf();
    recalled.get('a', 1);
    recalled.add('a', { span: spanOf(1), usedAt: 0 });
    recalled.add('b', { span: spanOf(33), usedAt: 0 });
    expect(keptOf(recalled, ['a', 'b'])).toEqual(['a']);
  });

  it('end with their generation, and with the last use that is written down', () => {
    let now = 0;
    const recalled = recalledOf(() => now);
    recalled.get('a', 1);
    recalled.add('a', { span: spanOf(1), usedAt: 0 });
    now = 5 * MINUTE;
    expect(keptOf(recalled, ['a'])).toEqual(['a']);
    now += 1;
    expect(keptOf(recalled, ['a'])).toEqual([]);
    now = 0;
    expect(keptOf(recalled, ['a'])).toEqual(['a']);
    expect(keptOf(recalled, ['a'], 2)).toEqual([]);
    expect(keptOf(recalled, ['a'], 1)).toEqual([]);
  });

  it('are those that were asked for before, of a bounded number', () => {
    const recalled = recalledOf();
    expect([recalled.isRepeated('a'), recalled.isRepeated('a')]).toEqual([false, true]);
    for (let index = 0; index < 10_000; index++) recalled.isRepeated(String(index));
    expect(recalled.isRepeated('a')).toBe(false);
  });
});
