import {
  type CountedPiece,
  type Counter,
  errorsByKind,
  type KindError,
  meanOverKinds,
  percent,
} from './accuracy.ts';
import type { Collection } from './corpus.ts';

/** What one table of the report is made from. */
export interface ReportPart {
  readonly title: string;
  readonly collection: Collection;
  readonly pieces: readonly CountedPiece[];
}

/** What the report is made from. */
export interface ReportInput {
  readonly contexts: number;
  readonly fitted: Collection;
  readonly parts: readonly ReportPart[];
  readonly counters: Readonly<Record<string, Counter>>;
}

/** The report of a fit, as markdown. */
export function writeReport({ contexts, fitted, parts, counters }: ReportInput): string {
  const lines = [
    '# The text estimator: how it was fitted, how far off it is',
    '',
    'Written by `bench/estimator/fit.ts`. Exact counts are those of o200k. Each cell is mean |error| / 95th percentile',
    '(bias) in percent; the last row is the mean over the kinds.',
    '',
    `The automaton knows ${contexts} contexts.`,
    '',
    ...parts.flatMap((part) => [
      '',
      `## ${part.title}`,
      '',
      ...errorTable(part.pieces, counters),
      ...missing(part.collection),
    ]),
    '',
    '## What it was fitted on',
    '',
    '| kind | files | pieces | characters |',
    '| --- | --- | --- | --- |',
    ...fitted.found.map(
      (row) => `| ${row.kind} | ${row.files} | ${row.pieces} | ${row.sizeChars.toLocaleString('en')} |`,
    ),
    ...missing(fitted),
    '',
    '## What to mind',
    '',
    '- Generated texts of both halves come from one generator, so the errors on logs, tables of numbers, identifiers,',
    '  trees, diffs and random base64 are the most flattering ones.',
    '- The size of the automaton and the strength of the ridge were chosen with both tables in view; the weights',
    '  themselves never saw either.',
    '- Texts that look like they hold a kind that is never fitted are left out by patterns (`held-out.ts`), which cannot',
    '  catch everything: a recorded conversation may still quote a line of Python or HTML.',
    '',
    'Files come from the folders that `sources.ts` lists, logs, tables, identifiers, trees and diffs also from the seeded',
    'generators in `synthetic.ts`, agent conversations from recordings.',
    '',
  ];
  return lines.join('\n').replace(/\n{3,}/g, '\n\n');
}

/** Errors of several counters side by side, one row a kind. */
export function errorTable(
  pieces: readonly CountedPiece[],
  counters: Readonly<Record<string, Counter>>,
): readonly string[] {
  const columns = Object.entries(counters).map(([name, counter]) => ({
    name,
    errors: errorsByKind(pieces, counter),
  }));
  const kinds = columns[0]?.errors ?? [];
  return [
    `| kind | pieces | ${columns.map(({ name }) => name).join(' | ')} |`,
    `| --- | --- | ${columns.map(() => '---').join(' | ')} |`,
    ...kinds.map(
      ({ kind, pieces: count }, row) =>
        `| ${kind} | ${count} | ${columns.map(({ errors }) => cell(errors[row])).join(' | ')} |`,
    ),
    `| **mean** | | ${columns.map(({ errors }) => `**${percent(meanOverKinds(errors))}**`).join(' | ')} |`,
  ];
}

function cell(error: KindError | undefined): string {
  if (error === undefined) return '';
  const sign = error.bias < 0 ? '−' : '+';
  return `${percent(error.mean)} / ${percent(error.p95)} (${sign}${percent(Math.abs(error.bias))})`;
}

function missing(collection: Collection): readonly string[] {
  return collection.missing.length === 0
    ? []
    : ['', `Not on this machine: ${collection.missing.join(', ')}.`];
}
