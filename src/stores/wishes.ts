/** What people ask for conversations, as a column of text. Holds no content, so nothing of it is sealed. */
import { isObject } from '../conversation/json.ts';
import type { Wishes } from './store.ts';

/** Empty when nothing is asked. */
export function wishesInColumn({ foldedUpTo, pinned = [] }: Wishes): string {
  if (foldedUpTo === undefined && pinned.length === 0) return '';
  return JSON.stringify({ foldedUpTo, pinned });
}

/** What somebody else has written there asks for nothing. */
export function wishesFromColumn(column: string): Wishes {
  const value = parse(column);
  if (!isObject(value)) return {};
  const { foldedUpTo, pinned } = value;
  return {
    ...(isPlace(foldedUpTo) ? { foldedUpTo } : {}),
    ...(Array.isArray(pinned) ? { pinned: pinned.filter(isPlace) } : {}),
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function isPlace(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}
