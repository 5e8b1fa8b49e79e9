import { describe, expect, it } from 'vitest';
import { standingAlone } from './standing-alone.ts';

const wanted = new Set(['Never push.', '- always test', '不要推送']);

describe('standingAlone', () => {
  it.each([
    { line: 'Never push.', found: 'Never push.' },
    { line: '- Never push.', found: 'Never push.' },
    { line: '  * "Never push."', found: 'Never push.' },
    { line: '- [C12] “Never push.”', found: 'Never push.' },
    { line: '> - always test', found: '- always test' },
    { line: '- [constraint] Never push.', found: undefined },
    { line: '- 不要推送。', found: '不要推送' },
    { line: 'Never push. Or do.', found: undefined },
    { line: 'The user no longer says "Never push."', found: undefined },
    { line: 'Never pushed.', found: undefined },
    { line: 'No: Never push.', found: undefined },
    { line: 'Never push.” No!', found: undefined },
    { line: 'never push.', found: undefined },
    { line: `${'-'.repeat(40)}Never push.`, found: undefined },
  ])('finds $found in $line', ({ line, found }) => {
    const text = `before\n${line}\nafter`;
    const places = standingAlone(text, wanted);

    expect([...places.keys()]).toEqual(found === undefined ? [] : [found]);
    for (const [each, at] of places) expect(text.startsWith(each, at)).toBe(true);
  });

  it('finds nothing when nothing is wanted', () => {
    expect(standingAlone('Never push.', new Set()).size).toBe(0);
  });
});
