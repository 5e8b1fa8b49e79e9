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

const SHORTEST_ID = 12;

/** How many letters of the ids tell them apart, and a few more so that they stay apart for a while. */
export function idLength(ids: readonly string[]): number {
  let length = SHORTEST_ID;
  const sorted = [...new Set(ids)].sort();
  for (let index = 1; index < sorted.length; index++) {
    length = Math.max(length, commonLength(sorted[index - 1] ?? '', sorted[index] ?? '') + 1);
  }
  return length;
}

function commonLength(left: string, right: string): number {
  let length = 0;
  while (length < left.length && left[length] === right[length]) length++;
  return length;
}

/** `messages 3 to 7`, counted from 1, of a stretch that counts from 0 and ends before `end`. */
export function formatPlace({ start, end }: { readonly start: number; readonly end: number }): string {
  return end - start === 1 ? `message ${end}` : `messages ${start + 1} to ${end}`;
}
