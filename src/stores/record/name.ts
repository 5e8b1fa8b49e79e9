import { RoundfoldError } from '../../conversation/errors.ts';

/** Several names make an index entry, and databases bound those. */
const MAXIMUM_BYTES = 256;

/** Nothing that would be escaped. */
const PLAIN = /^[ !#-[\]-~]*$/;

/**
 * A name as it stands in a column: the text itself, with escapes for what databases do not keep (NUL, half surrogates).
 * Different names stay different.
 * @throws `usage` when it is too long
 */
export function nameInColumn(name: string): string {
  const column = PLAIN.test(name) ? name : JSON.stringify(name).slice(1, -1);
  if (column.length * 3 > MAXIMUM_BYTES && Buffer.byteLength(column) > MAXIMUM_BYTES) {
    throw new RoundfoldError('usage', `a name in a store has at most ${MAXIMUM_BYTES} bytes`, {
      remedy: 'Use a hash of the name.',
    });
  }
  return column;
}

/** The name that `nameInColumn` was given. */
export function nameFromColumn(column: string): string {
  if (!column.includes('\\')) return column;
  // Columns may have been changed by others: what is no escaped text is its own name.
  try {
    return String(JSON.parse(`"${column}"`));
  } catch {
    return column;
  }
}
