import { printable } from '../conversation/printable.ts';
import type { RecordedCost } from './recorded-cost.ts';
import type { SessionRow } from './session-row.ts';
import { countOf, drawTable, formatShare, formatShort, formatTime } from './terminal.ts';

/** What all sessions come to. */
export interface SessionTotals {
  readonly cost: RecordedCost;
  readonly legal: number;
  readonly broken: number;
  readonly unreadable: number;
  /** The agent that cost most first. */
  readonly agents: readonly { readonly agent: string; readonly sessions: number; readonly dollars: number }[];
}

/** Sessions and dollars of each agent, the dearest first. */
export function agentTotals(rows: readonly SessionRow[]): SessionTotals['agents'] {
  const byAgent = Map.groupBy(rows, ({ agent }) => agent);
  return [...byAgent]
    .map(([agent, own]) => ({
      agent,
      sessions: own.length,
      dollars: own.reduce((sum, { cost }) => sum + cost.dollars, 0),
    }))
    .toSorted((left, right) => right.dollars - left.dollars);
}

/** `$1,234.56`; `-$2.00`; `$0.0012` for what is less than a cent. */
export function formatDollars(dollars: number): string {
  const size = Math.abs(dollars);
  const digits = size !== 0 && size < 0.01 ? 4 : 2;
  return `${dollars < 0 ? '-' : ''}$${size.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits })}`;
}

/** What a session cost: `?` where nobody knows, `+` where a part of it is not known. */
export function formatCost({ dollars, unpriced, responses }: RecordedCost): string {
  if (responses === 0) return '–';
  if (unpriced === responses) return '?';
  return `${formatDollars(dollars)}${unpriced > 0 ? '+' : ''}`;
}

/** How full the window is: `42.0k 21.0 %`. */
export function formatContext({ contextTokens, windowTokens }: SessionRow): string {
  const share = windowTokens === undefined ? '' : ` ${formatShare(contextTokens / windowTokens)}`;
  return `${formatShort(contextTokens)}${share}`;
}

/** `legal 12, 3 broken, …` in one line. */
export function verdictLine({
  legal,
  broken,
  unreadable,
}: Pick<SessionTotals, 'legal' | 'broken' | 'unreadable'>): string {
  return `${legal} legal, ${broken} broken, ${unreadable} unreadable`;
}

interface Surface {
  readonly columns: number;
  /** Whether longer lines than `columns` would be broken. */
  readonly isScreen: boolean;
  style(style: 'bold' | 'dim' | 'yellow', text: string): string;
  /** The text in lines of so many columns, all but the first behind the indent. */
  wrap(text: string, columns: number, indent: string): string;
}

const HEADINGS = ['used', 'agent', 'project', 'rounds', 'context', 'compacted', 'cost', ''] as const;
const RIGHT: ReadonlySet<string> = new Set(['rounds', 'context', 'compacted', 'cost']);
/** What narrow screens go without, in this order. */
const LEFT_OUT = ['compacted', 'rounds', 'project', 'agent'];
const LONGEST_PROJECT = 24;
const SHORTEST_PROMPT = 16;

/** A line for each session, and the totals. */
export function sessionsText(rows: readonly SessionRow[], totals: SessionTotals, surface: Surface): string {
  const cells = rows.map(cellsOf);
  const all = HEADINGS.map((heading, index) => ({
    heading,
    index,
    width: Math.max(heading.length, ...cells.map((row) => row[index]?.length ?? 0)),
  }));
  const roomFor = (columns: typeof all): number =>
    surface.columns - columns.slice(0, -1).reduce((sum, { width }) => sum + width + 2, 2);
  let shown = all;
  for (const name of LEFT_OUT)
    if (surface.isScreen && roomFor(shown) < SHORTEST_PROMPT)
      shown = shown.filter(({ heading }) => heading !== name);
  const promptWidth = Math.max(SHORTEST_PROMPT, roomFor(shown));
  const table = drawTable(
    [HEADINGS, ...cells].map((row) => shown.map(({ index }) => row[index] ?? '')),
    shown.map(({ heading }) => ({
      align: RIGHT.has(heading) ? ('right' as const) : ('left' as const),
      ...(heading === '' ? { maximum: promptWidth } : {}),
    })),
  );
  return `${table}\n${totalsText(rows, totals, surface)}`;
}

function cellsOf(row: SessionRow): readonly string[] {
  const { usedAt, agent, project = '', rounds, compactions, cost, prompt, fault } = row;
  const mark = fault === undefined ? '' : '! ';
  return [
    usedAt === undefined ? '?' : formatTime(Date.parse(usedAt)),
    agent,
    printable(lastFolders(project), LONGEST_PROJECT),
    String(rounds),
    formatContext(row),
    compactions === 0 ? '' : String(compactions),
    formatCost(cost),
    `${mark}${printable(prompt, 200)}`,
  ];
}

/** The last two parts of a path. */
function lastFolders(path: string): string {
  const parts = path.split(/[/\\]/).filter((part) => part !== '');
  const short = parts.slice(-2).join('/');
  return short.length <= LONGEST_PROJECT ? short : (parts.at(-1) ?? '').slice(-LONGEST_PROJECT);
}

function totalsText(rows: readonly SessionRow[], totals: SessionTotals, surface: Surface): string {
  const { cost, agents, broken } = totals;
  const wrapped = (text: string): string => surface.wrap(text, surface.columns, '  ');
  const lines = [
    surface.style('bold', `${countOf(rows.length, 'session')}, ${formatCost(cost)} at list prices`),
    ...agents.map(
      ({ agent, sessions, dollars }) =>
        `${agent}: ${countOf(sessions, 'session')}, ${formatDollars(dollars)}`,
    ),
    wrapped(
      `tokens: ${formatShort(cost.inputTokens)} input, ${formatShort(cost.cacheWriteTokens)} written to a cache, ${formatShort(cost.cacheReadTokens)} read from one, ${formatShort(cost.outputTokens)} output`,
    ),
    ...(cost.unpriced === 0
      ? []
      : [
          surface.style(
            'yellow',
            wrapped(`${countOf(cost.unpriced, 'response')} of models without a known price not counted`),
          ),
        ]),
    verdictLine(totals),
    ...(broken === 0
      ? []
      : [surface.style('dim', wrapped('! a provider would refuse it as it is: roundfold check FILE --fix'))]),
  ];
  return lines.map((line) => `  ${line}\n`).join('');
}
