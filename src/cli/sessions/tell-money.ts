import { printable } from '../../conversation/printable.ts';
import type { ToldSession } from '../../report/html/session-article.ts';
import { moneyText } from '../../report/money-text.ts';
import { formatCost } from '../../report/sessions-text.ts';
import { type Report, writeJson } from '../output.ts';

/** Says of each session where its money went. Nothing is said of a session whose files count no tokens. */
export function tellMoney(sessions: readonly ToldSession[], report: Report): void {
  const { terminal } = report;
  for (const { row, details } of sessions) {
    if (row.cost.responses === 0 || details === undefined) continue;
    const { money } = details;
    const { file, agent, id } = row;
    if (report.json) {
      writeJson(report, 'money', { file, agent, id, ...money });
      continue;
    }
    const name = printable(file, Number.POSITIVE_INFINITY);
    terminal.out(`\n${terminal.style('bold', name)}: ${formatCost(money.cost)} at list prices\n`);
    terminal.out(
      moneyText(money, { columns: terminal.columns, heading: (text) => terminal.style('bold', text) }),
    );
  }
}
