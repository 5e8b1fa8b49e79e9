/** Reads JSON in a tool result as rows of fields. */

import { isObject } from '../conversation/json.ts';

/** Larger JSON is data that no line of a memory could tell. */
const LONGEST = 200_000;
const LONGEST_FIELD = 80;
const LONGEST_VALUE = 300;
const DEEPEST = 6;

/** A row of a record: its fields, of which the first says which row it is. */
export type Row = readonly string[];

/**
 * Rows that tell a JSON text: each object whose values are short, `key value, key value`; a list has a row for each of its
 * elements. Undefined for every other text.
 */
export function flattenJson(text: string): readonly Row[] | undefined {
  const start = text.trimStart().charAt(0);
  if ((start !== '{' && start !== '[') || text.length > LONGEST) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  const rows: Row[] = [];
  writeRows(value, '', rows, 0);
  return rows;
}

function writeRows(value: unknown, name: string, rows: Row[], depth: number): void {
  const lead = name === '' ? '' : `${name}: `;
  const whole = inline(value);
  const isShort = whole.length <= (isObject(value) ? LONGEST_FIELD : LONGEST_VALUE);
  if (isShort || depth >= DEEPEST || typeof value !== 'object' || value === null) {
    rows.push([`${lead}${whole}`]);
    return;
  }
  if (Array.isArray(value)) {
    for (const [index, each] of value.entries()) writeRows(each, `${name}[${index}]`, rows, depth + 1);
    return;
  }
  const fields: string[] = [];
  const longer: [name: string, value: unknown][] = [];
  for (const [key, each] of Object.entries(value)) {
    const text = inline(each, key);
    if (text.length <= LONGEST_FIELD) fields.push(`${key} ${text}`);
    else longer.push([name === '' ? key : `${name}.${key}`, each]);
  }
  const [first, ...rest] = fields;
  if (first !== undefined) rows.push([`${lead}${first}`, ...rest]);
  for (const [key, each] of longer) writeRows(each, key, rows, depth + 1);
}

/** A value on one line, without the signs that only a parser needs, and without what only says its key again. */
function inline(value: unknown, key?: string): string {
  if (typeof value === 'string') return value.replaceAll(/\s+/g, ' ');
  if (typeof value !== 'object' || value === null) return String(value);
  if (Array.isArray(value)) return `[${value.map((each) => inline(each)).join('; ')}]`;
  return Object.entries(value)
    .filter(([, each]) => key === undefined || each !== key)
    .map(([name, each]) => `${name} ${isObject(each) ? `(${inline(each, name)})` : inline(each)}`)
    .join(', ');
}
