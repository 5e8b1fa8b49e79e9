import { callArguments, type ToolCallBlock } from '../../conversation/message.ts';

/** Arguments inside of arguments get lines of their own down to here; what is deeper is written as JSON. */
const DEEPEST = 6;

/**
 * The arguments of a call to be read, each on a line behind its name, and a text of several lines below it, as it is. Free
 * text stays free text. Empty for a call without arguments.
 */
export function argumentLines(call: ToolCallBlock): string {
  const given = callArguments(call);
  if (given !== undefined) return linesOf(given, '', 1).join('\n');
  return typeof call.input === 'string' ? call.input : (JSON.stringify(call.input) ?? '');
}

function linesOf(values: object, path: string, depth: number): readonly string[] {
  return Object.entries(values).flatMap(([key, value]: readonly [string, unknown]) =>
    linesOfValue(value, `${path}${key}`, depth),
  );
}

function linesOfValue(value: unknown, path: string, depth: number): readonly string[] {
  if (typeof value === 'string') return [value.includes('\n') ? `${path}:\n${value}` : `${path}: ${value}`];
  const json = JSON.stringify(value);
  if (json === undefined) return [];
  // Short lists and objects read best as they are, unless a text in them would have to be escaped.
  const isReadable = !json.includes('\\') || depth >= DEEPEST;
  if (isReadable || typeof value !== 'object' || value === null) return [`${path}: ${json}`];
  return linesOf(value, `${path}.`, depth + 1);
}
