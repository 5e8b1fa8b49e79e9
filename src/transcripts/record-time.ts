const MILLISECONDS_PER = { milliseconds: 1, seconds: 1000 } as const;

/** Dates end here, to either side of 1970. */
const LAST_TIME_MS = 8.64e15;

/**
 * A recorded time as ISO 8601. A string stays as it is; a number counts from 1970 in `unit` (default `milliseconds`).
 * Undefined for everything else.
 */
export function timestampOf(
  value: unknown,
  unit: keyof typeof MILLISECONDS_PER = 'milliseconds',
): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value !== 'number') return undefined;
  const timeMs = value * MILLISECONDS_PER[unit];
  return Math.abs(timeMs) <= LAST_TIME_MS ? new Date(timeMs).toISOString() : undefined;
}
