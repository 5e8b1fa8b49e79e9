import { describe, expect, it } from 'vitest';
import { survivalLines } from './survival-lines.ts';

describe('survivalLines', () => {
  it('tells how many facts of each kind are kept, and how many are missing', () => {
    const lines = survivalLines(
      [
        { kind: 'constraint', found: 12, kept: 12, lost: 0, examples: [] },
        { kind: 'open-work', found: 2, kept: 2, lost: 0, examples: [] },
        { kind: 'number', found: 1200, kept: 3, lost: 1197, examples: ['1'] },
      ],
      '  ',
    );

    expect(lines.split('\n')).toEqual([
      '  constraints  12 of 12 kept',
      '  open work    2 of 2 kept',
      '  numbers      3 of 1,200 kept, 1,197 missing',
      '',
    ]);
  });

  it('names the demands that are missing, so that a terminal can show them', () => {
    const lines = survivalLines([
      { kind: 'constraint', found: 2, kept: 1, lost: 1, examples: ['Never \u001b[31mpush.'] },
    ]);

    expect(lines).toMatch(/^constraints {2}1 of 2 kept, 1 missing\nmissing: Never .*push\.\n$/);
    expect(lines).not.toContain('\u001b');
  });

  it('is empty without a summary', () => {
    expect(survivalLines(undefined)).toBe('');
    expect(survivalLines([])).toBe('');
  });
});
