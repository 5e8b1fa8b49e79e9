import { printable } from '../../conversation/printable.ts';
import { thresholdsFor } from '../../tokens/thresholds.ts';
import {
  accountFor,
  type Inspection,
  type NamedSize,
  type RepeatedRead,
  type ToolUse,
  tokenParts,
} from '../inspection.ts';
import type { RoundSeries } from '../round-series.ts';
import { countOf, formatCount, formatShare, formatShort } from '../terminal.ts';
import { meter } from './charts.ts';
import { html, type Markup, quoted, quotedPath } from './markup.ts';
import {
  countColumn,
  figureColumn,
  renderPage,
  type Statistic,
  section,
  statistics,
  subsection,
  table,
} from './page.ts';
import { type Detail, detailFor, type RoundLimits, roundsFigure } from './rounds.ts';
import { tokenBar, tokenTable } from './token-section.ts';

/** A conversation that was looked through, with its file. */
export interface InspectedSession {
  readonly file: string;
  readonly title: string;
  /** Reader, wire format and model, as far as they are known. */
  readonly about: readonly string[];
  readonly notes: readonly string[];
  readonly inspection: Inspection;
  readonly series: RoundSeries;
}

export interface InspectionPage {
  readonly sessions: readonly InspectedSession[];
  /** How many more there were that are not on the page. Default 0. */
  readonly leftOut?: number;
}

/** What is in conversations and where their tokens go, as one self-contained page. */
export function renderInspectionPage({ sessions, leftOut = 0 }: InspectionPage): string {
  const [only] = sessions;
  if (sessions.length === 1 && only !== undefined && leftOut === 0) {
    return renderPage({
      title: `${printable(only.file, 80)} · roundfold`,
      kind: 'inspection',
      heading: quotedPath(only.file, 80),
      lead: leadOf(only),
      body: sessionParts(only, { id: 'session', detail: detailFor(1), part: section }),
    });
  }
  const detail = detailFor(sessions.length);
  return renderPage({
    title: `${countOf(sessions.length, 'conversation')} · roundfold`,
    kind: 'inspection',
    heading: html`${countOf(sessions.length, 'conversation')}`,
    lead: leftOut === 0 ? undefined : html`The largest ones; ${countOf(leftOut, 'smaller one')} left out.`,
    body: [
      overview(sessions),
      section(
        'sessions',
        'One by one',
        sessions.map((session, index) => foldedSession(session, index, detail)),
      ),
    ],
  });
}

function leadOf({ title, about, inspection, series }: InspectedSession): Markup {
  const counts = [countOf(inspection.messages, 'message'), countOf(inspection.toolCalls, 'tool call')];
  const compactions =
    series.compactions.length === 0
      ? ''
      : `, after ${countOf(series.compactions.length, 'compaction')} by the agent itself`;
  return html`${quoted(title, 80)} · ${quoted(about.join(', '), 120)} · ${counts.join(', ')}${compactions}`;
}

function foldedSession(session: InspectedSession, index: number, detail: Detail): Markup {
  const { file, title, inspection } = session;
  const parts = sessionParts(session, { id: `session-${index}`, detail, part: subsection });
  return html`<details class="session"${index === 0 ? html` open` : undefined}><summary>${quotedPath(file, 60)} · ${quoted(title, 60)} · ${formatShort(inspection.context.tokens)} tokens</summary><div id="session-${index}"><p class="note">${leadOf(session)}</p>${parts}</div></details>`;
}

interface SessionPlace {
  readonly id: string;
  readonly detail: Detail;
  /** What its parts are: of the page, or of a section of it. */
  readonly part: typeof section;
}

/** A conversation that was looked through: its numbers, its course, where its tokens go, and what is large in it. */
export function sessionParts(
  session: InspectedSession,
  { id, detail, part }: SessionPlace,
): readonly Markup[] {
  const { inspection, notes, series } = session;
  const found = tokenParts(inspection.byClass, inspection.byTool, detail.namedTools);
  const rest = accountFor(inspection.unaccounted);
  const parts = [
    ...found,
    ...(rest?.row === undefined ? [] : [{ ...rest.row, isTool: false, colour: 'quiet' }]),
  ];
  const limits = limitsOf(inspection);
  return [
    statistics(statisticsOf(session)),
    ...notes.slice(0, detail.listRows).map((note) => html`<p class="note">${quoted(note, 200)}</p>`),
    part(`${id}-rounds`, 'Tokens per round', [
      html`<p>${roundsLead(session)}</p>`,
      roundsFigure(series, limits, detail),
    ]),
    part(`${id}-tokens`, 'Where the tokens go', [
      tokenBar(parts),
      tokenTable(
        parts,
        'Estimated tokens of the next request; a tool stands for its calls and their results',
      ),
      rest === undefined ? undefined : html`<p class="note">${rest.note}.</p>`,
    ]),
    ...largestTables(inspection, detail).map((tables) => part(`${id}-largest`, 'What is large', [tables])),
  ];
}

function limitsOf({ window }: Inspection): RoundLimits | undefined {
  return window === undefined ? undefined : thresholdsFor(window.windowTokens);
}

function statisticsOf({ inspection, series }: InspectedSession): readonly Statistic[] {
  const { context, window } = inspection;
  const spread = (context.high - context.low) / 2 / Math.max(1, context.tokens);
  const broken = inspection.unansweredCalls + inspection.orphanResults;
  return [
    { name: 'Context', value: formatCount(context.tokens), detail: `tokens ±${formatShare(spread)}` },
    window === undefined
      ? { name: 'Window', value: 'unknown', detail: 'give --model or --window' }
      : {
          name: 'Window',
          value: formatShare(window.share),
          detail: `${window.level}, of ${formatShort(window.windowTokens)}`,
          level: window.level,
        },
    {
      name: 'Rounds',
      value: formatCount(inspection.rounds),
      detail: countOf(inspection.messages, 'message'),
    },
    {
      name: 'Tool calls',
      value: formatCount(inspection.toolCalls),
      detail: broken === 0 ? 'all paired' : `${countOf(broken, 'half')} without the other`,
      level: broken === 0 ? undefined : 'warning',
    },
    { name: 'Compactions', value: formatCount(series.compactions.length), detail: 'by the agent itself' },
  ];
}

function roundsLead({ inspection, series }: InspectedSession): string {
  const basis =
    inspection.context.reportedTokens > 0
      ? 'As the provider reported them, estimated in between.'
      : 'Estimated: the file reports no usage.';
  return series.compactions.length === 0 ? basis : `${basis} Marks at the top are compactions.`;
}

function largestTables(inspection: Inspection, { listRows, hasRounds }: Detail): readonly Markup[] {
  const tables = [
    toolTable(inspection.byTool, listRows),
    sizeTable(inspection.largestRounds.slice(0, hasRounds ? listRows : 0), 'Largest rounds', 'round'),
    sizeTable(inspection.largestResults.slice(0, listRows), 'Largest tool results', 'result of'),
    readTable(inspection.repeatedReads.slice(0, listRows)),
  ].filter((piece) => piece !== undefined);
  if (tables.length === 0) return [];
  const columns = tables.map((piece) => html`<div>${piece}</div>`);
  return [html`<div class="pair">${columns}</div>`];
}

function toolTable(tools: readonly ToolUse[], limit: number): Markup | undefined {
  return table(
    tools,
    [
      { heading: 'tool', isRowHeading: true, cell: ({ tool }) => quoted(tool, 40) },
      countColumn('calls', ({ calls }) => calls),
      figureColumn('errors', ({ errors }) => (errors > 0 ? formatCount(errors) : '')),
      countColumn('tokens', ({ tokens }) => tokens),
    ],
    { caption: 'Tools, by tokens of their calls and results', limit, noun: 'tool' },
  );
}

function sizeTable(sizes: readonly NamedSize[], caption: string, heading: string): Markup | undefined {
  return table(
    sizes,
    [
      {
        heading,
        isRowHeading: true,
        cell: ({ name, path }) =>
          path === undefined ? quoted(name, 60) : html`${quoted(name, 30)}<small>${quotedPath(path)}</small>`,
      },
      figureColumn('message', ({ message }) => String(message)),
      countColumn('tokens', ({ tokens }) => tokens),
    ],
    { caption },
  );
}

function readTable(reads: readonly RepeatedRead[]): Markup | undefined {
  return table(
    reads,
    [
      { heading: 'file', isRowHeading: true, cell: ({ path }) => quotedPath(path) },
      countColumn('reads', ({ reads: times }) => times),
      countColumn('tokens in older reads', ({ olderTokens }) => olderTokens),
    ],
    { caption: 'Files read again' },
  );
}

function overview(sessions: readonly InspectedSession[]): Markup {
  const most = Math.max(1, ...sessions.map(({ inspection }) => inspection.context.tokens));
  const rows = table(
    sessions,
    [
      {
        heading: 'conversation',
        isRowHeading: true,
        cell: ({ file, title }, index) =>
          html`<a href="#session-${index}">${quotedPath(file, 36)}</a><small>${quoted(title, 60)}</small>`,
      },
      {
        heading: '',
        isRoomy: true,
        isMeter: true,
        cell: ({ inspection }) => meter(inspection.context.tokens / most),
      },
      countColumn('tokens', ({ inspection }) => inspection.context.tokens),
      figureColumn('window', ({ inspection: { window } }) =>
        window === undefined ? '' : html`<span class="${window.level}">${formatShare(window.share)}</span>`,
      ),
      countColumn('rounds', ({ inspection }) => inspection.rounds),
      {
        ...countColumn<InspectedSession>('compactions', ({ series }) => series.compactions.length),
        isRoomy: true,
      },
    ],
    { caption: 'Every conversation; each name leads to more about it' },
  );
  return section('overview', 'Overview', [rows]);
}
