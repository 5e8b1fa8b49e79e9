/** Values nested deeper than this are left out. */
const MAXIMUM_DEPTH = 12;

/**
 * A JSON value as lines: what belongs together in one object stands on one line as `key: value, key: value`, texts of
 * several lines keep their lines, and lists and inner objects follow, named by their key.
 */
export function flattenValue(value: unknown, label = '', depth = 0): readonly string[] {
  if (typeof value === 'string') return labelled(label, value).split('\n');
  if (typeof value !== 'object' || value === null)
    return value === undefined ? [] : [labelled(label, String(value))];
  if (depth >= MAXIMUM_DEPTH) return [];
  if (Array.isArray(value)) return flattenList(value, label, depth);
  const short: string[] = [];
  const rest: string[] = [];
  let isNamed = false;
  for (const [key, inner] of Object.entries(value)) {
    // Records by their ids name each id twice: as the key, and again inside.
    if (inner === label && label !== '') isNamed = true;
    else if (isShort(inner)) short.push(labelled(key, String(inner)));
    else rest.push(...flattenValue(inner, key, depth + 1));
  }
  if (short.length > 0) return [labelled(label, short.join(', ')), ...rest];
  return isNamed ? [label, ...rest] : rest;
}

function flattenList(list: readonly unknown[], label: string, depth: number): readonly string[] {
  if (list.every(isShort)) return list.length === 0 ? [] : [labelled(label, list.join(', '))];
  return list.flatMap((inner) => flattenValue(inner, label, depth + 1));
}

/** Whether a value fits on a line with others. */
function isShort(value: unknown): boolean {
  if (typeof value === 'string') return value.length <= 200 && !value.includes('\n');
  return typeof value === 'number' || typeof value === 'boolean';
}

function labelled(label: string, text: string): string {
  return label === '' ? text : `${label}: ${text}`;
}
