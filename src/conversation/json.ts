/** A JSON object of which nothing is known yet: every key may be missing and hold anything. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** Whether a parsed value is an object (and no array). */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value as a string, or undefined. */
export function asString(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** The value as a list; an empty one for everything else. */
export function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The value as a non-negative finite number; 0 for everything else. */
export function asCount(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) && value > 0 ? value : 0;
}
