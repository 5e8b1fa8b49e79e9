/** Resolves when the signal is aborted, and forgets about it once `settled` is. */
export function abortOf(signal: AbortSignal, settled: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true, signal: settled });
  });
}
