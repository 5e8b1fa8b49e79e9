import { type Covered, readCovered } from '../core/covered.ts';
import type { Edit } from '../core/edit.ts';
import { findFloor } from '../core/floor.ts';
import { integer } from '../core/options.ts';
import { spansOf } from '../core/pins.ts';
import { requestTokens } from '../core/receipt.ts';
import { defineStrategy, finish, notCompacted } from '../core/strategy.ts';
import { summaryMessageText } from '../core/summary-message.ts';
import { topUp } from '../core/survival.ts';
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
      const spans = spansOf(messages, context.pins);
      const leaving = spans.filter(({ end, isPinned }) => end <= cut && !isPinned);
      const covered = readCovered(messages, leaving);
      const count = leaving.reduce((sum, { start, end }) => sum + end - start, 0);
      const list = listOf(covered, count);
      const countText = (text: string) => context.estimator.countText(text);
      const floor = findFloor(conversation, context.estimator, { spans, cut }).tokens;
      const left = context.targetTokens - floor - countText(summaryMessageText(list)) - MARGIN_TOKENS;
      const maximumTokens = countText(list) + Math.max(0, Math.min(MOST_FOR_FACTS, left));
      const { text, survival } = topUp(list, covered, { maximumTokens, countText });
      const handle = context.handleFor?.(leaving.flatMap(({ start, end }) => messages.slice(start, end)));
      const edits = leaving.map(
        ({ start, end }, index): Edit =>
          index === 0
            ? { type: 'summarize', start, end, text: summaryMessageText(text, undefined, handle) }
            : { type: 'drop', start, end, isSummarised: true },
      );
      return finish(conversation, covered.messages.length > 0 ? edits : [], context, {
        strategy: 'collapse',
        reason: `collapsed ${count} messages`,
        survival,
      });
    },
  }),
});

const LISTED_TOOLS = 20;

/** Tokens behind the list that facts share in, if the target leaves them. What the user demands stays whatever it takes. */
const MOST_FOR_FACTS = 1000;
/** What a provider wraps a message in, and what parts have more than they have by themselves. */
const MARGIN_TOKENS = 8;

function listOf({ messages, previousSummary }: Covered, count: number): string {
  const calls = new Map<string, number>();
  for (const block of messages.flatMap(({ blocks }) => blocks)) {
    if (block.type === 'tool-call') calls.set(block.name, (calls.get(block.name) ?? 0) + 1);
  }
  const tools = [...calls].toSorted((left, right) => right[1] - left[1]).slice(0, LISTED_TOOLS);
  const done = tools.map(([name, times]) => `${name} ×${times}`).join(', ');
  const what = done === '' ? '' : ` Tools that were called: ${done}.`;
  const list = `${count} earlier messages were removed because the context was full.${what}`;
  return previousSummary === undefined ? list : `${previousSummary}\n\n${list}`;
}
