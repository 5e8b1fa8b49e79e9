import type { Estimate } from '../charts/curve-chart.ts';
import type { Measure } from '../comparison.ts';
import { formatCount } from '../terminal.ts';

/** A number in the unit of its measure: `94.2 %`, `12,345`, `$0.42`, `18 ms`. */
export function formatFigure(value: number, { unit }: Pick<Measure, 'unit'>): string {
  if (!Number.isFinite(value)) return '';
  switch (unit) {
    case 'share':
      return `${(value * 100).toFixed(1)} %`;
    case 'tokens':
      return formatCount(value);
    case 'dollars':
      return formatDollars(value);
    case 'milliseconds':
      return `${value < 10 ? value.toFixed(1) : formatCount(value)} ms`;
  }
}

/** The interval of a figure without its unit: `92.1–96.0`; empty when it is not known. */
export function formatInterval({ low, high }: Estimate, measure: Pick<Measure, 'unit'>): string {
  if (low === undefined || high === undefined) return '';
  const bare = (value: number) =>
    measure.unit === 'share' ? (value * 100).toFixed(1) : formatFigure(value, measure);
  return `${bare(low)}–${bare(high)}`;
}

function formatDollars(value: number): string {
  if (value === 0 || Math.abs(value) >= 0.1) return `$${value.toFixed(2)}`;
  return `$${value.toFixed(4).replace(/0{1,2}$/, '')}`;
}
