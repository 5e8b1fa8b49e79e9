import { drawBar, formatShare } from '../report/terminal.ts';
import type { Terminal } from './terminal.ts';

export interface Progress {
  /** So many of the input's bytes have been read. */
  update(bytes: number): void;
  /** Wipes the bar away. */
  end(): void;
}

const DELAY_MS = 1000;
const INTERVAL_MS = 100;

/** A bar on the talking side once reading takes longer than a second, and only where somebody watches. */
export function startProgress(terminal: Terminal, name: string, sizeBytes: number | undefined): Progress {
  if (!terminal.isWatched) return { update: () => undefined, end: () => undefined };
  let nextMs = Date.now() + DELAY_MS;
  let isShown = false;
  return {
    update(bytes) {
      const nowMs = Date.now();
      if (nowMs < nextMs) return;
      nextMs = nowMs + INTERVAL_MS;
      isShown = true;
      const share = sizeBytes === undefined || sizeBytes === 0 ? undefined : Math.min(1, bytes / sizeBytes);
      const state =
        share === undefined ? '' : `${drawBar(share, 24, terminal.isPlain)} ${formatShare(share)} of `;
      terminal.redraw(`reading ${name} ${state}${(bytes / 1e6).toFixed(0)} MB`);
    },
    end() {
      if (isShown) terminal.redraw('');
      isShown = false;
    },
  };
}
