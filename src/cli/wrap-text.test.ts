import { fc, test } from '@fast-check/vitest';
import { expect, it } from 'vitest';
import { wrapText } from './wrap-text.ts';

it('breaks between words and indents what follows', () => {
  expect(wrapText('one two three four', 11, '  ')).toBe('one two\n  three\n  four');
});

it('counts the columns of wide characters', () => {
  expect(wrapText('灯塔 的 灯 已 按 方位 排好', 10)).toBe('灯塔 的 灯\n已 按 方位\n排好');
});

test.prop([fc.lorem({ maxCount: 40 }), fc.integer({ min: 20, max: 100 })])(
  'keeps every word and no line is too long',
  (text, columns) => {
    const wrapped = wrapText(text, columns, '   ');

    expect(wrapped.split(/\s+/)).toEqual(text.split(/\s+/));
    expect(Math.max(...wrapped.split('\n').map(({ length }) => length))).toBeLessThanOrEqual(columns);
  },
);
