/** Draws numbers as text for a terminal. Colour is the caller's business. */

const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/** A bar of `share` (0 to 1) of `width` columns, in eighths of a column; in `#` for terminals without Unicode. */
export function drawBar(share: number, width: number, isPlain = false): string {
  const clamped = Math.min(1, Math.max(0, Number.isFinite(share) ? share : 0));
  if (isPlain) return '#'.repeat(Math.round(clamped * width)).padEnd(width, '.');
  const eighths = Math.round(clamped * width * 8);
  const bar = '█'.repeat(Math.floor(eighths / 8)) + (EIGHTHS[eighths % 8] ?? '');
  return bar.padEnd(width, ' ');
}

/** `12,345`. */
export function formatCount(count: number): string {
  return Math.round(count).toLocaleString('en-US');
}

/** `950`, `12.3k`, `1.25M`: for where space is short. */
export function formatShort(count: number): string {
  if (count < 1000) return String(Math.round(count));
  if (count < 999_950) return `${(count / 1000).toFixed(count < 99_950 ? 1 : 0)}k`;
  return `${(count / 1_000_000).toFixed(2)}M`;
}

/** `61.2 %`. */
export function formatShare(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}

/** `950 B`, `12.3 kB`, `1.2 GB`. */
export function formatBytes(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  let value = bytes / 1000;
  for (const unit of ['kB', 'MB', 'GB']) {
    if (value < 999.95) return `${value.toFixed(1)} ${unit}`;
    value /= 1000;
  }
  return `${value.toFixed(1)} TB`;
}

/** Milliseconds of ±100,000,000 days around 1970: what a date can hold. */
const LARGEST_TIME = 8.64e15;

/** `2026-11-16 05:29`, in UTC. */
export function formatTime(milliseconds: number): string {
  if (Math.abs(milliseconds) > LARGEST_TIME) return '?';
  return new Date(milliseconds).toISOString().slice(0, 16).replace('T', ' ');
}

/** `1 call`, `2 calls`. */
export function countOf(count: number, noun: string, plural = `${noun}s`): string {
  return `${formatCount(count)} ${count === 1 ? noun : plural}`;
}

export interface Column {
  readonly align: 'left' | 'right';
  /** Columns at most; longer cells end in `…`. */
  readonly maximum?: number;
}

/** Rows as aligned columns, two spaces apart, each line behind `indent`. */
export function drawTable(
  rows: readonly (readonly string[])[],
  columns: readonly Column[],
  indent = '  ',
): string {
  const cells = rows.map((row) => row.map((cell, index) => shorten(cell, columns[index]?.maximum)));
  const widths = columns.map((_, index) => Math.max(0, ...cells.map((row) => row[index]?.length ?? 0)));
  return cells
    .map((row) => {
      const padded = row.map((cell, index) => {
        const width = widths[index] ?? 0;
        return columns[index]?.align === 'right' ? cell.padStart(width) : cell.padEnd(width);
      });
      return `${indent}${padded.join('  ').trimEnd()}\n`;
    })
    .join('');
}

function shorten(cell: string, maximum = Number.POSITIVE_INFINITY): string {
  return cell.length > maximum ? `${cell.slice(0, maximum - 1)}…` : cell;
}

/** Pages from the first to the last, both included, counted from 1. */
export interface PageRange {
  readonly first: number;
  readonly last: number;
}

/** `page 1 of 17`, `pages 2 to 4 of 17`. */
export function formatPages({ first, last }: PageRange, pages: number): string {
  return first === last ? `page ${first} of ${pages}` : `pages ${first} to ${last} of ${pages}`;
}

/** Says that a page is missing, and how many there are. */
export function noSuchPage(page: number | string, pages: number): string {
  return `there is no page ${page}: this handle has ${countOf(pages, 'page')}`;
}
