import { RoundfoldError } from '../../conversation/errors.ts';
import { countOf } from '../../report/terminal.ts';
import type { StoreFault } from '../../stores/store.ts';
import type { StoreAccess } from './access.ts';

const reasons: readonly {
  readonly reason: StoreFault['reason'];
  readonly what: (count: number) => string;
  readonly remedy: string;
}[] = [
  {
    reason: 'wrong-key',
    what: (count) => `${count === 1 ? 'was' : 'were'} written with another secret`,
    remedy:
      'Set ROUNDFOLD_STORE_SECRET to the secret of these records, and leave it unset for a store that has none.',
  },
  {
    reason: 'damaged',
    what: (count) => `${count === 1 ? 'is' : 'are'} damaged`,
    remedy: '`roundfold store verify` lists what is wrong, and `roundfold store import` puts back an export.',
  },
  {
    reason: 'unknown-version',
    what: (count) => `${count === 1 ? 'is' : 'are'} of an unknown version`,
    remedy:
      'Update roundfold if a newer version wrote them. What builds before this one wrote is not read any more.',
  },
];

/** What records that cannot be served mean for the user. */
export function faultError(faults: readonly StoreFault[]): RoundfoldError {
  const found = reasons
    .map((one) => ({ ...one, count: faults.filter(({ reason }) => reason === one.reason).length }))
    .filter(({ count }) => count > 0);
  const message = found.map(({ count, what }) => `${countOf(count, 'record')} ${what(count)}`).join(', ');
  return new RoundfoldError('store', `${message} and cannot be read`, {
    remedy: found.map(({ remedy }) => remedy).join(' '),
  });
}

/**
 * For those who found nothing, or not all: it may be there.
 * @throws `store` when records could not be served
 */
export function refuseFaults(access: StoreAccess): void {
  const faults = access.takeFaults();
  if (faults.length > 0) throw faultError(faults);
}
