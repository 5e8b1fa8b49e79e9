import { formatCount } from '../terminal.ts';
import { markShapes } from './charts.ts';
import { constantMarkup, html, type Markup, textOfMarkup } from './markup.ts';
import { pageStyle, pageStyleHash } from './style.ts';

export interface PageContent {
  readonly title: string;
  /** What kind of report this is: `inspection`. */
  readonly kind: string;
  readonly heading: Markup;
  readonly lead: Markup | undefined;
  readonly body: readonly Markup[];
  /** A constant of the project that runs in the page, and its hash. */
  readonly script?: { readonly text: string; readonly hash: string } | undefined;
}

/** Nothing may be loaded, and nothing run but what is named by its hash: the page is its own text and one stylesheet. */
function policyFor(script: PageContent['script']): string {
  const run = script === undefined ? '' : ` script-src 'sha256-${script.hash}';`;
  return `default-src 'none'; style-src 'sha256-${pageStyleHash}';${run} base-uri 'none'; form-action 'none'`;
}

/** Says which program wrote the page. */
export const PAGE_GENERATOR = '<meta name="generator" content="roundfold">';

/** One self-contained page. It needs no network, and no font but those of the reader's machine. */
export function renderPage({ title, kind, heading, lead, body, script }: PageContent): string {
  const run = script === undefined ? undefined : constantMarkup(`<script>${script.text}</script>`);
  const promise =
    script === undefined ? 'This page loads nothing and runs no script.' : 'This page loads nothing.';
  const page = html`
    <html lang="en">
    <head>
    <meta charset="utf-8">
    ${constantMarkup(PAGE_GENERATOR)}
    <meta http-equiv="Content-Security-Policy" content="${constantMarkup(policyFor(script))}">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <meta name="referrer" content="no-referrer">
    <title>${title}</title>
    <style>${constantMarkup(pageStyle)}</style>
    </head>
    <body>
    <a class="skip" href="#content">Skip to the report</a>
    ${markShapes}
    <header class="top">
    <p class="name">roundfold ${kind}</p>
    <h1>${heading}</h1>
    ${lead === undefined ? undefined : html`<p class="lead">${lead}</p>`}
    </header>
    <main id="content" tabindex="-1">${body}</main>
    <footer>Made offline by roundfold. ${promise}</footer>
    ${run}
    </body>
    </html>`;
  return `<!doctype html>\n${textOfMarkup(page)}\n`;
}

type Content = readonly (Markup | undefined)[];

/** A part of a page under a heading of its own. */
export function section(id: string, heading: string, content: Content): Markup {
  return headed(id, html`<h2 id="${id}">${heading}</h2>`, content);
}

/** A part of a part. */
export function subsection(id: string, heading: string, content: Content): Markup {
  return headed(id, html`<h3 id="${id}">${heading}</h3>`, content);
}

function headed(id: string, heading: Markup, content: Content): Markup {
  const shown = content.filter((piece) => piece !== undefined);
  return html`<section aria-labelledby="${id}">${heading}${shown}</section>`;
}

export interface Statistic {
  readonly name: string;
  readonly value: string;
  readonly detail?: string | undefined;
  readonly level?: 'ok' | 'warning' | 'critical' | undefined;
}

/** The most important numbers of a page. */
export function statistics(list: readonly Statistic[]): Markup {
  return html`<dl class="stats">${list.map(statistic)}</dl>`;
}

function statistic({ name, value, detail, level }: Statistic): Markup {
  const colour = level === undefined ? undefined : html` class="${level}"`;
  const small = detail === undefined ? undefined : html`<small${colour}>${detail}</small>`;
  return html`<div><dt>${name}</dt><dd>${value}${small}</dd></div>`;
}

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

/** A column of figures. */
export function figureColumn<Row>(heading: string, cell: TableColumn<Row>['cell']): TableColumn<Row> {
  return { heading, isNumber: true, cell };
}

/** A column of counts: `12,345`. */
export function countColumn<Row>(heading: string, count: (row: Row) => number): TableColumn<Row> {
  return figureColumn(heading, (row) => formatCount(count(row)));
}

/** Content behind a summary that opens it; nothing without content. */
export function folded(summary: string, content: Markup | undefined): Markup | undefined {
  return content === undefined ? undefined : html`<details><summary>${summary}</summary>${content}</details>`;
}

/** Each group is a `tbody` of its own, so the one before it ends here. */
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
