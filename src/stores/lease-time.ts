import { RoundfoldError } from '../conversation/errors.ts';

/** When a lease was taken or renewed, and until when it holds. */
export interface LeaseTime {
  readonly takenAt: number;
  readonly expiresAt: number;
}

/**
 * Whether a lease holds now. One that seems to begin further in the future than it lasts comes from a clock that was set
 * back since, and must not block for years.
 */
export function isHeld({ takenAt, expiresAt }: LeaseTime, now: number): boolean {
  return now < expiresAt && now >= takenAt - (expiresAt - takenAt);
}

/** @throws `usage` when it is no duration */
export function leaseDuration(milliseconds: number): number {
  if (Number.isFinite(milliseconds) && milliseconds > 0) return Math.ceil(milliseconds);
  throw new RoundfoldError('usage', 'a lease lasts a positive number of milliseconds');
}
