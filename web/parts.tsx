import type { ComponentChildren } from 'preact';
import { formatShort } from '../src/report/terminal.ts';
import type { Row } from './state.ts';

/** `$12.30`, `$0.4200`, `$0.000031`; a minus in front where it is one. Below a dollar all have four digits, to be compared. */
export function usd(amount: number): string {
  const size = Math.abs(amount);
  const digits = size >= 1 || size === 0 ? 2 : size >= 0.0001 ? 4 : 6;
  return `${amount < 0 ? '−' : ''}$${size.toFixed(digits)}`;
}

export function tokens(count: number | undefined): string {
  return count === undefined ? '–' : formatShort(count);
}

export function share(value: number | undefined): string {
  return value === undefined ? '–' : `${Math.round(value * 100)} %`;
}

export function clock(at: number): string {
  return new Date(at).toLocaleTimeString('en-GB');
}

/** Money that was saved, or lost: in red and with a word, since colour alone tells not everybody. */
export function Saving({
  direct,
  sent,
  isQuiet = false,
}: {
  direct: number;
  sent: number;
  isQuiet?: boolean;
}) {
  const saved = direct - sent;
  if (isQuiet && saved === 0) return <span class="quiet">–</span>;
  if (saved >= 0) return <span>{usd(saved)}</span>;
  return (
    <span class="loss">
      <span class="sr">lost </span>
      {usd(saved)}
    </span>
  );
}

export function Stat({
  name,
  children,
  note,
  isLoss,
}: {
  name: string;
  children: ComponentChildren;
  note?: ComponentChildren;
  isLoss?: boolean;
}) {
  return (
    <div class="stat">
      <dt>{name}</dt>
      <dd class={isLoss === true ? 'loss' : ''}>{children}</dd>
      <dd class="note">{note ?? '\u00a0'}</dd>
    </div>
  );
}

/** How full the window is, with a mark where a fold is due. */
export function Gauge({
  row,
}: {
  row: Pick<Row, 'tokensSent' | 'tokensReceived' | 'windowTokens' | 'triggerTokens'>;
}) {
  const { tokensSent = 0, tokensReceived = 0, windowTokens, triggerTokens } = row;
  if (windowTokens === undefined)
    return <div class="gauge unknown" role="img" aria-label="window not known" />;
  const part = (count: number) => `${Math.min(100, (count / windowTokens) * 100)}%`;
  const isDue = triggerTokens !== undefined && tokensSent >= triggerTokens;
  const label = `${tokens(tokensSent)} of ${tokens(windowTokens)} tokens sent, ${tokens(tokensReceived)} received`;
  return (
    <div class="gauge" role="img" aria-label={label} title={label}>
      <i class="received" style={{ width: part(tokensReceived) }} />
      <i class={isDue ? 'sent due' : 'sent'} style={{ width: part(tokensSent) }} />
      {triggerTokens !== undefined && <i class="trigger" style={{ left: part(triggerTokens) }} />}
    </div>
  );
}

/** Words for the next fold, with as many characters as others. */
export function nextFold({ nextFold: turns, status, wishes }: Row): string {
  if (wishes.foldedUpTo !== undefined) return 'undone';
  if (status === 'passed') return 'never';
  if (turns === undefined) return 'not in sight';
  return turns === 0 ? 'now' : turns === 1 ? '1 turn' : `${turns} turns`;
}

export function Status({ row }: { row: Row }) {
  const isHeld = row.wishes.foldedUpTo !== undefined;
  const held = isHeld ? 'a fold is undone for as long as it fits' : undefined;
  const words = [wordsFor(row), held, row.trouble].filter((each) => each !== undefined).join('; ');
  return (
    <span class={`status ${isHeld ? 'held' : row.status}`} title={words}>
      <i aria-hidden="true" />
      {words}
    </span>
  );
}

function wordsFor({ status, explanation, tokensReceived, tokensSent }: Row): string {
  return status === 'folded'
    ? `folded: ${tokens(tokensReceived)} came, ${tokens(tokensSent)} sent`
    : explanation;
}
