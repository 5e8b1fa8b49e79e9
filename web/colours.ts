/** A colour of the style as it is now, for what is drawn on a canvas. */
export function colour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

const dark = matchMedia('(prefers-color-scheme: dark)');

/** Calls when the screen turns light or dark. The answer ends it. */
export function watchColours(redraw: () => void): () => void {
  dark.addEventListener('change', redraw);
  return () => dark.removeEventListener('change', redraw);
}
