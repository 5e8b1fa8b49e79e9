import { drawBar, formatShare } from '../../report/terminal.ts';
import type { Terminal } from '../terminal.ts';

const INTERVAL_MS = 100;

/** A bar on the talking side, where somebody watches. */
export function startBar(terminal: Terminal, words: string) {
  let nextMs = 0;
  let isShown = false;
  return {
    /** So much of the work is done, from 0 to 1. */
    update(share: number): void {
      const nowMs = Date.now();
      if (!terminal.isWatched || nowMs < nextMs) return;
      nextMs = nowMs + INTERVAL_MS;
      isShown = true;
      terminal.redraw(`${words} ${drawBar(share, 24, terminal.isPlain)} ${formatShare(share)}`);
    },
    /** Wipes the bar away. */
    end(): void {
      if (isShown) terminal.redraw('');
      isShown = false;
    },
  };
}
