import type { Loss } from '../lab/losses.ts';
import type { CompactionAccount } from './compaction-account.ts';
import type { Estimate } from './html/charts.ts';
import type { RoundLimits } from './html/rounds.ts';
import type { RoundSeries } from './round-series.ts';
import { formatCount, formatShare } from './terminal.ts';

/** Something that was measured of every row. */
export interface Measure {
  readonly name: string;
  /** What it says, in a sentence. */
  readonly help: string;
  readonly unit: 'share' | 'tokens' | 'dollars';
  /** Whether it has a chart of its own, against the tokens kept. Only shares have one. */
  readonly isCharted?: boolean;
  /** Whether less is better. Default false. */
  readonly isLessBetter?: boolean;
}

/** What kind of row it is: strategies and peers compete, the others give the scale. */
export type RowKind = 'strategy' | 'peer' | 'recorded' | 'control' | 'oracle';

/** Everything measured of one strategy, peer or control. */
export interface ComparedRow {
  readonly name: string;
  readonly kind: RowKind;
  /** When the replay behind its cost compacts, in words; undefined where nothing is compacted. */
  readonly compacts?: string | undefined;
  /** One per budget; one with a `budgetShare` of undefined for rows that have no budget. */
  readonly points: readonly ComparedPoint[];
}

export interface ComparedPoint {
  /** The share of the tokens that could be kept. */
  readonly budgetShare: number | undefined;
  /** The share that was kept. */
  readonly keptShare: number;
  /** What each session costs on average, where that was replayed. */
  readonly costDollars?: number | undefined;
  /** Whether it was measured on other places than the rest of its row: it stands in the table, and on no curve. */
  readonly isAside?: boolean | undefined;
  /** Whether it kept clearly more than the budget allows: it is not the best of it then. */
  readonly isOverBudget?: boolean | undefined;
  /** In the order of the measures. */
  readonly figures: readonly (Estimate | undefined)[];
}

/** Something that a later call, or somebody who takes over, needed and that was no longer there. */
export interface LostItem extends Loss {
  readonly session: string;
  readonly row: string;
  readonly budgetShare: number | undefined;
}

/** A session that was replayed. */
export interface ComparedSession {
  readonly name: string;
  readonly series: readonly RoundSeries[];
  readonly limits: RoundLimits | undefined;
}

/** A comparison as a report tells it. Plain data. */
export interface Comparison {
  readonly title: string;
  /** What was compared with what: sessions, cuts, model, price set. */
  readonly about: readonly string[];
  /** What `keptShare` is called. */
  readonly kept: Measure;
  readonly measures: readonly Measure[];
  /** In the order in which they are listed. */
  readonly rows: readonly ComparedRow[];
  readonly lost: readonly LostItem[];
  readonly sessions: readonly ComparedSession[];
  /** An example of what one of the rows did. */
  readonly example?: { readonly file: string; readonly account: CompactionAccount } | undefined;
}

/** A number in the unit of its measure: `94.2 %`, `12,345`, `$0.42`. */
export function formatFigure(value: number, { unit }: Pick<Measure, 'unit'>): string {
  if (!Number.isFinite(value)) return '';
  if (unit === 'share') return formatShare(value);
  return unit === 'tokens' ? formatCount(value) : formatDollars(value);
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
