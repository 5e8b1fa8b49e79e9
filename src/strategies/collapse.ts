import { type Covered, readCovered } from '../core/covered.ts';
import { findFloor } from '../core/floor.ts';
import { layoutEdits } from '../core/layout.ts';
import { MARKER_SOURCE, originalIndex } from '../core/markers.ts';
import { integer } from '../core/options.ts';
import { requestTokens } from '../core/receipt.ts';
import { defineStrategy, finish, judgeTarget, notCompacted } from '../core/strategy.ts';
import { summaryMessageText } from '../core/summary-message.ts';
import { topUp } from '../core/survival.ts';
import { tailStart } from '../core/tail.ts';
import { sourceAt, spansWithin } from './summary-source.ts';

/** The emergency: keeps what is pinned and the newest rounds, and a list of what was done. Needs no model. */
export const collapse = defineStrategy({
  name: 'collapse',
  summary: 'in an emergency: keep the pinned messages, the newest rounds and a list of what was done',
  options: {
    keepRounds: integer({ default: 1, min: 1, help: 'newest rounds to keep, besides the current turn' }),
  },

  create: ({ keepRounds }) => ({
    name: 'collapse',
    async compact(conversation, context) {
      const { messages } = conversation;
      const { estimator, targetTokens } = context;
      const whole = requestTokens(conversation, estimator);
      if (whole <= targetTokens && context.trigger === 'auto')
        return notCompacted('skipped', 'below-target', 'the request is within its target');
      const cut = tailStart(conversation, estimator, {
        keepTokens: 0,
        keepRounds,
        mostTokens: targetTokens / 2,
      });
      const { layout } = sourceAt(conversation, context, { spans: spansWithin(conversation, context), cut });
      const leaving = layout.leaving.flatMap(({ start, end }) => messages.slice(start, end));
      const said = layout.opening.flatMap(({ kind, text }) => (kind === 'said' ? [text] : []));
      const covered = readCovered(messages, layout.leaving, said);
      const list = listOf(covered);
      const countText = (text: string) => estimator.countText(text);
      const floor = findFloor(conversation, estimator, layout);
      const left = targetTokens - floor.tokens - countText(summaryMessageText(list)) - MARGIN_TOKENS;
      const maximumTokens = countText(list) + Math.max(0, Math.min(MOST_FOR_FACTS, left));
      const { text, survival } = topUp(list, covered, { maximumTokens, countText });
      const behind = layout.kept.filter((index) => index >= layout.place).length;
      const marker = { coveredUntil: originalIndex(messages, cut) - behind, source: MARKER_SOURCE };
      const summary = summaryMessageText(text, marker, context.handleFor?.(leaving));
      const edits = covered.messages.length > 0 ? layoutEdits(layout, summary, { isSummary: true }) : [];
      const outcome = finish(conversation, edits, context, {
        strategy: 'collapse',
        reason: `collapsed ${leaving.length} messages`,
        survival,
      });
      return judgeTarget(outcome, targetTokens, floor.heaviest);
    },
  }),
});

const LISTED_TOOLS = 20;

/** Tokens behind the list that facts share in, if the target leaves them. What the user demands stays whatever it takes. */
const MOST_FOR_FACTS = 1000;
/** What a provider wraps a message in, and what parts have more than they have by themselves. */
const MARGIN_TOKENS = 8;

/** The note of an earlier collapse. It becomes part of the next one, so that there is never more than one. */
const NOTE =
  /^(\d{1,9}) earlier messages were removed because the context was full\.(?: Tools that were called: ([^\n]{1,4000})\.)?$/m;

function listOf({ messages, previousSummary = '' }: Covered): string {
  const calls = new Map<string, number>();
  const count = (name: string, times: number) => calls.set(name, (calls.get(name) ?? 0) + times);
  const [note = '', removed = '0', listed = ''] = NOTE.exec(previousSummary) ?? [];
  for (const [, name = '', times] of listed.matchAll(/([^,]{1,200}) ×(\d{1,9})(?:, |$)/g))
    count(name, Number(times));
  for (const block of messages.flatMap(({ blocks }) => blocks))
    if (block.type === 'tool-call') count(block.name, 1);
  const tools = [...calls].toSorted((left, right) => right[1] - left[1]).slice(0, LISTED_TOOLS);
  const done = tools.map(([name, times]) => `${name} ×${times}`).join(', ');
  const what = done === '' ? '' : ` Tools that were called: ${done}.`;
  const total = messages.length + Number(removed);
  const list = `${total} earlier messages were removed because the context was full.${what}`;
  const earlier = previousSummary.replace(note, '').trim();
  return earlier === '' ? list : `${earlier}\n\n${list}`;
}
