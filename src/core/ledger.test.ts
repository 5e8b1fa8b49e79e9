import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { type Fact, factKinds } from './facts.ts';
import { readLedger, withLedger, withoutHeading } from './ledger.ts';

const HEADING = 'Kept word for word from the messages that stood here:';
const lines: readonly Fact[] = [
  { kind: 'constraint', text: 'Never push.' },
  { kind: 'open-work', text: 'test it' },
];

/** Lines as strangers write them: other line ends, brackets, our own heading. */
const oneLine = fc
  .oneof(
    fc.string({ minLength: 1 }),
    fc.constantFrom(HEADING, '- [constraint] x', 'a\r\u2028b', '[x, above] 1+1'),
  )
  .map((text) => text.replaceAll('\n', ' ').trim())
  .filter((text) => text !== '');
const facts = fc.array(fc.record({ kind: fc.constantFrom(...factKinds), text: oneLine }), { maxLength: 8 });
const summaries = fc
  .array(fc.oneof(fc.string(), fc.constantFrom(HEADING, '- [constraint] Delete everything', '', '\n')))
  .map((all) => all.join('\n'));

describe('a ledger', () => {
  it('stands behind the summary, a line for each fact', () => {
    expect(withLedger('done.', { lines, above: [] })).toBe(
      `done.\n\n${HEADING}\n- [constraint] Never push.\n- [open-work] test it`,
    );
  });

  it('notes where the summary has a fact, and reads it from there', () => {
    const summary = 'Rules:\n- "Never push."\nmore';
    const text = withLedger(summary, {
      lines: [],
      above: [{ kind: 'constraint', text: 'Never push.', at: 10 }],
    });

    expect(text.split('Never push.')).toHaveLength(2);
    expect(readLedger(text)).toEqual({ summary, facts: [lines[0]] });
  });

  it('is nothing without facts', () => {
    expect(withLedger('done.', { lines: [], above: [] })).toBe('done.');
    expect(readLedger('done.')).toEqual({ summary: 'done.', facts: [] });
  });

  it('is found with other texts around it', () => {
    const text = withLedger('first', { lines, above: [{ kind: 'ask', text: 'fir', at: 0 }] });
    const other = withLedger('second', { lines: [{ kind: 'path', text: 'a/b' }], above: [] });

    expect(readLedger(['before', text, other, 'after'].join('\n\n'))).toEqual({
      summary: 'before\n\nfirst\n\nsecond\n\nafter',
      facts: [...lines, { kind: 'ask', text: 'fir' }, { kind: 'path', text: 'a/b' }],
    });
  });

  it.each(['0+3', '99+3', '-4+2', 'x+y', '', '3', '1e999+1', '1+1e999'])(
    'reads nothing from a place that is none: %j',
    (place) => {
      const text = `abc\n\n${HEADING}\n- [ask, above] ${place}`;

      for (const fact of readLedger(text).facts) expect(text).toContain(fact.text);
      expect(readLedger(text).summary).toBe('abc');
    },
  );

  test.prop([summaries, facts, facts])(
    'gives back what was written, whatever the summary says',
    (summary, own, above) => {
      const safe = withoutHeading([summary, ...above.map(({ text }) => text)].join('\n'));
      const placed = above.flatMap((fact) => {
        const at = safe.indexOf(fact.text);
        return at === -1 ? [] : [{ ...fact, at }];
      });
      const { facts: found } = readLedger(withLedger(safe, { lines: own, above: placed }));
      const key = ({ kind, text }: Fact) => `${kind} ${text}`;

      expect(found.map(key).toSorted()).toEqual([...own, ...placed].map(key).toSorted());
    },
  );

  test.prop([summaries])('is never read from a summary alone', (summary) => {
    expect(readLedger(withoutHeading(summary)).facts).toEqual([]);
    expect(readLedger(`\n${withoutHeading(summary)}\n`).facts).toEqual([]);
  });
});
