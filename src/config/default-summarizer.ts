import type { Summarizer } from '../core/summarizer.ts';
import { memory } from '../memory/summarizer.ts';

/** Writes the summaries where nobody asks for another one. Needs no model. */
export const defaultSummarizer: Summarizer = memory;
