import { RoundfoldError } from '../../conversation/errors.ts';
import { noSuchPage, type PageRange } from '../../report/page-words.ts';
import type { GivenArguments, OptionDefinition } from '../command.ts';
import { readWholeNumber } from './whole-number.ts';

/** Ways to say how much is read: one of them at most. */
export const pageOptions: readonly OptionDefinition[] = [
  { flags: '--page <number>', help: 'which page, from 1 on (default 1)' },
  { flags: '--pages <first-last>', help: 'several pages: 3-5' },
  { flags: '--all', help: 'every page; with --json the messages themselves' },
  { flags: '--raw', help: 'the messages as JSON, byte for byte as they were kept' },
];

/**
 * The pages that are asked for: the first one where nothing is said, an endless range for all of them.
 * @throws `usage` for what is no range, and for two ways of saying it at once
 */
export function readPageRange(given: GivenArguments): PageRange {
  const page = readWholeNumber(given, 'page', 1);
  const pages = given.text('pages');
  const isAll = given.flag('all');
  if ([page !== undefined, pages !== undefined, isAll, given.flag('raw')].filter(Boolean).length > 1) {
    throw new RoundfoldError('usage', '--page, --pages, --all and --raw cannot be combined', {
      remedy: 'Give one of them.',
    });
  }
  if (pages !== undefined) return parseRange(pages);
  return isAll ? { first: 1, last: Number.POSITIVE_INFINITY } : { first: page ?? 1, last: page ?? 1 };
}

function parseRange(text: string): PageRange {
  const [, first, last] = /^(\d{1,9})-(\d{1,9})$/.exec(text) ?? [];
  const range = { first: Number(first), last: Number(last) };
  if (range.first >= 1 && range.last >= range.first) return range;
  throw new RoundfoldError(
    'usage',
    `--pages takes a first and a last page, not ${JSON.stringify(text.slice(0, 40))}`,
    { remedy: 'For the third to the fifth: --pages 3-5.' },
  );
}

/**
 * Holds a range to the pages that there are.
 * @throws `usage` when it asks for one that does not exist
 */
export function withinPages({ first, last }: PageRange, pages: number): PageRange {
  const end = last === Number.POSITIVE_INFINITY ? pages : last;
  if (end <= pages) return { first, last: end };
  throw new RoundfoldError('usage', noSuchPage(Math.max(first, pages + 1), pages), {
    remedy: pages === 1 ? 'Leave the number out.' : `Give a number from 1 to ${pages}.`,
  });
}
