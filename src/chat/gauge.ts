/** The line that shows how full the context window is. */

import { drawBar, formatCount, formatShort } from '../report/terminal.ts';
import { tokenWarningState } from '../tokens/thresholds.ts';
import type { Chat, ChatStyle } from './chat.ts';

const STYLES: Readonly<Record<ReturnType<typeof tokenWarningState>, ChatStyle>> = {
  ok: 'dim',
  warning: 'yellow',
  critical: 'red',
};

const BAR_WIDTH = 10;

/** One line: how full the window is, and when the next compaction is due. A narrow screen gets less of it. */
export function gaugeText(chat: Chat): string {
  const { host, compactor } = chat;
  const { windowTokens, triggerTokens } = compactor.thresholds;
  const { tokens } = chat.tokens();
  if (windowTokens <= 0) return host.style('dim', `context ${formatCount(tokens)} tokens, no limit`);
  const level = tokenWarningState(tokens, windowTokens);
  const share = `(${Math.round((tokens / windowTokens) * 100)} %)`;
  const whole = `context ${formatCount(tokens)} of ${formatCount(windowTokens)} ${share} · ${level} · compacts at ${formatCount(triggerTokens)}`;
  const short = `${formatShort(tokens)} of ${formatShort(windowTokens)} ${share}`;
  const forms = [
    `${drawBar(tokens / windowTokens, BAR_WIDTH, host.isPlain)} ${whole}`,
    whole,
    `context ${short} · ${level}`,
    short,
  ];
  const columns = host.columns();
  return host.style(STYLES[level], forms.find(({ length }) => length < columns) ?? short);
}
