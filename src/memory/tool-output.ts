/** A tool's output without the harness's wrapper. */
export interface ToolOutput {
  readonly text: string;
  /** Undefined where the result does not tell. */
  readonly exitCode: number | undefined;
  /** The name under which a process goes on, where the result says that it has not ended. */
  readonly running: string | undefined;
}

const HEAD_CHARACTERS = 4000;
const TAIL_CHARACTERS = 600;
/** First words of the header that harnesses write above what a command printed. */
const ENVELOPE = /^(?:Command|Chunk ID|Exit code|Wall time|Directory|Status): /;
const OUTPUT = /\nOutput: ?\n?/;
const EXIT_LINE =
  /(?:exit(?:ed)?(?: with)?(?: exit)?[ _]code|Exit Code|exit status)["']?[: ]{1,3}(-?\d{1,3})\b/;
const RUNNING =
  /(?:running with session ID|running in (?:the )?background with ID:?|Background task ID:?) ?([\w-]{1,60})/i;
/** Says that nothing was printed. */
const NOTHING = /^\s{0,8}[(<[](?:empty|no output|no content)[)>\]]\s{0,8}$/i;
const FIRST_EXIT = /^Exit code (\d{1,3})\n?/;
const GEMINI_TAIL =
  /\nError: .{0,2000}\nExit Code: .{0,20}(?:\n(?:Signal|Background PIDs|Process Group PGID): .{0,80})*\s*$/;
const FINISHED =
  /\n?(?:\[Python Interpreter: .{0,200}\]\n)?(?:.{0,200}[#$] \n)?\[Command finished with exit code -?\d{1,3}\]\s*$/;

/** Reads a tool result: what the tool printed, its exit code, and the name of a process that still runs. */
export function readResult(raw: string): ToolOutput {
  const inner = unwrapJson(raw);
  let text = withoutHarnessTail(inner?.text ?? raw);
  const head = text.slice(0, HEAD_CHARACTERS);
  const tail = text.slice(-TAIL_CHARACTERS);
  const output = ENVELOPE.test(head) ? OUTPUT.exec(head) : null;
  const around = output === null ? '' : head.slice(0, output.index + output[0].length);
  const exit =
    FIRST_EXIT.exec(head) ?? EXIT_LINE.exec(around) ?? (hasExitTail(tail) ? EXIT_LINE.exec(tail) : null);
  const running = RUNNING.exec(around === '' ? head.slice(0, 400) : around)?.[1];
  text = text.slice(around.length);
  if (FIRST_EXIT.test(text)) text = text.replace(FIRST_EXIT, '');
  const end = text.slice(-TAIL_CHARACTERS);
  const cut = isFinished(end) ? FINISHED.exec(end)?.[0] : GEMINI_TAIL.exec(end)?.[0];
  if (cut !== undefined) text = text.slice(0, -cut.length);
  return {
    text: NOTHING.test(text) ? '' : text.trimEnd(),
    exitCode: inner?.exitCode ?? (exit === null ? undefined : Number(exit[1])),
    running,
  };
}

function hasExitTail(tail: string): boolean {
  return isFinished(tail) || GEMINI_TAIL.test(tail);
}

/** The pattern is looked for only where its last words are: it would be tried at every sign otherwise. */
function isFinished(tail: string): boolean {
  return tail.includes('[Command finished') && FINISHED.test(tail);
}

/** `{"output": "…", "metadata": {"exit_code": 0}}` */
function unwrapJson(
  raw: string,
): { readonly text: string; readonly exitCode: number | undefined } | undefined {
  if (!raw.startsWith('{"output":"')) return undefined;
  try {
    const value: unknown = JSON.parse(raw);
    if (typeof value !== 'object' || value === null || !('output' in value)) return undefined;
    const exit =
      EXIT_LINE.exec(raw.slice(-TAIL_CHARACTERS)) ??
      /"exit_code":(-?\d{1,3})/.exec(raw.slice(-TAIL_CHARACTERS));
    return { text: String(value.output), exitCode: exit === null ? undefined : Number(exit[1]) };
  } catch {
    return undefined;
  }
}

const CLOSING_TAG = /<\/([a-z][a-z_-]{2,40})>$/;

/** Takes away what a harness adds behind a result between tags of its own. */
function withoutHarnessTail(given: string): string {
  let text = given.trimEnd();
  for (let round = 0; round < 4; round++) {
    const name = CLOSING_TAG.exec(text.slice(-60))?.[1];
    if (name === undefined || !/[-_]/.test(name)) return text;
    const open = text.lastIndexOf(`<${name}>`);
    if (open === -1) return text;
    text = text.slice(0, open).trimEnd();
  }
  return text;
}

/** A line of a file, with its number where the listing tells it. */
export interface ListedLine {
  readonly number: number | undefined;
  readonly text: string;
}

const NUMBERED = /^\s{0,8}(\d{1,7})(?:→|\t|\s?\| ?|: )/;
/** So many of the first lines must be numbered one after the other. */
const TRIED_LINES = 5;

/** The lines of a listing. Numbers that a viewer has put in front are taken off. */
export function listedLines(text: string, first: number | undefined): readonly ListedLine[] {
  const lines = text.split('\n');
  if (!isNumbered(lines))
    return lines.map((line, index) => ({
      number: first === undefined ? undefined : first + index,
      text: line,
    }));
  const listed: ListedLine[] = [];
  for (const line of lines) {
    const match = NUMBERED.exec(line);
    if (match !== null) listed.push({ number: Number(match[1]), text: line.slice(match[0].length) });
  }
  return listed;
}

function isNumbered(lines: readonly string[]): boolean {
  let last: number | undefined;
  let found = 0;
  for (const line of lines.slice(0, 2 * TRIED_LINES)) {
    const number = Number(NUMBERED.exec(line)?.[1] ?? Number.NaN);
    if (Number.isNaN(number)) {
      if (found > 0) break;
      continue;
    }
    if (last !== undefined && number !== last + 1) return false;
    last = number;
    if (++found >= TRIED_LINES) return true;
  }
  return found > 1 || (found === 1 && lines.filter((line) => line.trim() !== '').length <= 2);
}
