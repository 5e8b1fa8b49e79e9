import { integer } from '../../conversation/options.ts';
import { DROPPED_TEXT } from '../../conversation/summary-message.ts';
import { requestTokens } from '../../tokens/measure.ts';
import { findFloor } from '../plan/layout.ts';
import { defineStrategy, finish, judgeTarget, notCompacted } from '../plan/strategy.ts';
import { tailStart } from '../plan/tail.ts';
import { coverageOf, sourceAt, spansWithin, summaryEdits, writeSummaryOf } from './summary.ts';

/** The emergency: keeps what is pinned, the newest rounds, and a short memory of the rest. Needs no model. */
export const collapse = defineStrategy({
  name: 'collapse',
  summary: 'in an emergency: keep the pinned messages, the newest rounds and a short memory of the rest',
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
      const { leaving, covered, handle, request } = coverageOf(conversation, context, layout);
      const floor = findFloor(conversation, estimator, layout);
      const left = targetTokens - floor.tokens - WRAPPING_TOKENS;
      const written = await writeSummaryOf(context.ownSummarizer, covered, {
        ...request,
        instructions: undefined,
        maximumTokens: Math.floor(Math.max(SMALLEST_NOTE_TOKENS, Math.min(MOST_NOTE_TOKENS, left))),
      });
      const { text, survival } =
        written.status === 'summarized' ? written : { text: DROPPED_TEXT, survival: undefined };
      const edits = covered.messages.length > 0 ? summaryEdits(messages, layout, { text, handle }) : [];
      const outcome = finish(conversation, edits, context, {
        strategy: 'collapse',
        reason: `collapsed ${leaving.length} messages`,
        survival,
      });
      return judgeTarget(outcome, targetTokens, floor.heaviest);
    },
  }),
});

/** What the past may be told in. What the user demands stays whatever it takes. */
const MOST_NOTE_TOKENS = 1000;
const SMALLEST_NOTE_TOKENS = 80;
/** What stands around the text in its message. */
const WRAPPING_TOKENS = 60;
