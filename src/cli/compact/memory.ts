import { changeOf } from '../../compaction/plan/strategy.ts';
import { printableLines } from '../../conversation/printable.ts';
import {
  type CarriedMemory,
  carriedMemories,
  type MemoryLine,
  memoryLines,
} from '../../report/memory-lines.ts';
import { sayRemedy } from '../output.ts';
import { type Terminal, wrapText } from '../terminal.ts';
import type { Run } from './run.ts';

/** The memories that the conversation has afterwards, be they new or from before. */
export function memoriesAfter({ outcome, conversation }: Run): readonly CarriedMemory[] {
  return carriedMemories((changeOf(outcome)?.conversation ?? conversation).messages);
}

/** The memories as one text; undefined where there are none. */
export function memoryText(memories: readonly CarriedMemory[]): string | undefined {
  if (memories.length === 0) return undefined;
  return memories.flatMap(({ quoted, text }) => [...quoted, text]).join(BETWEEN);
}

/** Stands between a memory, what is quoted in front of it and, on a screen, what is said below it. */
const BETWEEN = '\n\n';

/** Prints the memory: on a screen with bold headings and within its columns, else as it is. */
export function showMemory(run: Run): void {
  const { terminal } = run.report;
  const memories = memoriesAfter(run);
  const text = memoryText(memories);
  if (text === undefined) sayNone(run);
  else if (process.stdout.isTTY) terminal.out(`${drawMemories(memories, terminal)}${BETWEEN}`);
  // Tabs stay tabs: whoever quotes a line of a file in an edit needs it as it was.
  else terminal.data(`${text.split('\t').map(printableLines).join('\t')}\n`);
}

function sayNone({ report: { terminal }, outcome }: Run): void {
  const change = changeOf(outcome);
  const why =
    change === undefined
      ? 'the conversation stays as it is'
      : `${change.receipt.strategy} made the conversation smaller without one`;
  terminal.talk(`there is no memory to show: ${why}\n`);
  sayRemedy(terminal, 'A smaller --budget, or --strategy summarize, writes one.');
}

function drawMemories(memories: readonly CarriedMemory[], terminal: Terminal): string {
  const draw = (lines: readonly MemoryLine[]) => lines.map((line) => drawLine(line, terminal)).join('\n');
  return memories
    .flatMap(({ quoted, text }) => [...quoted.map(linesOfQuotation), memoryLines(text)])
    .map(draw)
    .join(BETWEEN);
}

/** What is quoted may look like a memory, and is none. */
function linesOfQuotation(text: string): readonly MemoryLine[] {
  return text.split('\n').map((line) => ({ kind: 'more', text: line }));
}

/** How a line begins. What follows it in the next line stands below its first word. */
const LEAD = /^ {0,12}(?:- |\[\d{1,6}\] )?/;

function drawLine({ kind, text }: MemoryLine, terminal: Terminal): string {
  if (kind === 'heading') return terminal.style('bold', text);
  // Lines of a file are for copying, so they are not wrapped.
  if (kind === 'code' || kind === 'fence') return text;
  // Escaped before wrapping, since escapes are longer than what they stand for.
  const shown = printableLines(text);
  const lead = LEAD.exec(shown)?.[0] ?? '';
  return `${lead}${wrapText(shown.slice(lead.length), terminal.columns, ' '.repeat(lead.length))}`;
}
