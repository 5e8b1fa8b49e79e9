import { countOf } from './terminal.ts';

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
