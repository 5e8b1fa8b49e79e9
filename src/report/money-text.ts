import { printable } from '../conversation/printable.ts';
import type { MissCause } from '../lab/cache-misses.ts';
import type { MoneyReplay, SessionMoney } from './session-money.ts';
import { formatCost, formatDollars } from './sessions-text.ts';
import type { Purpose } from './spending.ts';
import { type Column, countOf, drawTable, formatShare, formatShort } from './terminal.ts';

/** What people call what money is spent on. */
export const purposeNames: Readonly<Record<Purpose, string>> = {
  instructions: 'instructions and tools',
  user: 'words of the user',
  'tool-results': 'tool results',
  'tool-calls': 'tool calls',
  reasoning: 'reasoning',
  answers: 'answers',
  compactions: 'summaries of compactions',
  unrecorded: 'not in the file',
  elsewhere: 'abandoned branches and sub-agents',
};

/** What people call the reasons for which a cache did not have something. */
export const causeNames: Readonly<Record<MissCause, string>> = {
  'first-request': 'first request',
  compaction: 'after a compaction',
  'another-model': 'another model',
  pause: "pause longer than the cache's life",
  'changed-prefix': 'changed prefix, or dropped by the provider',
};

export interface MoneyTextOptions {
  readonly columns: number;
  heading(text: string): string;
}

/** Where the money of a session went, as text. */
export function moneyText(money: SessionMoney, { columns, heading }: MoneyTextOptions): string {
  const { cost, models, spentOn, cacheMisses, replay } = money;
  const share = (dollars: number): string => formatShare(dollars / (cost.dollars || 1));
  const sections: readonly (readonly [string, readonly (readonly string[])[]])[] = [
    [
      'By model',
      models.map((own) => [
        printable(own.model ?? 'unknown model', 60),
        formatCost(own),
        share(own.dollars),
        countOf(own.responses, 'response'),
      ]),
    ],
    [
      'Spent on',
      spentOn.map(({ purpose, dollars }) => [
        purposeNames[purpose],
        formatDollars(dollars),
        share(dollars),
        '',
      ]),
    ],
    [
      'Not read from the cache',
      cacheMisses.map(({ cause, requests, tokens, dollars }) => [
        causeNames[cause],
        formatDollars(dollars),
        share(dollars),
        `${countOf(requests, 'request')}, ${formatShort(tokens)} tokens`,
      ]),
    ],
    ['Sent again at the same prices', replay === undefined ? [] : replayRows(replay)],
  ];
  return sections
    .filter(([, rows]) => rows.length > 0)
    .map(([name, rows]) => `  ${heading(name)}\n${drawTable(rows, columnsFor(rows, columns))}`)
    .join('');
}

const SHORTEST_NAME = 16;

/** Names give way where lines would be too long. */
function columnsFor(rows: readonly (readonly string[])[], columns: number): readonly Column[] {
  const widthOf = (index: number): number => Math.max(...rows.map((row) => row[index]?.length ?? 0));
  const rest = [1, 2, 3].reduce((sum, index) => sum + widthOf(index) + 2, 2);
  return [
    { align: 'left', maximum: Math.max(SHORTEST_NAME, columns - rest) },
    { align: 'right' },
    { align: 'right' },
    { align: 'left' },
  ];
}

function replayRows({ recorded, asItWas, withRoundfold, saved, compactions }: MoneyReplay) {
  const part = (dollars: number): string => formatShare(dollars / (recorded || 1));
  return [
    ['as it was', formatDollars(asItWas), part(asItWas), `recorded: ${formatDollars(recorded)}`],
    ['with roundfold', formatDollars(withRoundfold), part(withRoundfold), countOf(compactions, 'compaction')],
    ['saved', formatDollars(saved), part(saved), ''],
  ];
}
