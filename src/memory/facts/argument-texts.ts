/** Deeper or longer arguments are data, not something that is called by its name. */
const DEEPEST = 8;
const MOST = 5000;

/** The texts in the arguments of a call (parsed, or free text), those of outer levels first. Never throws. */
export function argumentTexts(given: unknown): readonly string[] {
  const texts: string[] = [];
  let level: readonly unknown[] = [given];
  for (let depth = 0; depth < DEEPEST && level.length > 0; depth++) {
    const next: unknown[] = [];
    for (const value of level) {
      if (typeof value === 'string') texts.push(value);
      else if (typeof value === 'object' && value !== null) next.push(...valuesOf(value, MOST - next.length));
      if (texts.length >= MOST) return texts;
    }
    level = next;
  }
  return texts;
}

function valuesOf(value: object, most: number): readonly unknown[] {
  const values: readonly unknown[] = Array.isArray(value) ? value : Object.values(value);
  return values.slice(0, Math.max(0, most));
}
