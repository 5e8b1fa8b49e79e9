import { describe, expect, test } from 'vitest';
import { drawUnderHeadings, fittingMeasures } from './report.ts';
import type { SummaryRow } from './summary.ts';

const estimate = { mean: 0.5, low: 0.4, high: 0.6, sessions: 3 };

function rowWith(figures: SummaryRow['figures']): SummaryRow {
  return {
    row: 'ladder',
    kind: 'strategy',
    level: '20 %',
    budget: 20,
    cuts: 3,
    figures,
    illegalOutputs: 0,
    brokenRules: [],
    overBudget: 0,
  };
}

const figures = {
  kept: estimate,
  names: estimate,
  boundTwoWords: estimate,
  boundFourWordsOrLine: estimate,
  editLines: estimate,
  demands: estimate,
  decisions: estimate,
};

function namesFor(columns: number, rows = [rowWith(figures)]): readonly string[] {
  return fittingMeasures(rows, { columns, nameColumns: 18 }).map(({ name }) => name);
}

describe('the columns of a terminal', () => {
  test('are as many as it is wide enough for, in the order of all measures', () => {
    expect(namesFor(45)).toEqual(['kept', 'names']);
    expect(namesFor(200)).toEqual([
      'kept',
      'names',
      'bound (two words)',
      'bound (four words or line)',
      'edit lines',
      'demands',
      'decisions',
    ]);
  });

  test('begin with probes where there are any, and have none where there are none', () => {
    expect(namesFor(200)).not.toContain('probes');
    expect(namesFor(60, [rowWith({ ...figures, probes: estimate })]).slice(0, 3)).toEqual([
      'kept',
      'probes',
      'names',
    ]);
  });

  test('have headings of several lines that end right above the figures', () => {
    const drawn = drawUnderHeadings(['', 'kept', 'bound (two words)'], [['ladder', '20.0', '91.2']], 10);
    expect(drawn.split('\n')).toEqual([
      '                 bound',
      '                  (two',
      '          kept  words)',
      '  ladder  20.0    91.2',
      '',
    ]);
  });
});
