import { tokenWarningState } from '../core/budget.ts';
import { drawBar, formatCount } from '../report/terminal.ts';
import type { Chat } from './chat.ts';
import type { ChatStyle } from './host.ts';

const STYLES: Readonly<Record<ReturnType<typeof tokenWarningState>, ChatStyle>> = {
  ok: 'dim',
  warning: 'yellow',
  critical: 'red',
};

const BAR_WIDTH = 10;
const NARROW = 70;

/** One line: how full the window is, and when the next compaction is due. */
export function gaugeText(chat: Chat): string {
  const { host, compactor } = chat;
  const { windowTokens, triggerTokens } = compactor.thresholds;
  const { tokens } = chat.tokens();
  if (windowTokens <= 0) return host.style('dim', `context ${formatCount(tokens)} tokens, no limit`);
  const level = tokenWarningState(tokens, windowTokens);
  const bar = host.columns() < NARROW ? '' : `${drawBar(tokens / windowTokens, BAR_WIDTH, host.isPlain)} `;
  const share = Math.round((tokens / windowTokens) * 100);
  const words = `${bar}context ${formatCount(tokens)} of ${formatCount(windowTokens)} (${share} %) · ${level}`;
  return host.style(STYLES[level], `${words} · compacts at ${formatCount(triggerTokens)}`);
}
