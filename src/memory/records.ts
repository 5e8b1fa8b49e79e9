import { isObject } from '../conversation/json.ts';

/** Larger JSON is data that no line of a memory could tell. */
const LONGEST = 200_000;
const LONGEST_ROW = 300;
const DEEPEST = 6;

/**
 * Lines that tell a JSON text: an object whose values are short is one line, `key value, key value`; a list has a line for each
 * of its elements. Undefined for every other text.
 */
export function flattenJson(text: string): readonly string[] | undefined {
  const start = text.trimStart().charAt(0);
  if ((start !== '{' && start !== '[') || text.length > LONGEST) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  const rows: string[] = [];
  writeRows(value, '', rows, 0);
  return rows;
}

function writeRows(value: unknown, name: string, rows: string[], depth: number): void {
  const whole = inline(value);
  if (whole.length <= LONGEST_ROW || depth >= DEEPEST || typeof value !== 'object' || value === null) {
    rows.push(name === '' ? whole : `${name}: ${whole}`);
    return;
  }
  if (Array.isArray(value)) {
    for (const [index, each] of value.entries()) writeRows(each, `${name}[${index}]`, rows, depth + 1);
    return;
  }
  const short: string[] = [];
  for (const [key, each] of Object.entries(value)) {
    const text = inline(each);
    if (text.length <= 80) short.push(`${key} ${text}`);
    else writeRows(each, name === '' ? key : `${name}.${key}`, rows, depth + 1);
  }
  if (short.length > 0) rows.push(`${name === '' ? '' : `${name}: `}${short.join(', ')}`);
}

/** A value on one line, without the signs that only a parser needs. */
function inline(value: unknown): string {
  if (typeof value === 'string') return value.replaceAll(/\s+/g, ' ');
  if (typeof value !== 'object' || value === null) return String(value);
  if (Array.isArray(value)) return `[${value.map(inline).join('; ')}]`;
  return Object.entries(value)
    .map(([key, each]) => `${key} ${isObject(each) ? `(${inline(each)})` : inline(each)}`)
    .join(', ');
}
