import type { BinModel, FeatureTable } from '../../src/summarizers/digest/bins.ts';
import { entityTable } from '../../src/summarizers/digest/entity-features.ts';
import { lineTable } from '../../src/summarizers/digest/line-features.ts';
import type { DigestModels } from '../../src/summarizers/digest/worth.ts';
import type { Figures } from './score.ts';

/** A budget, and what the digest is worth at it. */
export interface Level {
  readonly name: string;
  readonly figures: Figures;
}

export interface ReportData {
  readonly sessions: number;
  readonly cuts: number;
  readonly folds: number;
  readonly levels: readonly Level[];
  /** How well the models rank, on held-out sessions and on their own. */
  readonly ranking: readonly { readonly name: string; readonly held: number; readonly own: number }[];
  readonly models: DigestModels;
}

/** The report of a fit: figures only. */
export function writeReport(data: ReportData): string {
  return [
    '# Fit of the digest',
    '',
    `Written by \`node bench/digest/fit.ts\` over ${data.sessions} recorded sessions with ${data.cuts} cuts. Every session is scored with weights that were fitted on others (${data.folds} folds). What stays around the digest: pinned texts up to half of the budget, and the two newest rounds up to a third of the rest.`,
    '',
    'Only the weights are held out. Features, worths and shares were chosen by looking at scores of the same sessions, so the figures are somewhat higher than new sessions will show. What stays around the digest is not what a strategy keeps: a strategy that never gives up a pinned text has less room at small budgets.',
    '',
    '## What is kept, in %',
    '',
    '| budget | future reference | bound | edit anchors | constraints | changed files | tokens |',
    '|---|---|---|---|---|---|---|',
    ...data.levels.map(
      ({ name, figures }) => `| ${name} | ${Object.values(figures).map(percent).join(' | ')} |`,
    ),
    '',
    '## How well needs rank above the rest, in %',
    '',
    '| what | held out | fitted on |',
    '|---|---|---|',
    ...data.ranking.map(({ name, held, own }) => `| ${name} | ${percent(held)} | ${percent(own)} |`),
    '',
    '## What the models look at',
    '',
    'How far apart the lightest and the heaviest bin of each feature are, in log odds.',
    '',
    '| names of later calls | range |',
    '|---|---|',
    ...ranges(entityTable, data.models.entity),
    '',
    '| lines of later edits | range |',
    '|---|---|',
    ...ranges(lineTable, data.models.line),
    '',
  ].join('\n');
}

function percent(share: number | undefined): string {
  return share === undefined ? '–' : (share * 100).toFixed(1);
}

function ranges<Item, Setting>(table: FeatureTable<Item, Setting>, { weights }: BinModel): readonly string[] {
  const rows = table.features.map(({ name, size }, number) => {
    const first = table.offsets[number] ?? 0;
    const own = Array.from({ length: size }, (_, bin) => weights[first + bin] ?? 0);
    return { name, range: Math.max(...own) - Math.min(...own) };
  });
  return rows
    .toSorted((left, right) => right.range - left.range)
    .map(({ name, range }) => `| ${name} | ${range.toFixed(2)} |`);
}
