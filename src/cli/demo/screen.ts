import { existsSync } from 'node:fs';
import { basename, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { printable } from '../../conversation/printable.ts';
import { type CompactionAccount, fateWords } from '../../report/compaction-account.ts';
import { factNames } from '../../report/preview.ts';
import { drawBar, drawTable, formatCount, formatShort } from '../../report/terminal.ts';
import { tokenWarningState } from '../../tokens/thresholds.ts';
import { type Style, type Terminal, wrapText } from '../terminal.ts';
import type { Audience, DemoClient, DemoRun } from './play.ts';
import { type DemoResult, tableNotes, tableRows } from './result.ts';

interface StageOptions {
  readonly terminal: Terminal;
  readonly windowTokens: number;
  readonly steps: number;
  /** Whether somebody follows on a terminal: only then the run waits for them. */
  readonly isLive: boolean;
  readonly signal: AbortSignal;
}

/** How long each step and each receipt is shown to somebody who watches. */
const STEP_MS = 45;
const RECEIPT_MS = 450;
/** Without a terminal, every so many steps get a line. */
const PLAIN_STEPS = 10;

/** Shows one run: one line that is redrawn where somebody watches, plain lines elsewhere. */
export function openStage(options: StageOptions): Audience & { end(): void } {
  const { terminal, isLive, signal } = options;
  let gauge = '';
  const wait = (ms: number) => (isLive ? sleep(ms, undefined, { signal }) : Promise.resolve());
  const say = (line: string) => (isLive ? terminal.redraw(`${line}\n${gauge}`) : terminal.talk(`${line}\n`));
  return {
    async onRequest(step, promptTokens) {
      gauge = drawGauge(step, promptTokens, options);
      if (isLive) terminal.redraw(gauge);
      else if (step % PLAIN_STEPS === 0) terminal.talk(`${gauge}\n`);
      await wait(STEP_MS);
    },
    async onCompaction({ step, account }) {
      for (const line of receiptLines(step, account, terminal)) say(line);
      await wait(RECEIPT_MS);
    },
    // Leaves the gauge as it stands last.
    end() {
      if (isLive && gauge !== '') terminal.talk('\n');
      gauge = '';
    },
  };
}

const COLOURS: Readonly<Record<ReturnType<typeof tokenWarningState>, Style>> = {
  ok: 'green',
  warning: 'yellow',
  critical: 'red',
};

/** The widest that the bar gets, and what the words beside it need. */
const BAR_COLUMNS = 36;
const WORD_COLUMNS = 40;

function drawGauge(step: number, tokens: number, { terminal, windowTokens, steps }: StageOptions): string {
  const width = Math.min(BAR_COLUMNS, Math.max(6, terminal.columns - WORD_COLUMNS));
  const bar = drawBar(tokens / windowTokens, width, terminal.isPlain);
  const colour = COLOURS[tokenWarningState(tokens, windowTokens)];
  const place = `step ${String(step).padStart(String(steps).length)} of ${steps}`;
  return `  ${place} ${terminal.styleTalk(colour, bar)}${terminal.isPlain ? '|' : '▏'}${formatShort(tokens)} of ${formatShort(windowTokens)}`;
}

/** A compaction in two lines. */
function receiptLines(
  step: number,
  account: CompactionAccount,
  terminal: Pick<Terminal, 'columns' | 'styleTalk'>,
): readonly string[] {
  const { before, after } = account;
  const sizes = `${formatShort(before.tokens)} → ${formatShort(after.tokens)} tokens`;
  const head = `  ${terminal.styleTalk('cyan', 'folded')} before step ${step}: ${sizes}`;
  const words = wrapText(`messages: ${fateText(account)}${survivalWords(account)}`, terminal.columns, '    ');
  return [head, ...`    ${words}`.split('\n').map((line) => terminal.styleTalk('dim', line))];
}

/** What matters most comes first. */
const FATES = ['summarised', 'reduced', 'dropped', 'verbatim'] as const;

function fateText({ runs }: CompactionAccount): string {
  const parts = FATES.flatMap((fate) => {
    const messages = runs
      .filter((run) => run.fate === fate)
      .reduce((sum, { start, end }) => sum + end - start, 0);
    return messages === 0 ? [] : [`${formatCount(messages)} ${fateWords[fate]}`];
  });
  return parts.join(', ');
}

/** What matters most of what the summary stands for. */
const TOLD = new Set(['constraint', 'path', 'ask']);

function survivalWords({ survival = [] }: CompactionAccount): string {
  const parts = survival
    .filter(({ kind }) => TOLD.has(kind))
    .map(({ kind, found, kept }) => `${kept} of ${found} ${factNames[kind]}`);
  return parts.length === 0 ? '' : `; kept: ${parts.join(', ')}`;
}

/** What is going to happen. */
export function introText(
  { name, isSdk }: DemoClient,
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
  { requests: { length: requests }, refusal }: Pick<DemoRun, 'requests' | 'refusal'>,
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
