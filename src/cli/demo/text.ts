import { existsSync } from 'node:fs';
import { basename, relative } from 'node:path';
import { printable } from '../../conversation/printable.ts';
import { drawTable, formatCount } from '../../report/terminal.ts';
import type { Terminal } from '../terminal.ts';
import { wrapText } from '../wrap-text.ts';
import type { ClientMaker, Refusal } from './client.ts';
import { type DemoResult, tableNotes, tableRows } from './figures.ts';

/** What is going to happen. */
export function introText(
  { name, isSdk }: ClientMaker,
  { model, windowTokens, steps }: Pick<DemoResult, 'model' | 'windowTokens' | 'steps'>,
  terminal: Terminal,
): string {
  const words = `A coding agent mends a small project in ${steps} steps. It is played twice against a strict provider on this machine, as ${model} with a window of ${formatCount(windowTokens)} tokens. Nothing leaves this machine.`;
  const missing = isSdk ? '' : `The Anthropic SDK is not installed here: ${name} is used instead.\n`;
  return `${wrapText(words, terminal.columns)}\n${missing}`;
}

/** The name of a run, above it. */
export function headingText(name: string, terminal: Terminal): string {
  return `\n${terminal.styleTalk('bold', name)}\n`;
}

/** How a run ended. */
export function endingText(
  { requests, refusal }: { readonly requests: number; readonly refusal: Refusal | undefined },
  terminal: Terminal,
): string {
  if (refusal === undefined)
    return `  ${terminal.styleTalk('green', 'finished')} after ${formatCount(requests)} requests, none refused\n`;
  const { status, type, message } = refusal;
  const words = wrapText(`${status} ${type}: ${printable(message, 300)}`, terminal.columns, '    ');
  return `  ${terminal.styleTalk('red', 'refused')} at request ${formatCount(requests)}\n    ${words}\n`;
}

/** The table and what it means. */
export function tableText(result: DemoResult, terminal: Terminal): string {
  const rows = tableRows(result).map(({ name, without, with: kept }) => [name, without, kept]);
  const [head = '', ...lines] = drawTable(
    [['', 'without', 'with roundfold'], ...rows],
    [{ align: 'left' }, { align: 'right' }, { align: 'right' }],
  ).split('\n');
  const notes = wrapText(tableNotes(result).join(' '), terminal.columns).split('\n');
  const dim = notes.map((line) => terminal.style('dim', line)).join('\n');
  return `\n${terminal.style('bold', head)}\n${lines.join('\n')}\n${dim}\n`;
}

/** What to try next, as it can be typed here. */
export function nextText(windowTokens: number, terminal: Terminal): string {
  const example = 'examples/session.jsonl';
  const file = existsSync(example) ? example : 'session.jsonl';
  const call = ownCall();
  const commands = [
    [`${call} inspect ${file}`, 'where do its tokens go?'],
    [`${call} compact ${file} --dry-run`, 'what would stay of every message?'],
    [`${call} simulate --window ${windowTokens}`, 'the provider of this demo, for your own agent'],
  ] as const;
  const lines = commands.map(
    ([command, purpose]) => `  ${terminal.style('cyan', command)}\n      ${terminal.style('dim', purpose)}\n`,
  );
  return `\nTo try next:\n${lines.join('')}`;
}

/** How this process was called: by its name where that is on the path, else by its file. */
function ownCall(): string {
  const path = process.argv[1] ?? 'roundfold';
  return basename(path).startsWith('roundfold') ? 'roundfold' : `node ${relative('', path)}`;
}
