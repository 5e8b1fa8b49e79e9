import { memory } from '../memory/summarizer.ts';
import type { Summarizer } from '../memory/summary-request.ts';

/** Writes the summaries where nobody asks for another one. Needs no model. */
export const defaultSummarizer: Summarizer = memory;
