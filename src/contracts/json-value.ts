/** A JSON object from a stranger: any key may be there, any key may be missing. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** Whether the value is an object and neither null nor a list. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The list itself, or an empty one when the value is none. */
export function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The object's own value under a key; undefined when it is no object or has no such key of its own. */
export function read(value: unknown, key: string): unknown {
  return isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

/** Like `read`, for texts: undefined for every other type. */
export function readText(value: unknown, key: string): string | undefined {
  const text = read(value, key);
  return typeof text === 'string' ? text : undefined;
}

/** Like `read`, for lists: empty for every other type. */
export function readList(value: unknown, key: string): readonly unknown[] {
  return asList(read(value, key));
}

/** Whether a field is there with a value; `null` counts as left out. */
export function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/** The type of a value with its article, as the OpenAI API names it in its errors. */
export function describeType(value: unknown): string {
  if (value === null || value === undefined) return 'null';
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'an integer' : 'a decimal';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
