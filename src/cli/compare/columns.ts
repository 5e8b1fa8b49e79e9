import { drawTable } from '../../report/terminal.ts';
import { type ComparedMeasure, measures, terminalOrder } from './measures.ts';
import type { SummaryRow } from './summary.ts';

/** Between two columns, and in front of the first. */
const GAP = 2;
/** Room for `100.0`, and for `$0.0123`. */
const FIGURE_COLUMNS = 5;
const COST_COLUMNS = 7;

/** The measures that a terminal is wide enough for, beside names of rows and a cost, in the order of all measures. */
export function fittingMeasures(
  rows: readonly SummaryRow[],
  { columns, nameColumns }: { readonly columns: number; readonly nameColumns: number },
): readonly ComparedMeasure[] {
  let left = columns - GAP - nameColumns - GAP - COST_COLUMNS;
  const fitting = new Set<ComparedMeasure>();
  for (const figure of terminalOrder) {
    const measure = measures.find((one) => one.figure === figure);
    if (measure === undefined || !rows.some(({ figures }) => figures[figure] !== undefined)) continue;
    left -= GAP + widthOf(measure);
    if (left < 0) break;
    fitting.add(measure);
  }
  return measures.filter((measure) => fitting.has(measure));
}

function widthOf({ name }: ComparedMeasure): number {
  return Math.max(FIGURE_COLUMNS, ...name.split(' ').map(({ length }) => length));
}

/** Rows under headings that take as many lines as their words need. */
export function drawUnderHeadings(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
  nameColumns: number,
): string {
  const wrapped = headings.map((heading, column) => {
    const longest = Math.max(FIGURE_COLUMNS, ...rows.map((cells) => cells[column]?.length ?? 0));
    return wrapWords(heading, longest);
  });
  const height = Math.max(...wrapped.map(({ length }) => length));
  // A short heading stands right above its figures.
  const heads = Array.from({ length: height }, (_, line) =>
    wrapped.map((words) => words[line - height + words.length] ?? ''),
  );
  const columns = headings.map((_, column) =>
    column === 0 ? ({ align: 'left', maximum: nameColumns } as const) : ({ align: 'right' } as const),
  );
  return drawTable([...heads, ...rows], columns);
}

function wrapWords(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const longer = `${lines.at(-1) ?? ''} ${word}`;
    if (lines.length > 0 && longer.length <= width) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}
