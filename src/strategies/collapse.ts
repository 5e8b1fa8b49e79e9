import type { Edit } from '../core/edit.ts';
import type { Message } from '../core/message.ts';
import { integer } from '../core/options.ts';
import { spansOf } from '../core/pins.ts';
import { requestTokens } from '../core/receipt.ts';
import { defineStrategy, finish, notCompacted } from '../core/strategy.ts';
import { readSummaryMessage, summaryMessageText } from '../core/summary-message.ts';
import { tailStart } from '../core/tail.ts';

/** The emergency: keeps what is pinned and the newest rounds, and a list of what was done. Needs no model. */
export const collapse = defineStrategy({
  name: 'collapse',
  summary: 'in an emergency: keep the pinned messages, the newest rounds and a list of what was done',
  options: {
    keepRounds: integer({ default: 1, min: 1, help: 'newest rounds to keep' }),
  },

  create: ({ keepRounds }) => ({
    name: 'collapse',
    async compact(conversation, context) {
      const { messages } = conversation;
      const whole = requestTokens(conversation, context.estimator);
      if (whole <= context.targetTokens && context.trigger === 'auto')
        return notCompacted('skipped', 'below-target', 'the request is within its target');
      const cut = tailStart(messages, context.estimator, { keepTokens: 0, keepRounds });
      const covered = spansOf(messages, context.pins).filter(({ end, isPinned }) => end <= cut && !isPinned);
      const gone = covered.flatMap(({ start, end }) => messages.slice(start, end));
      const edits = covered.map(
        ({ start, end }, index): Edit =>
          index === 0
            ? { type: 'summarize', start, end, text: summaryMessageText(listOf(gone)) }
            : { type: 'drop', start, end, isSummarised: true },
      );
      const hasNews = gone.some((message) => readSummaryMessage(message) === undefined);
      return finish(conversation, hasNews ? edits : [], context, {
        strategy: 'collapse',
        reason: `collapsed ${gone.length} messages`,
      });
    },
  }),
});

const LISTED_TOOLS = 20;

function listOf(messages: readonly Message[]): string {
  const calls = new Map<string, number>();
  for (const block of messages.flatMap(({ blocks }) => blocks)) {
    if (block.type === 'tool-call') calls.set(block.name, (calls.get(block.name) ?? 0) + 1);
  }
  const tools = [...calls].toSorted((left, right) => right[1] - left[1]).slice(0, LISTED_TOOLS);
  const done = tools.map(([name, count]) => `${name} ×${count}`).join(', ');
  const what = done === '' ? '' : ` Tools that were called: ${done}.`;
  const earlier = messages.flatMap((message) => readSummaryMessage(message) ?? []);
  const list = `${messages.length} earlier messages were removed because the context was full.${what}`;
  return [...earlier, list].join('\n\n');
}
