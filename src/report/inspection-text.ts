import { printable, printablePath } from '../conversation/printable.ts';
import { tokenClasses } from '../tokens/measure.ts';
import { accountFor, classNames, type Inspection, type NamedSize } from './inspection.ts';
import { countOf, drawBar, drawTable, formatCount, formatShare } from './terminal.ts';

/** How the text is drawn. */
export interface TextOptions {
  readonly columns: number;
  /** Draw with plain characters only. */
  readonly isPlain: boolean;
  heading(text: string): string;
  /** The text in lines of so many columns, all but the first behind the indent. */
  wrap(text: string, columns: number, indent: string): string;
  level(level: 'ok' | 'warning' | 'critical', text: string): string;
}

/** An inspection as text: the window, a bar chart of where tokens go, tools, the largest, repeated reads. */
export function inspectionText(inspection: Inspection, options: TextOptions): string {
  const sections = [
    windowText(inspection, options),
    section('Where the tokens go', classText(inspection, options), options),
    section('Tools', toolText(inspection), options),
    section('Largest rounds', sizeText(inspection.largestRounds, options), options),
    section('Largest tool results', sizeText(inspection.largestResults, options), options),
    section('Files read again', readText(inspection), options),
  ];
  return sections.filter((text) => text !== '').join('\n');
}

function section(heading: string, text: string, options: TextOptions): string {
  return text === '' ? '' : `${options.heading(heading)}\n${text}`;
}

function windowText(
  { context, window, fileTokens }: Inspection,
  { columns, isPlain, level, wrap }: TextOptions,
): string {
  const spread = (context.high - context.low) / 2 / Math.max(1, context.tokens);
  const basis = context.reportedTokens > 0 ? `, ${formatCount(context.reportedTokens)} of them reported` : '';
  const size = `${formatCount(context.tokens)} tokens ±${formatShare(spread)}${basis}`;
  const inFile =
    context.reportedTokens > 0
      ? `  ${wrap(`in file ${formatCount(fileTokens)} tokens, estimated: what compact and chat work on`, columns, INDENT)}\n`
      : '';
  if (window === undefined)
    return `  context ${size}; give --model or --window for a warning level\n${inFile}`;
  const width = Math.max(10, Math.min(40, columns - 40));
  const share = `${drawBar(window.share, width, isPlain)} ${formatShare(window.share)} of ${formatCount(window.windowTokens)}`;
  return `  context ${size}\n${inFile}  window  ${level(window.level, share)}  ${level(window.level, window.level)}\n`;
}

/** Rows that add up to the context, or to the file where that holds more, and a sentence about the difference. */
function classText(
  { byClass, context, unaccounted }: Inspection,
  { columns, isPlain, wrap }: TextOptions,
): string {
  const classes = tokenClasses
    .filter((name) => byClass[name] >= 0.5)
    .toSorted((left, right) => byClass[right] - byClass[left])
    .map((name) => ({ name: classNames[name], tokens: byClass[name] }));
  const rest = accountFor(unaccounted);
  const parts = rest?.row === undefined ? classes : [...classes, rest.row];
  const total = Math.max(
    context.tokens,
    parts.reduce((sum, { tokens }) => sum + tokens, 0),
  );
  const most = Math.max(...parts.map(({ tokens }) => tokens));
  const width = Math.max(10, Math.min(40, columns - 44));
  const rows = parts.map(({ name, tokens }) => [
    name,
    drawBar(tokens / most, width, isPlain),
    formatShare(tokens / Math.max(1, total)),
    formatCount(tokens),
  ]);
  const table = drawTable(rows, [
    { align: 'left' },
    { align: 'left' },
    { align: 'right' },
    { align: 'right' },
  ]);
  return rest === undefined ? table : `${table}  ${wrap(rest.note, columns, '  ')}\n`;
}

/** Where what is said of a size goes on in the next line. */
const INDENT = ' '.repeat(10);

const SHOWN_TOOLS = 10;

function toolText({ byTool }: Inspection): string {
  const rows = byTool
    .slice(0, SHOWN_TOOLS)
    .map(({ tool, calls, errors, tokens }) => [
      printable(tool, 40),
      countOf(calls, 'call'),
      errors > 0 ? countOf(errors, 'error') : '',
      `${formatCount(tokens)} tokens`,
    ]);
  const rest = byTool.length - rows.length;
  const more = rest > 0 ? `  … and ${countOf(rest, 'tool')} more\n` : '';
  return (
    drawTable(rows, [{ align: 'left' }, { align: 'right' }, { align: 'right' }, { align: 'right' }]) + more
  );
}

/** Columns that sizes and places of messages take beside a name. */
const ROOM_BESIDE_NAME = 36;
const SHORTEST_NAME = 16;

function sizeText(sizes: readonly NamedSize[], { columns }: TextOptions): string {
  const rows = sizes.map(({ name, path, message, tokens }) => [
    `${formatCount(tokens)} tokens`,
    path === undefined ? printable(name, 80) : `${printable(name, 30)} ${printablePath(path)}`,
    `at message ${message}`,
  ]);
  const maximum = Math.max(SHORTEST_NAME, columns - ROOM_BESIDE_NAME);
  return drawTable(rows, [{ align: 'right' }, { align: 'left', maximum }, { align: 'left' }]);
}

function readText({ repeatedReads }: Inspection): string {
  const rows = repeatedReads.map(({ path, reads, olderTokens }) => [
    `${formatCount(olderTokens)} tokens`,
    `in older reads of ${printablePath(path)}`,
    `read ${reads} times`,
  ]);
  return drawTable(rows, [{ align: 'right' }, { align: 'left' }, { align: 'left' }]);
}
