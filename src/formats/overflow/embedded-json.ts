/** A message taken apart: what is prose, and what was JSON inside of it. */
export interface SeparatedText {
  readonly words: string;
  readonly values: readonly unknown[];
}

const maximumJsonLength = 262_144;
const maximumEvents = 64;

/**
 * Finds JSON in a client's message (`400 {"error":…}`), in a body given as text, and in the `data:` lines of an event
 * stream. What was parsed is left out of `words`: only its known fields may speak, never a text that merely quotes an
 * error. Text without JSON comes back whole.
 */
export function separateJson(text: string): SeparatedText {
  const start = text.indexOf('{');
  if (start === -1 || text.length > maximumJsonLength) return { words: text, values: [] };
  const end = text.lastIndexOf('}') + 1;
  const whole = parse(text.slice(start, end));
  if (whole !== undefined) return { words: `${text.slice(0, start)} ${text.slice(end)}`, values: [whole] };
  return /^(?:event|data|id|retry|:)/.test(text) ? parseEvents(text) : { words: text, values: [] };
}

function parseEvents(text: string): SeparatedText {
  const values = text
    .split('\n')
    .filter((line) => line.startsWith('data:'))
    .slice(-maximumEvents)
    .map((line) => parse(line.slice('data:'.length)))
    .filter((value) => value !== undefined);
  return { words: '', values };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
