import { printable } from '../../../conversation/printable.ts';
import { drawTable, formatBytes, formatCount, formatTime } from '../../../report/terminal.ts';
import type { StoredConversation } from '../../../stores/store.ts';
import { type Report, writeJson } from '../../output.ts';
import { idLength } from '../../store.ts';

/** Conversations as a table, or a line of JSON for each. */
export function printConversations(report: Report, conversations: readonly StoredConversation[]): void {
  if (report.json) {
    for (const conversation of conversations) writeJson(report, 'conversation', conversation);
    return;
  }
  const length = idLength(conversations.map(({ conversation }) => conversation));
  const hasTenants = new Set(conversations.map(({ tenant }) => tenant)).size > 1;
  const rows = conversations.map((one) => [
    printable(one.conversation.slice(0, length)),
    ...(hasTenants ? [printable(one.tenant, 30)] : []),
    formatCount(one.checkpoints),
    formatCount(one.spans),
    formatBytes(one.bytes),
    formatTime(one.usedAt),
  ]);
  const columns = [
    { title: 'conversation', align: 'left' },
    ...(hasTenants ? [{ title: 'tenant', align: 'left' } as const] : []),
    { title: 'checkpoints', align: 'right' },
    { title: 'spans', align: 'right' },
    { title: 'size', align: 'right' },
    { title: 'last used (UTC)', align: 'left' },
  ] as const;
  const titles = columns.map(({ title }) => title);
  report.terminal.out(drawTable([titles, ...rows], columns, ''));
}
