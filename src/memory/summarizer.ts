import { readProse } from './prose.ts';
import { askSummarizer, type Summarizer, type SummaryRequest } from './summary-request.ts';

/**
 * The summarizer that needs no model: a memory of what the user said, what happened and how things stand, in the
 * conversation's own sentences and lines. The same messages always give the same memory, within its room, in time linear in
 * their length; an earlier memory goes on in the next. Instructions do nothing here: there is nobody to follow them.
 *
 * It is loaded with the first summary: most programs that could need one never do.
 */
export const memory: Summarizer = {
  name: 'memory',
  asksModel: false,
  writesMemory: true,
  async summarize(request) {
    const { remember } = await import('./remember.ts');
    return remember(request);
  },
};

/** Models write no longer texts well, and are paid by the word: so many tokens, or this share of the room. */
const MOST_PROSE_TOKENS = 8000;
const PROSE_SHARE = 0.5;
const SMALLEST_PROSE_TOKENS = 64;
/** Tokens of our own memory that a model is shown as facts. */
const FACT_TOKENS = 2000;

/**
 * Makes a summarizer that writes prose write whole memories: its prose takes the place of our own story, and what the user
 * said, how things stand and the files are always ours. The very same where it writes memories already.
 */
export function memoryWriter(inner: Summarizer): Summarizer {
  if (inner.writesMemory === true) return inner;
  return {
    name: inner.name,
    asksModel: inner.asksModel,
    model: inner.model,
    writesMemory: true,
    async summarize(request) {
      // Loaded with the first summary: most programs that could need one never do.
      const { remember } = await import('./remember.ts');
      const { messages, shown = messages, maximumTokens } = request;
      const facts = inner.asksModel
        ? await remember({ ...request, maximumTokens: Math.min(FACT_TOKENS, maximumTokens) })
        : undefined;
      const prose = await askSummarizer(
        inner,
        proseRequest(request, facts?.status === 'summarized' ? facts.text : undefined),
      );
      if (prose.status === 'failed') return prose;
      const isShown = new Set(shown);
      const unread = messages.filter((message) => !isShown.has(message));
      const whole = await remember(request, { ...readProse(prose.text), unread });
      return { ...whole, usage: prose.usage };
    },
  };
}

/** What prose may have in a memory with so much room. */
export function proseTokensIn(room: number): number {
  return Math.floor(Math.max(SMALLEST_PROSE_TOKENS, Math.min(MOST_PROSE_TOKENS, room * PROSE_SHARE)));
}

function proseRequest(request: SummaryRequest, facts: string | undefined): SummaryRequest {
  const { messages, shown = messages, maximumTokens, proseTokens = proseTokensIn(maximumTokens) } = request;
  return { ...request, messages: shown, facts, maximumTokens: proseTokens };
}
