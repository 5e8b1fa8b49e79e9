/** Runs a task later, without keeping a process alive for it; the answer calls it off. */
export function later(task: () => void, milliseconds: number): () => void {
  const timer = setTimeout(task, milliseconds);
  // Browsers have a number here, which keeps nothing alive.
  if (typeof timer === 'object') timer.unref();
  return () => clearTimeout(timer);
}

/** Ends when everybody who was waiting has had a turn. */
export function letOthersRun(): Promise<void> {
  return new Promise((resolve) => {
    // Timers take a millisecond and more; not every platform has something better.
    if (typeof setImmediate === 'function') setImmediate(resolve);
    else setTimeout(resolve, 0);
  });
}
