import { sumMoney } from '../session-money.ts';
import type { SessionRow } from '../session-row.ts';
import {
  formatContext,
  formatCost,
  formatDollars,
  type SessionTotals,
  verdictLine,
} from '../sessions-text.ts';
import { countOf, formatCount, formatShort, formatTime } from '../terminal.ts';
import { axisTo, percent, place, plot } from './charts.ts';
import { html, type Markup, quoted, quotedPath } from './markup.ts';
import { moneyTables, spenderTable } from './money-section.ts';
import { type Deflate, packPages } from './packed-pages.ts';
import { folded, renderPage, section, statistics } from './page.ts';
import { sessionArticle, type ToldSession } from './session-article.ts';
import { sessionsScript, sessionsScriptHash } from './sessions-script.ts';

/**
 * A page with every session: what was spent on which day and for what, a table to sort, filter and search, and behind each row
 * the page of that session.
 */
export function renderSessionsPage(
  sessions: readonly ToldSession[],
  totals: SessionTotals,
  deflate: Deflate,
): string {
  const { cost, broken, unreadable } = totals;
  const rows = sessions.map(({ row }) => row);
  return renderPage({
    title: 'Sessions',
    kind: 'sessions',
    heading: html`${countOf(rows.length, 'session')}`,
    lead: html`${totals.agents.map(({ agent, sessions: count, dollars }, index) => html`${index === 0 ? '' : ' · '}<span class="nowrap">${agent}: ${formatCount(count)}, ${formatDollars(dollars)}</span>`)}`,
    body: [
      html`<article id="session" aria-labelledby="session-name" hidden></article>`,
      html`<div id="all">
        ${statistics([
          { name: 'cost at list prices', value: formatCost(cost), detail: unpricedWords(cost.unpriced) },
          { name: 'input', value: formatShort(cost.inputTokens), detail: 'tokens outside the cache' },
          { name: 'read from a cache', value: formatShort(cost.cacheReadTokens), detail: 'tokens' },
          { name: 'written to a cache', value: formatShort(cost.cacheWriteTokens), detail: 'tokens' },
          { name: 'output', value: formatShort(cost.outputTokens), detail: 'tokens' },
          {
            name: 'broken',
            value: formatCount(broken),
            detail: verdictLine(totals),
            level: broken + unreadable > 0 ? 'warning' : 'ok',
          },
        ])}
        ${costSection(sessions)}
        ${moneySection(sessions)}
        ${section('sessions', 'Sessions', [tools(rows), list(sessions)])}
        </div>`,
      packPages(
        sessions.map(({ row, details }) =>
          details === undefined ? undefined : sessionArticle(row, details),
        ),
        deflate,
      ),
    ],
    script: { text: sessionsScript, hash: sessionsScriptHash },
  });
}

function unpricedWords(unpriced: number): string | undefined {
  return unpriced === 0 ? undefined : `${countOf(unpriced, 'response')} without a known price`;
}

const DAY_MS = 86_400_000;

/** More days than this are shown by the newest. */
const SHOWN_DAYS = 120;

/** What was spent on which day. A session that was not looked into counts on the day of its last use. */
function costSection(sessions: readonly ToldSession[]): readonly Markup[] {
  const byDay = new Map<number, number>();
  for (const { row, details } of sessions) {
    const days = details?.days ?? [[row.usedAt ?? '', row.cost.dollars] as const];
    for (const [time, dollars] of days) {
      const day = Math.floor(Date.parse(time) / DAY_MS);
      if (!Number.isNaN(day)) byDay.set(day, (byDay.get(day) ?? 0) + dollars);
    }
  }
  const last = Math.max(...byDay.keys());
  const first = Math.max(Math.min(...byDay.keys()), last - SHOWN_DAYS + 1);
  const days = last - first + 1;
  if (byDay.size === 0 || [...byDay.values()].every((dollars) => dollars === 0)) return [];
  const x = axisTo(days, {
    label: 'day',
    isExact: true,
    format: (value) => dayName(first + Math.floor(value)),
  });
  const shown = [...byDay].filter(([day]) => day >= first);
  const before = [...byDay].reduce((sum, [day, dollars]) => sum + (day < first ? dollars : 0), 0);
  const y = axisTo(Math.max(...shown.map(([, dollars]) => dollars)), {
    label: 'cost',
    format: formatDollars,
  });
  const marks = shown.map(([day, dollars]) => {
    const height = place(dollars, y);
    return html`<rect x="${percent((day - first + 0.1) / days)}" y="${percent(1 - height)}" width="${percent(0.8 / days)}" height="${percent(height)}" class="s0 filled"><title>${dayName(day)}: ${formatDollars(dollars)}</title></rect>`;
  });
  const earlier = before === 0 ? '' : ` Before ${dayName(first)} it was ${formatDollars(before)}.`;
  const description = `Cost of the sessions by day, ${dayName(first)} to ${dayName(last)}`;
  return [
    section('cost', 'Cost by day', [
      html`<p>Each response counts on its day, at the list prices of that day.${earlier}</p>`,
      html`<figure>${plot({ description, heightPixels: 180, x, y, marks })}</figure>`,
    ]),
  ];
}

/** How many of the dearest sessions are named. */
const SPENDERS = 5;

/** Where the money of all sessions went. */
function moneySection(sessions: readonly ToldSession[]): readonly Markup[] {
  const money = sumMoney(sessions.flatMap(({ details }) => (details === undefined ? [] : [details.money])));
  if (money.cost.dollars === 0) return [];
  const spenders = sessions
    .map((session, index) => ({ session, index, dollars: session.row.cost.dollars }))
    .filter(({ dollars }) => dollars > 0)
    .toSorted((left, right) => right.dollars - left.dollars)
    .slice(0, SPENDERS);
  const name = ({ session, index }: (typeof spenders)[number]): Markup =>
    html`${sessionLink(session, index, 60)}<small>${session.row.agent}, ${timeText(session.row.usedAt)}</small>`;
  return [
    section('money', 'Where the money went', [
      spenderTable(spenders, name, money.cost.dollars),
      folded('By model, by what it was spent on, and what caches missed', moneyTables(money)),
    ]),
  ];
}

/** The prompt of a session, leading to its page. */
function sessionLink({ row, details }: ToldSession, index: number, length: number): Markup {
  const words = quoted(row.prompt === '' ? 'no prompt' : row.prompt, length);
  return details === undefined ? words : html`<a href="#s${index}">${words}</a>`;
}

function dayName(day: number): string {
  return formatTime(day * DAY_MS).slice(0, 10);
}

/** Shown by the script, without which they would do nothing. */
function tools(rows: readonly SessionRow[]): Markup {
  const agents = [...new Set(rows.map(({ agent }) => agent))].toSorted();
  return html`
    <div id="tools" class="tools" hidden>
    <label>Search <input id="search" type="search" autocomplete="off" placeholder="words of the prompt, project, model"></label>
    <label>Agent <select id="agent"><option value="">all</option>${agents.map((agent) => html`<option>${agent}</option>`)}</select></label>
    <label><input id="broken" type="checkbox"> broken only</label>
    <output id="count" aria-live="polite"></output>
    </div>`;
}

/** Columns to sort by, the values of which stand with each row in this order. */
const SORTABLE = ['Last used', 'Cost', 'Context', 'Rounds', 'Compacted'];

/** So many rows are shown at once, and as many more whenever the end comes into sight. */
const SHOWN_ROWS = 200;

function list(sessions: readonly ToldSession[]): Markup {
  const sortable = SORTABLE.map((name, key) => {
    const looks = key === 0 ? undefined : html` class="n"`;
    return html`<th scope="col"${looks}><button type="button" data-key="${key}">${name}</button></th>`;
  });
  const head = html`<tr>${sortable}<th scope="col" class="prompt">First prompt</th><th scope="col">Agent</th><th scope="col">Project</th></tr>`;
  return html`<div class="scroll" role="region" tabindex="0" aria-label="Sessions"><table id="list" class="list"><thead>${head}</thead><tbody>${sessions.map(line)}</tbody></table></div><p class="note"><button id="more" type="button" data-step="${SHOWN_ROWS}" hidden>Show more</button></p><noscript><p class="note">Without scripts the first ${SHOWN_ROWS} are shown, and none can be opened.</p></noscript>`;
}

function line(session: ToldSession, index: number): Markup {
  const { row } = session;
  const { agent, usedAt, startedAt, rounds, contextTokens, compactions, cost, fault, model } = row;
  const values = [timeOf(usedAt), cost.dollars, contextTokens, rounds, compactions];
  const mark =
    fault === undefined ? undefined : html`<small class="critical">broken: ${quoted(fault, 70)}</small>`;
  const subagents =
    row.subagents === 0 ? undefined : html`<small>${countOf(row.subagents, 'sub-agent')}</small>`;
  return html`
    <tr${index < SHOWN_ROWS ? undefined : html` hidden`} data-agent="${agent}" data-broken="${fault === undefined ? 0 : 1}" data-values="${values.join(' ')}">
    <td class="nowrap">${timeText(usedAt)}<small>since ${timeText(startedAt)}</small></td>
    <td class="n">${formatCost(cost)}</td><td class="n">${formatContext(row)}</td>
    <td class="n">${formatCount(rounds)}${subagents}</td>
    <td class="n">${compactions === 0 ? '' : formatCount(compactions)}</td>
    <td>${sessionLink(session, index, 160)}${mark}</td>
    <td>${agent}${model === undefined ? undefined : html`<small>${quoted(model, 40)}</small>`}</td>
    <td>${row.project === undefined ? undefined : quotedPath(row.project, 40)}</td>
    </tr>`;
}

function timeOf(time: string | undefined): number {
  return time === undefined ? 0 : Date.parse(time);
}

function timeText(time: string | undefined): string {
  return time === undefined ? '?' : formatTime(timeOf(time));
}
