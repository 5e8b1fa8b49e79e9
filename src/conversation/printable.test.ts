import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { printable, printablePath } from './printable.ts';

describe('printable', () => {
  it.each([
    { text: 'plain text, 日本語 & “quotes”', shown: 'plain text, 日本語 & “quotes”' },
    { text: 'two\nlines\tand a tab', shown: 'two↵lines and a tab' },
    { text: '\u001b[2Jwiped', shown: '\\u{1b}[2Jwiped' },
    { text: 'right\u202eleft', shown: 'right\\u{202e}left' },
    { text: 'lone \ud800', shown: 'lone \\u{d800}' },
    { text: 'x'.repeat(200), shown: `${'x'.repeat(119)}…` },
  ])('shows $shown', ({ text, shown }) => {
    expect(printable(text)).toBe(shown);
  });

  test.prop([fc.string({ unit: 'binary', maxLength: 400 }), fc.integer({ min: 2, max: 200 })])(
    'is one line without control characters, of no more than the length it was given',
    (text, length) => {
      const shown = printable(text, length);

      expect(shown.length).toBeLessThanOrEqual(length);
      expect(shown).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/u);
    },
  );

  it('keeps the end of a long path', () => {
    expect(printablePath(`/home/${'deep/'.repeat(40)}file.ts`, 20)).toBe(
      '…eep/deep/deep/file.ts'.slice(-20).replace(/^./, '…'),
    );
  });
});
