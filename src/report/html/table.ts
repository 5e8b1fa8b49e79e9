import { html, type Markup } from './markup.ts';

/** A column of a table: its heading and what stands in it. */
export interface TableColumn<Row> {
  readonly heading: string;
  cell(row: Row, index: number): Markup | string;
  readonly isNumber?: boolean;
  /** Leads the row: its cells are headings. At most one column. */
  readonly isRowHeading?: boolean;
  /** Holds a bar, which takes what room there is. */
  readonly isMeter?: boolean;
  /** Left out on narrow screens, where the chart beside the table shows the same. */
  readonly isRoomy?: boolean;
  /** Never broken into lines. */
  readonly isWhole?: boolean;
}

export interface TableOptions<Row> {
  readonly caption: string;
  /** How many rows to show; the rest is counted in a line of its own. Default all. */
  readonly limit?: number;
  /** What a row is, for that line: `run`. */
  readonly noun?: string;
  /** Has so many columns that narrow screens scroll it: it can then be reached by keyboard. */
  readonly isWide?: boolean;
  /** What the group is called that this row begins; undefined for a row that begins none. */
  groupName?(row: Row, index: number): string | undefined;
}

/** Rows as a table with a caption and headings; nothing when there are no rows. */
export function table<Row>(
  rows: readonly Row[],
  columns: readonly TableColumn<Row>[],
  options: TableOptions<Row>,
): Markup | undefined {
  if (rows.length === 0) return undefined;
  const { caption, limit = rows.length, noun = 'row', isWide = false } = options;
  const lines = rows.slice(0, limit).map((row, index) => {
    const name = options.groupName?.(row, index);
    const cells = columns.map((column) => tableCell(column, row, index));
    return html`${name === undefined ? undefined : groupHeading(name, columns.length, index)}<tr>${cells}</tr>`;
  });
  const rest = rows.length - lines.length;
  const more =
    rest > 0 ? html`<p class="note">… and ${rest} more ${noun}${rest === 1 ? '' : 's'}</p>` : undefined;
  const grid = html`<table${isWide ? html` class="wide"` : undefined}><caption><span>${caption}</span></caption><thead><tr>${columns.map(tableHeading)}</tr></thead><tbody>${lines}</tbody></table>`;
  const around = isWide
    ? html`<div class="scroll" role="region" tabindex="0" aria-label="${caption}">${grid}</div>`
    : html`<div class="scroll">${grid}</div>`;
  return html`${around}${more}`;
}

/** Something that is there for whoever wants it. */
export function folded(summary: string, content: Markup | undefined): Markup | undefined {
  return content === undefined ? undefined : html`<details><summary>${summary}</summary>${content}</details>`;
}

/** A group is a body of its own: the one before it ends here. */
function groupHeading(name: string, columns: number, index: number): Markup {
  const end = index === 0 ? undefined : html`</tbody><tbody>`;
  return html`${end}<tr class="group"><th colspan="${columns}" scope="rowgroup">${name}</th></tr>`;
}

function tableHeading<Row>(column: TableColumn<Row>): Markup {
  return html`<th scope="col"${classes(column)}>${column.heading}</th>`;
}

function tableCell<Row>(column: TableColumn<Row>, row: Row, index: number): Markup {
  const content = column.cell(row, index);
  return column.isRowHeading === true
    ? html`<th scope="row"${classes(column)}>${content}</th>`
    : html`<td${classes(column)}>${content}</td>`;
}

function classes<Row>({ isNumber, isRoomy, isWhole, isMeter }: TableColumn<Row>): Markup | undefined {
  const names = [
    isNumber === true && 'n',
    isRoomy === true && 'roomy',
    isWhole === true && 'nowrap',
    isMeter === true && 'metered',
  ];
  const given = names.filter((name) => name !== false);
  return given.length === 0 ? undefined : html` class="${given.join(' ')}"`;
}
