import { describe, expect, it } from 'vitest';
import { materialOf } from '../../../test/support/digest-material.ts';
import { indexLines } from './index-lines.ts';
import { fittedModels } from './models.ts';
import { ORIGIN } from './sources.ts';
import { worthOf } from './worth.ts';

const material = materialOf({
  origin: ORIGIN.read,
  kind: 'file',
  title: 'src/tide.ts',
  lines: ['export function tideAt(gauge: Gauge): number {', '  return gauge.level + gauge.drift;'],
});

/** What all lines are worth together in a digest of so many tokens that takes this share of its material. */
function linesWorth(tokens: number, share: number): number {
  const { line } = worthOf(indexLines(material), fittedModels(), { root: '', share, tokens });
  return line.reduce((sum, worth) => sum + worth, 0);
}

describe('worthOf', () => {
  it.each([0.02, 0.05])('values lines more the fewer tokens a share of %d is, without a step', (share) => {
    for (let tokens = 200; tokens < 8000; tokens += 10) {
      const ratio = linesWorth(tokens, share) / linesWorth(tokens + 10, share);

      expect(ratio).toBeGreaterThanOrEqual(1);
      expect(ratio).toBeLessThan(1.02);
    }
    expect(linesWorth(500, share)).toBeCloseTo(linesWorth(8000, share) * 4);
  });

  it('values lines alike in a large share, however many tokens it is', () => {
    expect(linesWorth(500, 0.2)).toBe(linesWorth(8000, 0.2));
  });
});
