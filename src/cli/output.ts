import { describePlace, type Place } from '../conversation/errors.ts';
import { printable, printableJson } from '../conversation/printable.ts';
import { type Terminal, wrapText } from './terminal.ts';

/** Where a command's findings go, and in which shape. */
export interface Report {
  readonly terminal: Terminal;
  /** One JSON object per line instead of text. */
  readonly json: boolean;
}

/** One line of JSON on the data side. Every line carries the version of its shape and its type. */
export function writeJson({ terminal }: Report, type: string, value: object): void {
  terminal.data(`${printableJson(JSON.stringify({ version: 1, type, ...value }))}\n`);
}

/** Something that is wrong: an error of ours, or an outcome. */
export interface Problem {
  /** Stable, for programs. */
  readonly code: string;
  readonly message: string;
  readonly place?: Place | undefined;
  readonly remedy?: string | undefined;
}

/** Says what is wrong, where, and what to do about it: as talk, and as a line of JSON where that is asked for. */
export function reportError(report: Report, error: Problem, file?: string): void {
  const { terminal } = report;
  const place =
    file === undefined ? error.place : { source: file === '-' ? '<stdin>' : file, ...error.place };
  if (report.json) {
    const { code, message, remedy } = error;
    writeJson(report, 'error', { file, code, message, place, remedy });
  }
  terminal.talk(
    `${terminal.styleTalk('red', 'error')} ${printable(locate(error.message, place), Number.POSITIVE_INFINITY)}\n`,
  );
  if (error.remedy !== undefined) sayRemedy(terminal, error.remedy);
}

/** What to do about it, below what was said. */
export function sayRemedy(terminal: Terminal, remedy: string): void {
  const lines = wrapText(remedy, terminal.columns, REMEDY_INDENT).split('\n');
  // Styled line by line: a style that runs over a break colours the margin in some terminals.
  const styled = lines.map((line) => terminal.styleTalk('dim', line.trimStart()));
  terminal.talk(`${REMEDY_INDENT}${styled.join(`\n${REMEDY_INDENT}`)}\n`);
}

const REMEDY_INDENT = '      ';

/** The message with its place in front of it, unless it names the source already. */
function locate(message: string, place: Place | undefined): string {
  const isNamed = place?.source !== undefined && message.includes(place.source);
  const where = describePlace(place);
  return isNamed || where === '' ? message : `${where}: ${message}`;
}
