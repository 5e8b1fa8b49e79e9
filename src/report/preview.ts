import { diffMessages, type MessageDiff } from '../compaction/decorators/with-logging.ts';
import type { Change } from '../compaction/plan/strategy.ts';
import type { Conversation } from '../conversation/format.ts';
import { printable } from '../conversation/printable.ts';
import type { FactKind, Survival } from '../memory/facts/facts.ts';
import { createTokenEstimator, type TokenEstimator } from '../tokens/estimator.ts';
import { countOf, drawTable, formatCount } from './terminal.ts';

export interface PreviewOptions {
  /** Width of a line. Default 100. */
  readonly columns?: number | undefined;
  /** Counts the tokens of each message. Default: an estimator of no particular model. */
  readonly estimator?: TokenEstimator | undefined;
}

const MARKS = { kept: ' ', changed: '~', gone: '-', new: '+' } as const;

/** How many messages are shown at either end of a run with the same fate. */
const SHOWN_ENDS = 3;

/**
 * What a compaction does, one line for each message: `-` leaves, `~` is made smaller, `+` is new. The inside of long runs is
 * told in one line, so that any conversation can be looked at. Behind them stands what became of the facts that a summary
 * stands for, by kind.
 */
export function preview(before: Conversation, compacted: Change, options: PreviewOptions = {}): string {
  const { columns = 100, estimator = createTokenEstimator() } = options;
  const rows = foldRuns(diffMessages(before, compacted, estimator));
  const { tokensBefore, tokensAfter, messagesBefore, messagesAfter, survival } = compacted.receipt;
  const total = `${formatCount(tokensBefore)} → ${formatCount(tokensAfter)} tokens, ${messagesBefore} → ${messagesAfter} messages`;
  const table = drawTable(
    [['', '#', 'role', 'tokens', 'message'], ...rows],
    [
      { align: 'left' },
      { align: 'right' },
      { align: 'left' },
      { align: 'right' },
      { align: 'left', maximum: Math.max(8, columns - ROOM_BEFORE_TEXT) },
    ],
    '',
  );
  return `${table}${survivalLines(survival)}${total}\n`;
}

/** Columns of mark, number, role and tokens, with the space between them. */
const ROOM_BEFORE_TEXT = 32;

type Row = readonly [mark: string, index: string, role: string, tokens: string, text: string];

function foldRuns(diff: readonly MessageDiff[]): readonly Row[] {
  const rows: Row[] = [];
  for (let start = 0; start < diff.length; ) {
    const change = diff[start]?.change ?? 'kept';
    let end = start;
    while (end < diff.length && diff[end]?.change === change) end++;
    rows.push(...runRows(diff.slice(start, end), change));
    start = end;
  }
  return rows;
}

function runRows(run: readonly MessageDiff[], change: MessageDiff['change']): readonly Row[] {
  if (run.length <= 2 * SHOWN_ENDS + 1) return run.map(rowOf);
  const hidden = run.slice(SHOWN_ENDS, -SHOWN_ENDS);
  const tokens = hidden.reduce((sum, { before, after }) => sum + ((before ?? after)?.tokens ?? 0), 0);
  const fold: Row = [
    MARKS[change],
    '…',
    '',
    formatCount(tokens),
    `… ${countOf(hidden.length, 'more message')}`,
  ];
  return [...run.slice(0, SHOWN_ENDS).map(rowOf), fold, ...run.slice(-SHOWN_ENDS).map(rowOf)];
}

/** What is made smaller is shown as it was, with its tokens before and after. */
function rowOf({ change, before, after }: MessageDiff): Row {
  const side = before ?? after;
  if (side === undefined) return [MARKS[change], '', '', '', ''];
  const index = before === undefined ? '' : String(before.index);
  const tokens =
    change === 'changed' && after !== undefined
      ? `${formatCount(side.tokens)}→${formatCount(after.tokens)}`
      : formatCount(side.tokens);
  return [MARKS[change], index, side.role, tokens, side.text];
}

/** What facts are called when there are several. */
export const factNames: Readonly<Record<FactKind, string>> = {
  constraint: 'constraints',
  'open-work': 'open work',
  ask: 'asks',
  path: 'changed files',
  error: 'errors',
  command: 'commands',
  id: 'ids',
  number: 'numbers',
};

/**
 * What became of the facts in the messages that a summary stands for, a line for each kind, and below them the demands of the
 * user that are missing; empty without a summary.
 */
export function survivalLines(survival: readonly Survival[] = [], indent = ''): string {
  const rows = survival.map(({ kind, found, kept, lost }) => {
    const missing = lost === 0 ? '' : `, ${formatCount(lost)} missing`;
    return [factNames[kind], `${formatCount(kept)} of ${formatCount(found)} kept${missing}`];
  });
  const demands = survival.filter(({ kind }) => kind === 'constraint').flatMap(({ examples }) => examples);
  const missing = demands.map((demand) => `${indent}missing: ${printable(demand)}\n`);
  return `${drawTable(rows, [{ align: 'left' }, { align: 'left' }], indent)}${missing.join('')}`;
}
