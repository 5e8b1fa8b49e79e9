import type { Receipt } from '../core/receipt.ts';

/**
 * A receipt for a reader who has no store: without the handles of what left, under which nothing could be read. Plain
 * data.
 */
export function receiptWithoutHandles(receipt: Receipt): Receipt {
  return {
    ...receipt,
    runs: receipt.runs.map(({ fate, start, end, tokens }) => ({ fate, start, end, tokens })),
  };
}
