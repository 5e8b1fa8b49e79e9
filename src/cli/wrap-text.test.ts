import { fc, test } from '@fast-check/vitest';
import { expect, it } from 'vitest';
import { wrapText } from './wrap-text.ts';

it('breaks between words and indents what follows', () => {
  expect(wrapText('one two three four', 11, '  ')).toBe('one two\n  three\n  four');
});

test.prop([fc.lorem({ maxCount: 40 }), fc.integer({ min: 20, max: 100 })])(
  'keeps every word and no line is too long',
  (text, columns) => {
    const wrapped = wrapText(text, columns, '   ');

    expect(wrapped.split(/\s+/)).toEqual(text.split(/\s+/));
    expect(Math.max(...wrapped.split('\n').map(({ length }) => length))).toBeLessThanOrEqual(columns);
  },
);
