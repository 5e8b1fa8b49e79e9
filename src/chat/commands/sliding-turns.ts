import { notCompacted, type Strategy } from '../../compaction/plan/strategy.ts';
import { slidingWindow } from '../../compaction/strategies/sliding-window.ts';
import { hasToolCall, type Message } from '../../conversation/message.ts';
import { readOptions } from '../../conversation/options.ts';
import { safeSplitPoint } from '../../conversation/split.ts';

const { name, options } = slidingWindow;

/**
 * The window of somebody who reads along: it begins with a question, so that no answer stays without it. Where one turn is
 * longer than the window there is none; then it begins with a call.
 * @throws RoundfoldError `usage` for settings that a window does not take
 */
export function slidingTurns(settings: Readonly<Record<string, unknown>>): Strategy {
  const { keepLast } = readOptions(options, settings, name);
  return {
    name,
    async compact(conversation, context) {
      const { messages } = conversation;
      const wanted = messages.length - keepLast;
      const start = wanted <= 0 ? wanted : windowStart(messages, wanted);
      if (wanted > 0 && start <= 0) {
        const message = `the last ${keepLast} messages cannot be parted from those before them`;
        return notCompacted('skipped', 'nothing-to-drop', message);
      }
      return slidingWindow({ keepLast: messages.length - start }).compact(conversation, context);
    },
  };
}

/** The latest question at or before `wanted`, else the latest call; 0 when there is neither. */
function windowStart(messages: readonly Message[], wanted: number): number {
  const question = safeSplitPoint(messages, wanted);
  if (question > 0) return question;
  return Math.max(
    0,
    messages.findLastIndex((message, index) => index <= wanted && hasToolCall(message)),
  );
}
