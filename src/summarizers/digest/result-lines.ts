import { flattenValue } from './flatten.ts';

/** Whether the lines of a result are simply those of its text. */
export function isPlain(text: string): boolean {
  const isJson = (text.startsWith('{') || text.startsWith('[')) && !text.includes('\n');
  return !isJson && !text.includes(OUTPUT);
}

/** The lines of a tool's result. JSON on one line is taken apart, so that its values can be shown by themselves. */
export function resultLines(text: string, isFile: boolean): readonly string[] {
  const isJson = (text.startsWith('{') || text.startsWith('[')) && !text.includes('\n');
  const value = isJson ? tryParse(text) : undefined;
  if (value !== undefined) return flattenValue(value);
  const lines = withoutPreamble(text.split('\n'));
  return isFile ? lines.map(withoutNumber) : lines;
}

function tryParse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The line behind which the output of a command begins. */
const OUTPUT = 'Output:';
const PREAMBLE_LINES = 10;
const PREAMBLE =
  /^(?:Command: |Chunk ID: |Wall time: |Original token count: |Total output lines: |Process exited with code 0|Output:$)/;

/** Without what a shell tool writes before the output of a command and nobody needs again. */
function withoutPreamble(lines: readonly string[]): readonly string[] {
  const end = lines.slice(0, PREAMBLE_LINES).indexOf(OUTPUT);
  if (end === -1) return lines;
  return lines.filter((line, number) => number > end || !PREAMBLE.test(line));
}

/** `LineReader` leaves out the same, where a text is too long to be taken apart into strings. */
const LINE_NUMBER = /^ {0,8}[0-9]{1,8}[→\t]/;

/** The line without the number that a reading tool put before it: `   12→text`, `   12\ttext`. */
export function withoutNumber(line: string): string {
  return line.replace(LINE_NUMBER, '');
}

const LOOKED_AT = 1000;
const LONGEST_STATUS = 20;
const SHORTEST_WORD = 4;

/** What a tool says of a change, in its first words of some length and without the path: `file been updated`. */
export function statusOf(text: string, path: string): string {
  const head = text.slice(0, LOOKED_AT).trimStart();
  const end = head.indexOf('\n');
  const line = (end === -1 ? head : head.slice(0, end)).replace(path, '');
  let status = '';
  for (const word of line.split(/[\s"{}:,.()]+/)) {
    if (word.length < SHORTEST_WORD) continue;
    if (status.length + word.length > LONGEST_STATUS) break;
    status = status === '' ? word : `${status} ${word}`;
  }
  return status;
}
